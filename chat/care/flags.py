"""What stands beside messages: help after a crisis message, and the notice that the persona is an AI.

Help is shown immediately, staff with the permission see a flag, and the persona does not speak first for a while. A
connected model that reads the session later may raise help as well, and never takes any back. Staff may flag messages,
too. Nothing here blocks or drops a message, or changes what is stored of it.

The notice stands at the owner's first message of a session, and again after every few hours of it. Laws on companion
chatbots ask for at least every three hours (New York, General Business Law, article 47; California, SB 243). Its places
follow from the times of the owner's messages alone, so that a reloaded page shows the same.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.contrib.auth.models import AbstractBaseUser
from django.db.models import Max, Min, Q
from django.db.models.expressions import RawSQL

from chat import knobs
from chat.care import help_texts, speaks_of_crisis
from chat.models import CrisisFlag, Message, Session
from chat.models.message import MessageQuerySet
from echovessel.db.compiled_queries import Query
from echovessel.outbox import events
from persona.models import Persona

# A doubtful message is judged together with this many messages of the owner before it.
MESSAGES_BEFORE = 2
_SHOWS_HELP = Q(crisis_flag__by_detector=True) | Q(crisis_flag__by_model=True)


_newest_of_owner: Query[tuple[str]] = Query(
    lambda persona, channel, unrecorded: (
        Message.objects.filter(
            persona=persona,
            role=Message.Role.USER,
            session__channel=channel,
            session__status=Session.Status.OPEN,
            session__off_the_record=unrecorded,
        )
        .order_by("-id")
        .values_list("content")[:MESSAGES_BEFORE]
    )
)
_crisis_keys: Query[tuple[int]] = Query(
    lambda keys: Message.objects.filter(
        _SHOWS_HELP, pk__in=RawSQL("SELECT value FROM json_each(%s)", [keys])
    ).values_list("pk")
)


def is_crisis_message(persona: Persona, content: str, channel: str, *, unrecorded: bool = False) -> bool:
    """Whether a message that is about to be stored speaks of a crisis. Takes a query unless that is sure, and up to 10
    ms: call it before the transaction that stores the message."""

    def messages_before() -> list[str]:
        return [text for (text,) in _newest_of_owner(persona.pk, channel, unrecorded)][::-1]

    return speaks_of_crisis(content, messages_before)


def handle_crisis_message(message: Message, now: datetime) -> tuple[str, ...]:
    """Handle a crisis message of the owner that has just been stored, and return the help to show beside it. Call
    inside the transaction that stores it."""
    CrisisFlag.objects.create(message=message, by_detector=True, raised_at=now)
    _hold_back(message.persona, now + timedelta(hours=knobs.care_hold_hours()))
    return help_of_message(message)


def raise_help_by_model(messages: Sequence[Message], now: datetime) -> None:
    """Show help beside messages of the owner that the connected model took for cries, on open pages as well. Messages
    that have help already are not changed. Call inside a transaction."""
    for message in messages:
        flag, is_new = CrisisFlag.objects.get_or_create(message=message, defaults={"by_model": True, "raised_at": now})
        if not is_new:
            if flag.shows_help:
                continue
            flag.by_model = True
            flag.save(update_fields=["by_model"])
        message.crisis_flag = flag
        if (until := message.created_at + timedelta(hours=knobs.care_hold_hours())) > now:
            _hold_back(message.persona, until)
        events.publish(
            message.persona.uuid,
            "chat.message.care",
            message_id=str(message.uuid),
            session_id=str(message.session.uuid),
            care={"texts": list(help_of_message(message))},
        )


def help_of_message(message: Message) -> tuple[str, ...]:
    """The help beside a message; none if only a person flagged it."""
    flag: CrisisFlag | None = getattr(message, "crisis_flag", None)
    if flag is None or not flag.shows_help:
        return ()
    return help_texts.help_for_message(message.persona.language, message.content, message.persona.timezone)


def recent_crisis_messages(persona: Persona, now: datetime, session_id: int | None) -> list[Message]:
    """The crisis messages of the time in which the persona holds back, as far as they exist and may reach a model in
    this session. No query while the persona does not hold back."""
    if persona.care_until is None or persona.care_until <= now:
        return []
    since = now - timedelta(hours=knobs.care_hold_hours())
    recent_messages = Message.objects.filter(persona=persona, created_at__gt=since).shown_to_models()
    crisis_messages = recent_messages.filter(_SHOWS_HELP)
    return list(crisis_messages.filter(Q(session__off_the_record=False) | Q(session=session_id)))


def crisis_messages_of(messages: Sequence[Message]) -> list[Message]:
    """The crisis messages among `messages`."""
    keys = crisis_message_keys([message.pk for message in messages])
    return [message for message in messages if message.pk in keys]


def crisis_message_keys(keys: Sequence[int]) -> set[int]:
    """Keys of the crisis messages among these keys."""
    return {key for (key,) in _crisis_keys(json.dumps(list(keys)))}


def clear_expired_care(now: datetime) -> int:
    """Clear holds that are over; returns how many."""
    return Persona.objects.filter(care_until__lte=now).update(care_until=None)


def raise_flag(message: Message, by: AbstractBaseUser, now: datetime) -> bool:
    """Flag a message; False if it was flagged before."""
    _flag, is_new = CrisisFlag.objects.get_or_create(
        message=message, defaults={"raised_by_id": by.pk, "raised_at": now}
    )
    return is_new


def mark_seen(flag: CrisisFlag, by: AbstractBaseUser, now: datetime) -> bool:
    """Mark a flag as seen; False if it was seen before."""
    unseen = CrisisFlag.objects.filter(pk=flag.pk, seen_at=None)
    return bool(unseen.update(seen_by_id=by.pk, seen_at=now))


def _hold_back(persona: Persona, until: datetime) -> None:
    """Extend the hold; it is never shortened."""
    shorter = Q(care_until=None) | Q(care_until__lt=until)
    Persona.objects.filter(shorter, pk=persona.pk).update(care_until=until)


# --- the notice that the persona is an AI ---
@dataclass(frozen=True)
class OwnerSpan:
    """Times of the owner's first and last message in a session."""

    first: datetime
    last: datetime


