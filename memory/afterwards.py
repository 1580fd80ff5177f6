"""What a turn leaves for memory to do at once, off the hot path: what somebody asked to have remembered is, and what
must not wait for the end of the talk is read early; and what recall needs for the next turn is held ready."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from chat.models import Message, Session, Turn
from echovessel.prepared import Query
from memory import knobs, signals
from memory.consolidation import early
from memory.entities.clarifying import note_hint
from memory.recall import prepare
from memory.remembering import remember_what_was_asked

_turn: Query[Turn] = Query(lambda turn: Turn.objects.filter(pk=turn).select_related("session"))
_lines: Query[Message] = Query(
    lambda turn: (
        Message.objects.filter(turn=turn, role=Message.Role.USER, withheld=False)
        .select_related("session", "persona__owner")
        .order_by("created_at", "id")
    )
)


def after_turn(turn_pk: int, now: datetime) -> None:
    """See to the lines of a turn that has ended, however it did. Doing it twice does nothing more.

    No transaction may be open. Raises EmbeddingUnavailable; the early reading is asked for all the same.
    """
    for turn in _turn(turn_pk):
        note_hint(turn, now)
        if not turn.session.off_the_record:
            _see_to(turn.session, _lines(turn_pk), now)
        prepare(turn.persona_id)


def _see_to(session: Session, lines: Sequence[Message], now: datetime) -> None:
    try:
        remember_what_was_asked(lines, now)
    finally:
        _ask_for_early_reading(session, lines, now)


def _ask_for_early_reading(session: Session, lines: Sequence[Message], now: datetime) -> None:
    """Where a line calls for it, the knob allows it, and the last such reading was not just now."""
    if not knobs.early_reading() or not any(signals.scan(line.content) for line in lines):
        return
    lately = now - timedelta(minutes=knobs.early_reading_minutes())
    if not session.extractions.filter(created_at__gt=lately).exists():
        early.ask(session, now)
