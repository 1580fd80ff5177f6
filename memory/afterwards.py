"""What a turn leaves for memory to do at once, off the hot path: what somebody asked to have remembered is, for what
they asked to have forgotten a preview is offered, and what must not wait for the end of the talk is read early; and
what recall needs for the next turn is held ready."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction

from chat.models import Message, Session, Turn
from echovessel.db.compiled_queries import Query
from echovessel.language.requests import RequestKind, read_requests
from echovessel.outbox import events
from echovessel.outbox.models import OutboxEvent
from memory import knobs
from memory.consolidation import requests
from memory.curation.remember import remember_requested
from memory.curation.strong_emotion import has_strong_emotion
from memory.entities.clarify import note_hint
from memory.models import ConceptNode
from memory.recall import prepare
from memory.recall.passages import is_question

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
        if not turn.session.off_the_record:
            _offer_to_forget(turn, _lines(turn_pk))
            lines = _lines(turn_pk)
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


def _offer_to_forget(turn: Turn, lines: Sequence[Message]) -> None:
    """Where a line asks that something be forgotten, tell the page what is meant, once: the line before, or the line
    itself; where what was said before only asks, or nothing was, what the last reply recalled."""
    asked = ((line, one) for line in reversed(lines) for one in read_requests(line.content))
    line, request = next(((line, one) for line, one in asked if one.kind is RequestKind.FORGET_THIS), (None, None))
    if line is None or request is None:
        return
    told = _told_before(line) if request.points_back else line
    nodes = [] if told else _recalled_before(turn, line)
    if told or nodes:
        _ask_whether(turn, [told.uuid] if told else [], nodes)


def _told_before(line: Message) -> Message | None:
    """What the user said last before it in the same talk, if that tells something."""
    theirs = Message.objects.filter(session=line.session_id, role=Message.Role.USER, withheld=False).before(line)
    last = theirs.order_by("-created_at", "-id").first()
    return last if last and not is_question(last.content) else None


def _recalled_before(turn: Turn, line: Message) -> list[UUID]:
    """The memories that came to mind for the last reply before it, as far as they still may."""
    earlier = Message.objects.filter(session=line.session_id, role=Message.Role.PERSONA).before(line)
    last = earlier.exclude(turn=None).select_related("turn").order_by("-created_at", "-id").first()
    seen = (last.turn.xray if last and last.turn else {}).get("recollections") or {}
    chosen = [item["id"] for item in seen.get("chosen", []) if item["layer"] != "L2"]
    found = ConceptNode.objects.filter(persona=turn.persona_id, uuid__in=chosen).recallable()
    return list(found.order_by("id").values_list("uuid", flat=True))


def _ask_whether(turn: Turn, messages: Sequence[UUID], nodes: Sequence[UUID]) -> None:
    stream, turn_id = turn.persona.uuid, str(turn.uuid)
    with transaction.atomic():
        if OutboxEvent.objects.filter(stream=stream, name="memory.forget.asked", data__turn_id=turn_id).exists():
            return
        events.publish(
            stream,
            "memory.forget.asked",
            turn_id=turn_id,
            message_ids=[str(one) for one in messages],
            node_ids=[str(one) for one in nodes],
        )