def is_notice_due(at: datetime, before: OwnerSpan | None) -> bool:
    """Whether the notice stands with a message of time `at`, given the owner's messages of the session `before`.

    >>> noon = datetime(2026, 1, 1, 12)
    >>> [is_notice_due(noon + timedelta(hours=hours), OwnerSpan(noon, noon)) for hours in (1, 2.9, 3, 7)]
    [False, False, True, True]
    """
    interval = timedelta(hours=knobs.ai_notice_hours())
    return before is None or (at - before.first) // interval > (before.last - before.first) // interval


def is_notice_due_in(session: Session, now: datetime) -> bool:
    """Whether the notice stands with the next message of an open session. Most messages need no query for it."""
    if session.message_count == 0:
        return True
    if session.message_count > 1 and now - session.started_at < timedelta(hours=knobs.ai_notice_hours()):
        return False
    return is_notice_due(now, _owner_spans([session], Message.objects.all()).get(session.pk))


def ids_with_notice(messages: Sequence[Message], *, is_whole: bool) -> set[int]:
    """Keys of the messages, given oldest first, with which the notice stands; imported sessions have none. Earlier
    messages of their sessions are looked up unless the sessions are whole."""
    ours = [message for message in messages if message.role == Message.Role.USER and not message.session.import_uuid]
    spans: dict[int, OwnerSpan] = {}
    if ours and not is_whole:
        spans = _owner_spans({message.session for message in ours}, Message.objects.before(ours[0]))
    due = set()
    for message in ours:
        before = spans.get(message.session_id)
        if is_notice_due(message.created_at, before):
            due.add(message.pk)
        spans[message.session_id] = OwnerSpan(before.first if before else message.created_at, message.created_at)
    return due


def _owner_spans(sessions: Iterable[Session], among: MessageQuerySet) -> dict[int, OwnerSpan]:
    owner_messages = among.filter(session__in=sessions, role=Message.Role.USER).order_by().values_list("session")
    rows = owner_messages.annotate(Min("created_at"), Max("created_at"))
    return {session: OwnerSpan(first, last) for session, first, last in rows}
