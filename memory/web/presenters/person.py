"""What a person's page, and the API, show beside their names: what was last heard, what is open, their story lines."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Q

from memory.consolidation import open_items
from memory.models import ConceptNode, Entity, Thread
from memory.models.node import L3

MAX_OPEN = 20


@dataclass(frozen=True)
class PersonFacts:
    """The memory of them that was told last, what is open with them (promises, expectations, plans), and the story
    lines that they are in."""

    last_heard: ConceptNode | None
    still_open: Sequence[ConceptNode]
    story_lines: Sequence[Thread]


def facts_about(entity: Entity) -> PersonFacts:
    """What is known of an entity by its memories that recall may serve."""
    active = ConceptNode.objects.filter(mentions__entity=entity).recallable()
    plan = Q(kind=ConceptNode.Kind.FACT, plan_state=ConceptNode.PlanState.PLANNED)
    item = Q(kind__in=open_items.KINDS, outcome=ConceptNode.Outcome.OPEN)
    threads = Thread.objects.filter(members__node__mentions__entity=entity, members__removed_at=None)
    return PersonFacts(
        active.filter(kind__in=L3).order_by("-last_mentioned_at", "-id").first(),
        list(active.filter(plan | item).newest_first()[:MAX_OPEN]),
        list(threads.distinct()),
    )
