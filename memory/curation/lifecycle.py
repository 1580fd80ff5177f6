"""What time does to memories: what was never sure, what is settled, and, where it is wished, what is old and slight
leaves recall. It is archived: nothing is deleted, and a person can have it back (`memory.curation.actions.unarchive`).

    expire   doubtful, told once, and nobody has confirmed it for so many days
    settle   a promise or an expectation whose outcome was known so many days ago
    archive  an event or thought that is old, slight, hardly ever recalled, and of nobody's identity; off by default
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

SLIGHT = 3  # of 10; what weighs less left no mark
HARDLY_RECALLED = 2
OLD = timedelta(days=90)
PROTECTED_TAGS = frozenset(("identity-bearing", "commitment"))
AT_ONCE = 500


class Verdict(StrEnum):
    """What becomes of a memory."""

    KEEP = "keep"
    EXPIRE = "expire"
    SETTLE = "settle"
    ARCHIVE = "archive"


BECAUSE = {Verdict.EXPIRE: Because.EXPIRED, Verdict.SETTLE: Because.SETTLED, Verdict.ARCHIVE: Because.OLD}


@dataclass(frozen=True)
class Facts:
    """What a verdict depends on."""

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
    """What becomes of a memory `now`. Only what may be recalled leaves recall, and nothing that is pinned does."""
    if facts.status != Status.ACTIVE or facts.pinned:
        return Verdict.KEEP
    if _is_settled(facts, now):
        return Verdict.SETTLE
    if facts.verification == ConceptNode.Verification.CONFIRMED or facts.source == ConceptNode.Source.PERSON:
        return Verdict.KEEP
    never_confirmed = facts.verification == ConceptNode.Verification.UNVERIFIED and facts.mention_count <= 1
    if facts.confidence < GUESS_BELOW and never_confirmed and now - facts.created_at > _expiry():
        return Verdict.EXPIRE
    return Verdict.ARCHIVE if knobs.archive_old() and _is_old_and_slight(facts, now) else Verdict.KEEP


def run(now: datetime, *, dry_run: bool = False) -> Counter[str]:
    """Give every memory its due, and count the verdicts by name. A dry run changes nothing."""
    counts: Counter[str] = Counter()
    # Those of which something may become: few, so that not every memory is read every day.
    expired = Q(confidence__lt=GUESS_BELOW, created_at__lt=now - _expiry())
    settled = Q(resolved_at__lt=now - timedelta(days=knobs.settle_days()))
    old = Q(created_at__lt=now - OLD, access_count__lte=HARDLY_RECALLED)
    slight = Q(emotional_impact__gt=-SLIGHT, emotional_impact__lt=SLIGHT)
    wanted = expired | settled | (old & slight if knobs.archive_old() else Q(pk__in=[]))
    due = list(
        ConceptNode.objects.recallable()
        .filter(wanted, pinned=False)
        .order_by("persona", "id")
        .values_list("pk", flat=True)
    )
    for first in range(0, len(due), AT_ONCE):
        with transaction.atomic():
            at_once = ConceptNode.objects.filter(pk__in=due[first : first + AT_ONCE])
            nodes = at_once.select_related("persona").order_by("persona", "id")
            for node in nodes:
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


def _is_settled(facts: Facts, now: datetime) -> bool:
    if facts.kind not in (Kind.INTENTION, Kind.EXPECTATION) or facts.resolved_at is None:
        return False
    return now - facts.resolved_at > timedelta(days=knobs.settle_days())


def _is_old_and_slight(facts: Facts, now: datetime) -> bool:
    return (
        facts.kind in (Kind.EVENT, Kind.THOUGHT)
        and now - facts.created_at > OLD
        and abs(facts.impact) < SLIGHT
        and facts.access_count <= HARDLY_RECALLED
        and PROTECTED_TAGS.isdisjoint(facts.relational_tags)
    )


def _expiry() -> timedelta:
    return timedelta(days=knobs.expire_days())
