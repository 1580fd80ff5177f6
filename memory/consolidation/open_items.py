"""Open items, promises (intentions) and expectations, and how they end: fulfilled, violated or expired.

Open items stand in every prompt. A settled one stays a memory, shown with its outcome, until it leaves recall long
after (`memory.curation.lifecycle`). An item that is mentioned again after its day, or reopened by a person, is open
again: its days of grace begin anew.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import NamedTuple
from zoneinfo import ZoneInfo

from django.db import transaction

from echovessel.outbox import events
from memory import knobs
from memory.curation.restatements import names_of, telling_words
from memory.models import ConceptNode
from memory.models.node import NodeQuerySet
from persona.models import Persona

Kind, Outcome, Status = ConceptNode.Kind, ConceptNode.Outcome, ConceptNode.Status

KINDS = (Kind.INTENTION, Kind.EXPECTATION)
ENDED = (Outcome.FULFILLED, Outcome.VIOLATED, Outcome.EXPIRED)
AT_ONCE = 50  # 80 ms of writing
MAX_A_MINUTE = 2_000
MAX_LOOKED_AT = 200  # of the open items, the newest


def settle(node: ConceptNode, outcome: str, by: ConceptNode | None, now: datetime) -> bool:
    """Store the outcome, and the memory that reported it; False if the item was not open.

    Raises ValueError for an outcome that is no end, and for a memory of another persona or the node itself.
    """
    if outcome not in ENDED:
        raise ValueError(f"{outcome!r} is no end of an open item")
    if by is not None and (by.persona_id != node.persona_id or by.pk == node.pk):
        raise ValueError("it can be settled by another memory of the same persona only")
    with transaction.atomic():
        still_open = _awaited().filter(pk=node.pk, outcome=Outcome.OPEN)
        if not still_open.update(outcome=outcome, resolved_at=now, resolved_by=by):
            return False
        _publish(node, outcome, by)
    node.refresh_from_db(fields=["outcome", "resolved_at", "resolved_by"])
    return True


def settle_told(nodes: Sequence[ConceptNode], by: ConceptNode, now: datetime) -> None:
    """Fulfil the promises and expectations among the memories that `by` reports as carried out."""
    for node in nodes:
        if node.kind in KINDS and node.pk != by.pk:
            settle(node, Outcome.FULFILLED, by, now)


def reopen(node: ConceptNode, now: datetime) -> bool:
    """Open the item again as if it had been mentioned just now; False if it was open. An item that left recall because
    it was settled returns to recall."""
    with transaction.atomic():
        ended = _awaited().filter(pk=node.pk).exclude(outcome=Outcome.OPEN)
        values = {"outcome": Outcome.OPEN, "resolved_at": None, "resolved_by": None, "last_mentioned_at": now}
        if not ended.update(**values):
            return False
        put_away = ConceptNode.objects.filter(pk=node.pk, status=Status.ARCHIVED)
        settled_long_ago = put_away.filter(archived_because=ConceptNode.ArchivedBecause.SETTLED)
        settled_long_ago.update(status=Status.ACTIVE, archived_because="")
        _publish(node, "reopened", None)
    node.refresh_from_db(fields=[*values, "status", "archived_because"])
    return True


# The actions of a person, by name.
BY_HAND: Mapping[str, Callable[[ConceptNode, datetime], bool]] = {
    "came_true": lambda node, now: settle(node, Outcome.FULFILLED, None, now),
    "did_not": lambda node, now: settle(node, Outcome.VIOLATED, None, now),
    "reopen": reopen,
}


class OpenItem(NamedTuple):
    """What decides whether it is still awaited. `timezone` is the owner's."""

    pk: int
    kind: str
    due: date | None
    created_at: datetime
    last_told_at: datetime
    timezone: str


def expire(now: datetime) -> int:
    """Expire overdue items, those with the earliest day first, at most MAX_A_MINUTE; returns the number."""
    still_open = _awaited().recallable().filter(outcome=Outcome.OPEN).order_by("event_time_end", "created_at")
    # Nowhere on earth is the date more than a day ahead of UTC. (Two queries, because with OR neither would use the
    # date index.)
    days = min(map(_grace_days, KINDS))
    dated = still_open.filter(event_time_end__lt=now.date() + timedelta(days=1 - days))
    undated = still_open.filter(event_time_end=None, created_at__lt=now - _undated_grace(), kind=Kind.EXPECTATION)
    columns = ("pk", "kind", "event_time_end", "created_at", "last_mentioned_at", "persona__timezone")
    waiting = (OpenItem(*row) for nodes in (dated, undated) for row in nodes.values_list(*columns))
    overdue = [item.pk for item in waiting if is_overdue(item, now)][:MAX_A_MINUTE]
    expired = 0
    for first in range(0, len(overdue), AT_ONCE):
        with transaction.atomic():
            nodes = ConceptNode.objects.filter(pk__in=overdue[first : first + AT_ONCE]).select_related("persona")
            expired += sum(settle(node, Outcome.EXPIRED, None, now) for node in nodes.order_by("persona", "id"))
    return expired


def is_overdue(waiting: OpenItem, now: datetime) -> bool:
    """Whether its days of grace are over, in its owner's time zone.

    >>> from datetime import UTC
    >>> told, friday = datetime(2026, 3, 2, tzinfo=UTC), date(2026, 3, 6)
    >>> result = OpenItem(1, "expectation", friday, told, told, "UTC")
    >>> is_overdue(result, datetime(2026, 3, 9, 12, tzinfo=UTC)), is_overdue(result, datetime(2026, 3, 10, tzinfo=UTC))
    (False, True)
    """
    if waiting.due is None:
        return waiting.kind == Kind.EXPECTATION and now - waiting.last_told_at > _undated_grace()
    zone = ZoneInfo(waiting.timezone)
    told_again = waiting.last_told_at > waiting.created_at
    since = max(waiting.due, waiting.last_told_at.astimezone(zone).date()) if told_again else waiting.due
    return (now.astimezone(zone).date() - since).days > _grace_days(waiting.kind)


def may_be_settled(persona: Persona, texts: Sequence[str]) -> bool:
    """Whether messages of the user may report how an open item ended: they share a significant word with it, so that a
    short message is worth reading."""
    names = names_of(persona)
    words = {word for text in texts for word in telling_words(text, names)}
    if not words:
        return False
    waiting = _awaited().recallable().filter(persona=persona, outcome=Outcome.OPEN).order_by("-id")
    descriptions = waiting.values_list("description", flat=True)[:MAX_LOOKED_AT]
    return any(words & telling_words(description, names) for description in descriptions)


def _awaited() -> NodeQuerySet:
    return ConceptNode.objects.filter(kind__in=KINDS)


def _grace_days(kind: str) -> int:
    return knobs.promise_grace_days() if kind == Kind.INTENTION else knobs.expectation_grace_days()


def _undated_grace() -> timedelta:
    return timedelta(days=knobs.undated_expectation_days())


def _publish(node: ConceptNode, change: str, by: ConceptNode | None) -> None:
    events.publish(
        node.persona.uuid,
        "memory.node.updated",
        node_id=str(node.uuid),
        kind=node.kind,
        change=change,
        resolved_by=str(by.uuid) if by else None,
    )
