"""Lines that speak of a crisis: help stands beside them at once, whoever may is told, and she holds back for a while.

Staff may point out lines, too. Nothing here blocks a line, drops it, or changes what becomes of it.
"""

from datetime import datetime, timedelta

from django.contrib.auth.models import AbstractBaseUser
from django.db.models import Q

from chat import help_texts, knobs
from chat.care import speaks_of_crisis
from chat.models import CrisisFlag, Message
from persona.models import Persona


def attend(message: Message, now: datetime) -> tuple[str, ...]:
    """See to a line of the user that has just been stored, and return the help to show beside it: none where it speaks
    of no crisis, which takes no query. Call inside the transaction that stores it."""
    if not speaks_of_crisis(message.content):
        return ()
    CrisisFlag.objects.create(message=message, raised_at=now)
    _hold_back(message.persona, now + timedelta(hours=knobs.care_hold_hours()))
    return help_beside(message)


def help_beside(message: Message) -> tuple[str, ...]:
    """The help that stands beside a line; none where nothing but a person has pointed it out, whose account may be gone
    since."""
    flag: CrisisFlag | None = getattr(message, "crisis_flag", None)
    if flag is None or flag.raised_by_id is not None or not speaks_of_crisis(message.content):
        return ()
    return help_texts.beside_a_line(message.persona.language, message.content)


def lately(persona: Persona, now: datetime, session_id: int | None) -> list[Message]:
    """The lines that spoke of it while she still holds back: those that are left, and that may reach a model in this
    talk. Costs nothing while she does not."""
    if persona.care_until is None or persona.care_until <= now:
        return []
    since = now - timedelta(hours=knobs.care_hold_hours())
    said = Message.objects.filter(persona=persona, created_at__gt=since).shown_to_models()
    spoken = said.filter(crisis_flag__isnull=False, crisis_flag__raised_by=None)
    may_be_told = spoken.filter(Q(session__off_the_record=False) | Q(session=session_id))
    return [line for line in may_be_told if speaks_of_crisis(line.content)]


def let_go(now: datetime) -> int:
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
