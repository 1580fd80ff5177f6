"""The life of a turn in the database: claimed by one server, renewed while it runs, finished exactly once.

Each step is one short transaction; the runner does the work between them (running the model).
"""

import logging
from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone, translation
from django.utils.translation import gettext_lazy as _

from chat import knobs
from chat.messages import add_message, is_long
from chat.models import Message, Session, Turn
from chat.rendering.markdown import as_html
from chat.sessions import close
from chat.turns import versions
from echovessel.db.compiled_queries import Query, Update, insert
from echovessel.jobs import lease
from echovessel.outbox import events
from persona.models import Persona

logger = logging.getLogger(__name__)

_oldest_waiting: Query[Turn] = Query(
    lambda persona: (
        Turn.objects.collecting()
        .filter(persona=persona)
        .select_related("persona__owner", "session", "original")
        .order_by("id")[:1]
    )
)
_mark_running = Update(
    lambda turn, at, holder, until: (
        Turn.objects.collecting().filter(pk=turn),
        {
            "status": Turn.Status.RUNNING,
            "started_at": at,
            "holder": holder,
            "lease_until": until,
            "error": "",
            "partial": "",
        },
    )
)
_mark_finished = Update(
    lambda turn, holder, status, at, first_token_at, is_cut, xray: (
        Turn.objects.running().filter(pk=turn, holder=holder),
        {
            "status": status,
            "finished_at": at,
            "first_token_at": first_token_at,
            "is_cut": is_cut,
            "partial": "",
            "xray": xray,
        },
    )
)
_session: Query[Session] = Query(lambda session: Session.objects.filter(pk=session).select_related("persona"))

WORDS = {
    "provider_unavailable": _(
        "The model does not answer right now. Your messages are safe; try again in a moment. If it goes on, test it "
        "under “Account”."
    ),
    "rate_limited": _("The model is busy right now. Your messages are safe; try again in a moment."),
    "timeout": _("The model took too long to answer. Your messages are safe; you can try again."),
    "content_refused": _("The model declined to answer this. Your messages are safe."),
    "budget_exhausted": _("Today's budget for the model is used up. Your messages are safe; you can go on tomorrow."),
    "only_reasoning": _(
        "The model stopped thinking before it had answered. Your messages are safe; you can try again."
    ),
    "internal": _("Something went wrong while the reply was being written. Your messages are safe; you can try again."),
}


def claim(persona_id: int, now: datetime) -> Turn | None:
    """Claim the persona's oldest waiting turn for this process. None if none waits or one runs elsewhere."""
    for turn in _oldest_waiting(persona_id):
        turn.status, turn.error, turn.partial = Turn.Status.RUNNING, "", ""
        turn.started_at, turn.holder, turn.lease_until = now, lease.current_process(), _lease_from(now)
        try:
            return turn if _mark_running(turn.pk, now, turn.holder, turn.lease_until) else None
        except IntegrityError:  # the constraint: another turn of this persona is running
            return None
    return None


def renew(turn: Turn, partial: str, now: datetime) -> bool:
    """Renew the lease and store the text so far; False if the turn is no longer ours."""
    return bool(_own_turn(turn).update(lease_until=_lease_from(now), partial=partial))


def finish(
    turn: Turn,
    text: str,
    *,
    stopped: bool,
    is_cut: bool = False,
    first_token_at: datetime | None,
    xray: dict[str, Any],
    now: datetime,
) -> bool:
    """Store the reply and publish it; False if the turn is no longer ours and nothing was stored."""
    with transaction.atomic():
        status = Turn.Status.STOPPED if stopped else Turn.Status.DONE
        if not _mark_finished(turn.pk, turn.holder, status, now, first_token_at, is_cut, xray):
            return False
        (session,) = _session(turn.session_id)
        if is_same := versions.repeats_answer(turn, text):
            text = ""
        is_other = turn.original_id is not None  # withheld until the owner chooses it
        reply = add_message(session, Message.Role.PERSONA, text, now, turn=turn, withheld=is_other) if text else None
        publish_reply(turn, session, reply, stopped=stopped, is_cut=is_cut, is_same=is_same)
        release_session(turn, now)
        if is_other and reply is None:
            Turn.objects.filter(pk=turn.pk).delete()
    return True


def fail(turn: Turn, code: str, partial: str, now: datetime) -> bool:
    """Mark the turn as failed and retryable, and publish that. Its messages are kept."""
    with transaction.atomic():
        if not _own_turn(turn).update(status=Turn.Status.FAILED, error=code, finished_at=now, partial=partial):
            return False
        _end_failed(turn, code, partial, now)
    return True


