"""Describe entities in a few sentences, from the events that mention them.

A run describes up to `slow_cycle_entities` of those with enough events and a new one; never one that a person has
described. A description rests on the events of the prompt that it cites. If a model gives none the entity is left for
another run: the thoughts of this run do not wait for it.
"""

import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from django.db.models import Count, F, Max, Q, QuerySet

from echovessel import llm
from echovessel.jobs.lease import Lease
from echovessel.llm import AnswerUnreadable, LLMError
from memory import knobs
from memory.consolidation import prompt
from memory.entities.stream_events import announce_described
from memory.models import ConceptNode, Entity, SlowCycle
from memory.models.node import L3
from memory.slow_cycle import replies
from memory.slow_cycle.answer_schema import EntityAnswer
from memory.slow_cycle.context import cost
from memory.slow_cycle.tombstone_check import brings_back
from memory.store import tombstones
from memory.store.writing import in_one_line
from persona.models import Persona

logger = logging.getLogger(__name__)

MAX_LENGTH = 400
MAX_NAMES = 6
CHANGED, FORGOTTEN = "changed", "forgotten"
_SENTENCES = re.compile(r"^.*[.!?。！？…](?=\s|$|(?<=[。！？…]))", re.DOTALL)


@dataclass(frozen=True)
class Subject:
    """An entity to be described, and its events, oldest first."""

    entity: Entity
    events: Sequence[ConceptNode]

    @property
    def through(self) -> int:
        return self.events[-1].pk

    def request(self, persona: Persona) -> llm.Request:
        entity = self.entity
        names = list(entity.aliases.values_list("text", flat=True)[:MAX_NAMES])
        return prompt.request(
            persona,
            "entity",
            tier="medium",
            max_tokens=knobs.slow_cycle_entity_tokens(),
            values={
                "names": " / ".join(dict.fromkeys([entity.canonical_name, *names])),
                "kind": entity.kind,
                "description": entity.description,
                "events": prompt.format_memories(persona, self.events),
            },
            material={
                "name": entity.canonical_name,
                "kind": entity.kind,
                "description": entity.description,
                "events": [
                    {"id": f"e{event.pk}", "description": event.description, "emotional_impact": event.emotional_impact}
                    for event in self.events
                ],
            },
        )


@dataclass(frozen=True)
class Description:
    """A description, with the events of the prompt that it cites; or the reason why there is none."""

    of: Subject
    text: str = ""
    cited: Sequence[int] = ()
    dropped: str = ""
    was_answered: bool = True
    usage: llm.Usage = field(default_factory=llm.Usage)


def describe(lease: Lease[SlowCycle], room: int) -> list[Description]:
    """Request descriptions of the entities that are due, within `room` tokens. Raises no error of a model.

    No transaction may be open: the model works in here.
    """
    descriptions: list[Description] = []
    for subject in due_subjects(lease.row.persona):
        request = subject.request(lease.row.persona)
        room -= cost(request)
        if room < 0:
            break
        try:
            answer = llm.answer_now(
                request, EntityAnswer, replies=replies.of_describing(lease, subject.entity.pk, subject.through)
            )
        except AnswerUnreadable:
            descriptions.append(Description(subject, dropped="unreadable"))
            continue
        except LLMError as error:
            logger.warning("entity %s is not described: %s", subject.entity.pk, error.code)
            descriptions.append(Description(subject, dropped=error.code, was_answered=False))
            break
        events = {event.pk for event in subject.events}
        keys = dict.fromkeys(prompt.node_id(node_reference) for node_reference in answer.value.filling)
        cited_keys = [key for key in keys if key in events]
        text = shorten_description(in_one_line(answer.value.description))
        dropped = "" if cited_keys else "no_ground"
        descriptions.append(Description(subject, text, cited_keys, dropped, usage=answer.usage))
    return descriptions


def due_subjects(persona: Persona) -> list[Subject]:
    """The entities to describe: those of an unfinished run, in its order, then those with the newest events."""
    described_through = replies.described_through(persona)
    by_active_events = Q(mentions__node__kind__in=L3, mentions__node__status=ConceptNode.Status.ACTIVE)
    entities_by_events = describable(persona).annotate(
        events=Count("mentions", filter=by_active_events), newest=Max("mentions__node", filter=by_active_events)
    )
    due_entities = entities_by_events.filter(
        events__gte=knobs.slow_cycle_entity_least_events(), newest__gt=F("described_through")
    )
    limit = knobs.slow_cycle_entities()
    new_entities = due_entities.exclude(pk__in=described_through).order_by("-newest", "pk")[:limit]
    resumed_entities = due_entities.in_bulk(list(described_through))
    subjects = []
    for entity in [*(resumed_entities[pk] for pk in described_through if pk in resumed_entities), *new_entities][
        :limit
    ]:
        events = ConceptNode.objects.filter(mentions__entity=entity, kind__in=L3).recallable()
        if entity.pk in described_through:
            events = events.filter(pk__lte=described_through[entity.pk])
        if newest := list(events.order_by("-pk")[: knobs.slow_cycle_entity_events()]):
            subjects.append(Subject(entity, newest[::-1]))
    return subjects


def describable(persona: Persona) -> QuerySet[Entity]:
    """Confirmed entities that no person has described."""
    not_by_person = Q(description="") | Q(described_by=Entity.DescribedBy.SLOW_CYCLE)
    return Entity.objects.filter(not_by_person, persona=persona, status=Entity.Status.CONFIRMED)


def write(persona: Persona, described: Description) -> str:
    """Store a description; returns the reason if it is not stored, else "". Call inside a transaction.

    The events and the old description must be unchanged: a person may have corrected or hidden one meanwhile.
    """
    subject, why = described.of, described.dropped
    unchanged = describable(persona).filter(pk=subject.entity.pk, description=subject.entity.description)
    if not why:
        stored_events = ConceptNode.objects.filter(pk__in=[event.pk for event in subject.events]).recallable()
        now = dict(stored_events.values_list("pk", "description"))
        names = [subject.entity.canonical_name, *(event.description for event in subject.events)]
        if any(now.get(event.pk) != event.description for event in subject.events):
            why = CHANGED
        elif tombstones.refuses(persona, [described.text]) or brings_back(persona, described.text, names):
            why = FORGOTTEN
    if why:
        if described.was_answered and why != CHANGED:
            unchanged.update(described_through=subject.through)  # these events give no description
        return why
    if not unchanged.update(
        description=described.text,
        described_by=Entity.DescribedBy.SLOW_CYCLE,
        described_through=subject.through,
    ):
        return CHANGED
    announce_described(Entity.objects.select_related("persona").get(pk=subject.entity.pk))
    return ""


# --- text ---------------------------------------------------------------------------------------------------------
def shorten_description(text: str) -> str:
    """At most 400 characters; whole sentences, if one ends within them.

    >>> shorten_description("He sails. " + "He sings " * 50)
    'He sails.'
    """
    if len(text) <= MAX_LENGTH:
        return text
    sentences = _SENTENCES.match(text[:MAX_LENGTH])
    return sentences.group() if sentences else text[: MAX_LENGTH - 1].rstrip() + "…"
