"""Archive with time: doubtful, settled and, if the operator wants it, old and slight memories leave recall. Nothing is
deleted, and a person can return them (`memory.curation.actions.unarchive`).

    expire   doubtful, mentioned once, and unconfirmed for `expire_days`
    settle   a promise or an expectation whose outcome has been known for `settle_days`
    archive  an event or thought that is old, slight, hardly ever recalled, and not about identity; off by default
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from django.db import transaction
from django.db.models import Q

from echovessel.outbox import events
from memory import knobs
from memory.models import ConceptNode
from memory.models.node import GUESS_BELOW

Kind, Status, Because = ConceptNode.Kind, ConceptNode.Status, ConceptNode.ArchivedBecause

SLIGHT = 3  # of 10; a smaller impact is slight
HARDLY_RECALLED = 2
OLD = timedelta(days=90)
PROTECTED_TAGS = frozenset(("identity-bearing", "commitment"))
BATCH = 500


class Verdict(StrEnum):
    """The verdict on a memory."""

    KEEP = "keep"
    EXPIRE = "expire"
    SETTLE = "settle"
    ARCHIVE = "archive"


BECAUSE = {Verdict.EXPIRE: Because.EXPIRED, Verdict.SETTLE: Because.SETTLED, Verdict.ARCHIVE: Because.OLD}


@dataclass(frozen=True)
class Facts:
    """The facts that a verdict depends on."""

    kind: str
    source: str
    status: str
    verification: str
    pinned: bool
    confidence: float
    impact: int
    relational_tags: Sequence[str]
    mention_count: int
    access_count: int
    created_at: datetime
    resolved_at: datetime | None

    @classmethod
    def of(cls, node: ConceptNode) -> "Facts":
        return cls(
            kind=node.kind,
            source=node.source,
            status=node.status,
            verification=node.verification,
            pinned=node.pinned,
            confidence=node.confidence,
            impact=node.emotional_impact,
            relational_tags=node.relational_tags,
            mention_count=node.mention_count,
            access_count=node.access_count,
            created_at=node.created_at,
            resolved_at=node.resolved_at,
        )


def decide(facts: Facts, now: datetime) -> Verdict:
    """The verdict on a memory `now`. Only active memories leave recall, and no pinned one does."""
    if facts.status != Status.ACTIVE or facts.pinned:
        return Verdict.KEEP
    is_awaited = facts.kind in (Kind.INTENTION, Kind.EXPECTATION)
    if is_awaited and facts.resolved_at and now - facts.resolved_at > timedelta(days=knobs.settle_days()):
        return Verdict.SETTLE
    if facts.verification == ConceptNode.Verification.CONFIRMED or facts.source == ConceptNode.Source.PERSON:
        return Verdict.KEEP
    never_confirmed = facts.verification == ConceptNode.Verification.UNVERIFIED and facts.mention_count <= 1
    if facts.confidence < GUESS_BELOW and never_confirmed and now - facts.created_at > _expiry():
        return Verdict.EXPIRE
    is_old = now - facts.created_at > OLD and facts.access_count <= HARDLY_RECALLED
    is_slight = abs(facts.impact) < SLIGHT and PROTECTED_TAGS.isdisjoint(facts.relational_tags)
    if knobs.archive_old() and facts.kind in (Kind.EVENT, Kind.THOUGHT) and is_old and is_slight:
        return Verdict.ARCHIVE
    return Verdict.KEEP


def run(now: datetime, *, dry_run: bool = False) -> Counter[str]:
    """Apply the verdicts, and count them by name. A dry run changes nothing."""
    counts: Counter[str] = Counter()
    # Select only memories that may leave: few, so that not every memory is read every day.
    expired = Q(confidence__lt=GUESS_BELOW, created_at__lt=now - _expiry())
    settled = Q(resolved_at__lt=now - timedelta(days=knobs.settle_days()))
    old = Q(created_at__lt=now - OLD, access_count__lte=HARDLY_RECALLED)
    slight = Q(emotional_impact__gt=-SLIGHT, emotional_impact__lt=SLIGHT)
    condition = expired | settled | (old & slight if knobs.archive_old() else Q(pk__in=[]))
    due = list(
        ConceptNode.objects.recallable()
        .filter(condition, pinned=False)
        .order_by("persona", "id")
        .values_list("pk", flat=True)
    )
    for first in range(0, len(due), BATCH):
        with transaction.atomic():
            batch = ConceptNode.objects.filter(pk__in=due[first : first + BATCH])
            for node in batch.select_related("persona").order_by("persona", "id"):
                verdict = decide(Facts.of(node), now)
                if verdict != Verdict.KEEP:
                    counts[verdict] += 1
                    if not dry_run:
                        because = BECAUSE[verdict]
                        ConceptNode.objects.filter(pk=node.pk).update(status=Status.ARCHIVED, archived_because=because)
                        events.publish(
                            node.persona.uuid,
                            "memory.node.updated",
                            node_id=str(node.uuid),
                            kind=node.kind,
                            change="archived",
                        )
    return counts


def _expiry() -> timedelta:
    return timedelta(days=knobs.expire_days())
