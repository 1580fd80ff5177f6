"""What a turn leaves for memory to do at once, off the hot path: what somebody asked to have remembered is, for what
they asked to have forgotten a preview is offered, and what must not wait for the end of the talk is read early; and
what recall needs for the next turn is held ready."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from chat.models import Message, Session, Turn
from echovessel.db.compiled_queries import Query
from echovessel.language.requests import RequestKind, read_requests
from memory import knobs
from memory.consolidation import requests
from memory.curation import questions
from memory.curation.remember import remember_requested
from memory.curation.strong_emotion import has_strong_emotion
from memory.entities.clarify import note_hint
from memory.recall import prepare
from memory.requests.answer import forget_confirmed
from memory.requests.offer import offer

_turn: Query[Turn] = Query(lambda turn: Turn.objects.filter(pk=turn).select_related("session", "persona"))
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
        questions.note_hint(turn, now)
        if not turn.session.off_the_record:
            lines = _lines(turn_pk)
            offer(turn, lines)
            forget_confirmed(turn, now)
            try:
                remember_requested(lines, now)
            finally:
                _ask_for_early_reading(turn.session, lines, now)
        prepare(turn.persona_id)


def _ask_for_early_reading(session: Session, lines: Sequence[Message], now: datetime) -> None:
    """Where a line calls for it, the knob allows it, and the last such reading was not just now."""
    if not knobs.early_reading() or not any(map(_must_not_wait, lines)):
        return
    lately = now - timedelta(minutes=knobs.early_reading_minutes())
    if not session.extractions.filter(created_at__gt=lately).exists():
        requests.request_early_consolidation(session, now)


def _must_not_wait(line: Message) -> bool:
    asks = any(one.kind is RequestKind.REMEMBER and one.sure for one in read_requests(line.content))
    return asks or has_strong_emotion([line.content])
