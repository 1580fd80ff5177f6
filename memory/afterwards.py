"""What a turn leaves for memory to do at once, off the hot path: what somebody asked to have remembered is, and what
must not wait for the end of the talk is read early."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db.models import QuerySet

from chat.models import Message, Session, Turn
from memory import knobs, signals
from memory.consolidation import early
from memory.entities.clarifying import note_hint
from memory.remembering import remember_what_was_asked


def after_turn(turn_pk: int, now: datetime) -> None:
    """See to the lines of a turn that has ended, however it did. Doing it twice does nothing more.

    No transaction may be open. Raises EmbeddingUnavailable; the early reading is asked for all the same.
    """
    turn = Turn.objects.select_related("session").filter(pk=turn_pk).first()
    if turn is None:
        return
    note_hint(turn, now)
    if turn.session.off_the_record:
        return
    lines = list(_lines(turn))
    try:
        remember_what_was_asked(lines, now)
    finally:
        _ask_for_early_reading(turn.session, lines, now)


def _lines(turn: Turn) -> QuerySet[Message]:
    said = turn.messages.filter(role=Message.Role.USER, withheld=False)
    return said.select_related("session", "persona__owner").order_by("created_at", "id")


def _ask_for_early_reading(session: Session, lines: Sequence[Message], now: datetime) -> None:
    """Where a line calls for it, the knob allows it, and the last such reading was not just now."""
    lately = session.extractions.filter(created_at__gt=now - timedelta(minutes=knobs.early_reading_minutes()))
    if knobs.early_reading() and any(signals.scan(line.content) for line in lines) and not lately.exists():
        early.ask(session, now)
