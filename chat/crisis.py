"""Crisis flags: a line is pointed out to those who may see them, and marked once somebody has looked."""

from datetime import datetime

from django.contrib.auth.models import AbstractBaseUser

from chat.models import CrisisFlag, Message


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
