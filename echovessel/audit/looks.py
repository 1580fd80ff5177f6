"""Recording looks: a row for every page on which somebody read words that are not their own."""

from collections.abc import Collection, Sequence
from typing import Any
from uuid import UUID

from django.utils import timezone

from echovessel.audit.models import Look

MAX_NAMED = 50


def record(user: Any, what: str, personas: Collection[UUID], keys: Sequence[int]) -> None:
    """Record that `user` was shown rows of `what`, a model's label; nothing if `keys` is empty.

    The persona is recorded if all rows belong to one.
    """
    if not keys:
        return
    Look.objects.create(
        user_id=user.pk,
        persona_uuid=next(iter(personas)) if len(personas) == 1 else None,
        what=what,
        object_ids=list(keys[:MAX_NAMED]),
        count=len(keys),
        at=timezone.now(),
    )
