"""Additions to an entity on its page and in the API: its latest memory, open items, and story lines."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Q

from memory.consolidation import open_items
from memory.models import ConceptNode, Entity, Thread
from memory.models.node import L3

MAX_OPEN = 20


@dataclass(frozen=True)
class PersonFacts:
    """The latest memory about an entity, its open items (promises, expectations, plans), and its story lines."""

    last_heard: ConceptNode | None
    still_open: Sequence[ConceptNode]
    story_lines: Sequence[Thread]


def facts_about(entity: Entity) -> PersonFacts:
    """The facts about an entity, from memories that may be recalled."""
    active = ConceptNode.objects.filter(mentions__entity=entity).recallable()
    plan = Q(kind=ConceptNode.Kind.FACT, plan_state=ConceptNode.PlanState.PLANNED)
    item = Q(kind__in=open_items.KINDS, outcome=ConceptNode.Outcome.OPEN)
    threads = Thread.objects.filter(members__node__mentions__entity=entity, members__removed_at=None)
    return PersonFacts(
        active.filter(kind__in=L3).order_by("-last_mentioned_at", "-id").first(),
        list(active.filter(plan | item).newest_first()[:MAX_OPEN]),
        list(threads.distinct()),
    )