def retry(persona: Persona, turn_uuid: UUID) -> bool:
    """Make a turn wait for its reply again, if it failed or was stopped before its first word. False if it is no such
    turn of this persona."""
    turns = Turn.objects.filter(persona=persona, uuid=turn_uuid, status__in=[Turn.Status.FAILED, Turn.Status.STOPPED])
    unanswered = ~Exists(Message.objects.filter(turn=OuterRef("pk"), role=Message.Role.PERSONA))
    owner_messages = Exists(Message.objects.filter(turn=OuterRef("pk"), role=Message.Role.USER, withheld=False))
    return bool(turns.filter(unanswered, owner_messages).update(status=Turn.Status.COLLECTING, error=""))


def create_other_answer(persona: Persona, turn_uuid: UUID) -> Turn:
    """Create a turn that answers the same messages again. The current answer stays until the owner chooses. Raises
    VersionRefused."""
    with transaction.atomic():
        original = versions.find_answered_turn(persona, turn_uuid)
        turn = Turn(original=original, persona_id=original.persona_id, session=original.session)
        insert(turn)
    return turn


def abandon(now: datetime, alive_keys: Collection[int] = ()) -> int:
    """Mark turns that a dead server left running as failed; returns how many. `sparing` holds the keys of turns that
    the caller knows to be alive. A process of this host that still runs is only late, and gets more time."""
    running = Turn.objects.running().exclude(pk__in=alive_keys).select_related("persona", "session", "original")
    count = 0
    for turn in running:
        patience = timedelta(seconds=knobs.late_lease_seconds() if lease.is_other_running_process(turn.holder) else 0)
        is_lapsed = turn.lease_until is None or turn.lease_until + patience < now
        if not is_lapsed and not lease.is_dead(turn.holder):
            continue
        with transaction.atomic():
            own_turn = Turn.objects.running().filter(pk=turn.pk, holder=turn.holder, lease_until=turn.lease_until)
            if own_turn.update(status=Turn.Status.FAILED, error="internal", finished_at=now):
                logger.warning("turn %s was left running by a server that is gone; it can be retried", turn.pk)
                _end_failed(turn, "internal", turn.partial, now)
                count += 1
    return count


def waiting_personas(before: datetime) -> list[int]:
    """Personas whose messages have waited for a reply since `before` or longer."""
    return list(
        Turn.objects.collecting().filter(created_at__lte=before).values_list("persona_id", flat=True).distinct()
    )


def _in_language(language: str) -> translation.override:
    return translation.override("zh-hans" if language == "zh" else "en")


def words_for(code: str, language: str) -> str:
    """The text that tells the owner about a failure."""
    with _in_language(language):
        return str(WORDS.get(code, WORDS["internal"]))


def _own_turn(turn: Turn) -> Any:
    return Turn.objects.running().filter(pk=turn.pk, holder=turn.holder)


def _lease_from(now: datetime) -> datetime:
    return now + timedelta(seconds=knobs.lease_seconds())


def release_session(turn: Turn, now: datetime) -> None:
    """Continue what waited for this turn: consolidate a closing session or one with an early reading requested; close
    an open one that has grown too long."""
    (session,) = _session(turn.session_id)
    if session.status == Session.Status.OPEN and is_long(session):
        close.close(session, Session.CloseReason.LENGTH, now)
    elif session.status == Session.Status.CLOSING or session.early_consolidation_requested_at:
        close.enqueue_consolidation(session)


def publish_reply(
    turn: Turn, session: Session, reply: Message | None, *, stopped: bool, is_cut: bool = False, is_same: bool = False
) -> None:
    """Publish the reply. `is_cut`: it ended at a limit. `is_same`: another answer was dropped because it repeats an
    earlier one. Call inside the transaction that stores it."""
    with _in_language(turn.persona.language):
        html = as_html(reply.content) if reply else ""
    events.publish(
        turn.persona.uuid,
        "chat.message.done",
        turn_id=str(turn.uuid),
        session_id=str(session.uuid),
        message_id=str(reply.uuid) if reply else None,
        content=reply.content if reply else "",
        html=html,
        created_at=(reply.created_at if reply else timezone.now()).isoformat(),
        stopped=stopped,
        cut=is_cut,
        spoke_first=turn.spoke_first,
        delivery="stored",
        source_channel_id=session.channel,
        off_the_record=session.off_the_record,
        **_as_other_answer(turn),
        **({"same": True} if is_same else {}),
    )


def _end_failed(turn: Turn, code: str, partial: str, now: datetime) -> None:
    """Publish that a turn failed. Another answer that failed is deleted: the first one stays."""
    events.publish(
        turn.persona.uuid,
        "chat.turn.failed",
        turn_id=str(turn.uuid),
        code=code,
        message=words_for(code, turn.persona.language),
        retryable=turn.original_id is None,
        partial=partial,
        **_as_other_answer(turn),
    )
    release_session(turn, now)
    if turn.original_id is not None:
        Turn.objects.filter(pk=turn.pk).delete()


def _as_other_answer(turn: Turn) -> dict[str, str]:
    return {"original_turn_id": str(turn.original.uuid)} if turn.original else {}
