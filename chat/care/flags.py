"""Lines that speak of a crisis: help stands beside them at once, whoever may is told, and she holds back for a while.

A connected model that reads the session later may raise help as well, and never takes any back. Staff may point out
lines, too. Nothing here blocks a line, drops it, or changes what becomes of it.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.contrib.auth.models import AbstractBaseUser
from django.db.models import Q

from chat import knobs
from chat.care import help_texts, speaks_of_crisis
from chat.models import CrisisFlag, Message, Session
from echovessel.outbox import events
from persona.models import Persona

# So many messages of the owner before a doubtful one are heard with it.
MESSAGES_BEFORE = 2
_SHOWS_HELP = Q(crisis_flag__by_detector=True) | Q(crisis_flag__by_model=True)


def is_crisis_message(persona: Persona, content: str, channel: str, *, unrecorded: bool = False) -> bool:
    """Whether a message that is about to be stored speaks of a crisis. Takes a query unless that is sure, and
    up to 10 ms: call it before the transaction that stores it."""

    def messages_before() -> list[str]:
        newest = Message.objects.filter(
            persona=persona,
            role=Message.Role.USER,
            session__channel=channel,
            session__status=Session.Status.OPEN,
            session__off_the_record=unrecorded,
        ).order_by("-id")
        return list(newest.values_list("content", flat=True)[:MESSAGES_BEFORE])[::-1]

    return speaks_of_crisis(content, messages_before)


def handle_crisis_message(message: Message, now: datetime) -> tuple[str, ...]:
    """See to a message of the owner that was heard as a cry and has just been stored, and return the help to show
    beside it. Call inside the transaction that stores it."""
    CrisisFlag.objects.create(message=message, by_detector=True, raised_at=now)
    _hold_back(message.persona, now + timedelta(hours=knobs.care_hold_hours()))
    return help_beside(message)


def raise_help_by_model(messages: Sequence[Message], now: datetime) -> None:
    """Show help beside messages of the owner that the connected model took for cries, on open pages as well. Nothing
    changes where help is shown already. Call inside a transaction."""
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
            care={"texts": list(help_beside(message))},
        )


def help_beside(message: Message) -> tuple[str, ...]:
    """The help that stands beside a line; none where nothing but a person has pointed it out."""
    flag: CrisisFlag | None = getattr(message, "crisis_flag", None)
    if flag is None or not flag.shows_help:
        return ()
    return help_texts.help_for_message(message.persona.language, message.content)


def recent_crisis_messages(persona: Persona, now: datetime, session_id: int | None) -> list[Message]:
    """The lines that spoke of it while she still holds back: those that are left, and that may reach a model in this
    talk. Costs nothing while she does not."""
    if persona.care_until is None or persona.care_until <= now:
        return []
    since = now - timedelta(hours=knobs.care_hold_hours())
    said = Message.objects.filter(persona=persona, created_at__gt=since).shown_to_models()
    spoken = said.filter(_SHOWS_HELP)
    return list(spoken.filter(Q(session__off_the_record=False) | Q(session=session_id)))


def crisis_messages_of(messages: Sequence[Message]) -> list[Message]:
    """Those of `messages` that were heard as cries."""
    flagged = crisis_message_keys([message.pk for message in messages])
    return [message for message in messages if message.pk in flagged]


def crisis_message_keys(keys: Sequence[int]) -> set[int]:
    """The keys of those messages that were heard as cries."""
    return set(Message.objects.filter(_SHOWS_HELP, pk__in=keys).values_list("pk", flat=True))


def clear_expired_care(now: datetime) -> int:
    """Drop what says that somebody holds back, once it is past; return how many did."""
    return Persona.objects.filter(care_until__lte=now).update(care_until=None)


def raise_flag(message: Message, by: AbstractBaseUser, now: datetime) -> bool:
    """Point out a line; False where that was done before."""
    _flag, is_new = CrisisFlag.objects.get_or_create(
        message=message, defaults={"raised_by_id": by.pk, "raised_at": now}
    )
    return is_new


def mark_seen(flag: CrisisFlag, by: AbstractBaseUser, now: datetime) -> bool:
    """Somebody has looked; False where somebody had before."""
    unseen = CrisisFlag.objects.filter(pk=flag.pk, seen_at=None)
    return bool(unseen.update(seen_by_id=by.pk, seen_at=now))


def _hold_back(persona: Persona, until: datetime) -> None:
    """Never shorter than it was."""
    shorter = Q(care_until=None) | Q(care_until__lt=until)
    Persona.objects.filter(shorter, pk=persona.pk).update(care_until=until)
