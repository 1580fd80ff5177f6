"""Describing: who somebody is, in a few sentences, from the events that tell of them.

Of whom enough is told, and something new, so many a run; never of whom a person has written. A description stands on
given events that it cites. Where none can be had it is left for another run: what was thought is not held up by it.
"""

import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from django.db.models import Count, F, Max, Q, QuerySet

from echovessel import llm
from echovessel.jobs.lease import Lease
from echovessel.llm import AnswerUnreadable, LLMError
from memory import knobs
from memory.consolidation import prompt
from memory.entities.stream_events import announce_described
from memory.models import ConceptNode, Entity, SlowCycle
from memory.slow_cycle import replies
from memory.slow_cycle.answer_schema import EntityAnswer
from memory.slow_cycle.context import cost
from memory.slow_cycle.tombstone_check import brings_back
from memory.store import tombstones
from memory.store.writing import in_one_line
from persona.models import Persona

logger = logging.getLogger(__name__)

LONGEST = 400
MOST_NAMES = 6
CHANGED, FORGOTTEN = "changed", "forgotten"
_SENTENCES = re.compile(r"^.*[.!?。！？…](?=\s|$|(?<=[。！？…]))", re.DOTALL)


@dataclass(frozen=True)
class Subject:
    """Somebody to be described, and the events to do it from, oldest first."""

    entity: Entity
    events: Sequence[ConceptNode]

    @property
    def through(self) -> int:
        return self.events[-1].pk


@dataclass(frozen=True)
class Description:
    """What was said of somebody: words, and the given events that they cite; or why there are none."""

    of: Subject
    text: str = ""
    cited: Sequence[int] = ()
    dropped: str = ""
    was_answered: bool = True
    usage: llm.Usage = field(default_factory=llm.Usage)


def describe(lease: Lease[SlowCycle], room: int) -> list[Description]:
    """Ask about those who are due, as far as so many tokens reach. Raises nothing of a model's.

    No transaction may be open: the model works in here.
    """
    found: list[Description] = []
    for subject in due_subjects(lease.row.persona):
        request = _request(lease.row.persona, subject)
        room -= cost(request)
        if room < 0 or (found and not found[-1].was_answered):
            break
        found.append(_asked(lease, subject, request))
    return found


def due_subjects(persona: Persona) -> list[Subject]:
    """Whom to describe: those about whom a run asked that was not finished, in its order, then those with the newest
    events."""
    asked = replies.described_through(persona)
    told = Q(mentions__node__kind=ConceptNode.Kind.EVENT, mentions__node__status=ConceptNode.Status.ACTIVE)
    counted = describable(persona).annotate(
        events=Count("mentions", filter=told), newest=Max("mentions__node", filter=told)
    )
    wanted = counted.filter(events__gte=knobs.slow_cycle_entity_least_events(), newest__gt=F("described_through"))
    most = knobs.slow_cycle_entities()
    others = wanted.exclude(pk__in=asked).order_by("-newest", "pk")[:most]
    again = wanted.in_bulk(list(asked))
    entities = [*(again[pk] for pk in asked if pk in again), *others]
    subjects = [_subject(entity, asked) for entity in entities[:most]]
    return [subject for subject in subjects if subject.events]


def describable(persona: Persona) -> QuerySet[Entity]:
    """Those who are known for sure, and of whom no person has written."""
    mine_to_write = Q(description="") | Q(described_by=Entity.DescribedBy.SLOW_CYCLE)
    return Entity.objects.filter(mine_to_write, persona=persona, status=Entity.Status.CONFIRMED)


def write(persona: Persona, described: Description) -> str:
    """Have the entity described so; returns why not, or an empty string. Call inside a transaction.

    What the events said, and what stood there, has to be so still: somebody may have put it right, or away, meanwhile.
    """
    subject = described.of
    mine = describable(persona).filter(pk=subject.entity.pk, description=subject.entity.description)
    why = described.dropped or _refusal(persona, described)
    if why:
        if described.was_answered and why != CHANGED:
            mine.update(described_through=subject.through)  # nothing more is to be had from these
        return why
    if not mine.update(
        description=described.text,
        described_by=Entity.DescribedBy.SLOW_CYCLE,
        described_through=subject.through,
    ):
        return CHANGED
    announce_described(Entity.objects.select_related("persona").get(pk=subject.entity.pk))
    return ""


# --- asking -------------------------------------------------------------------------------------------------------
def _subject(entity: Entity, asked: Mapping[int, int]) -> Subject:
    events = ConceptNode.objects.filter(mentions__entity=entity, kind=ConceptNode.Kind.EVENT).recallable()
    if entity.pk in asked:
        events = events.filter(pk__lte=asked[entity.pk])
    newest = events.order_by("-pk")[: knobs.slow_cycle_entity_events()]
    return Subject(entity, list(reversed(newest)))


def _request(persona: Persona, subject: Subject) -> llm.Request:
    entity = subject.entity
    names = list(entity.aliases.values_list("text", flat=True)[:MOST_NAMES])
    return prompt.request(
        persona,
        "entity",
        tier="medium",
        max_tokens=knobs.slow_cycle_entity_tokens(),
        values={
            "names": " / ".join(dict.fromkeys([entity.canonical_name, *names])),
            "kind": entity.kind,
            "description": entity.description,
            "events": prompt.format_memories(persona, subject.events),
        },
        material={
            "name": entity.canonical_name,
            "kind": entity.kind,
            "description": entity.description,
            "events": [
                {"id": f"e{event.pk}", "description": event.description, "emotional_impact": event.emotional_impact}
                for event in subject.events
            ],
        },
    )


def _asked(lease: Lease[SlowCycle], subject: Subject, request: llm.Request) -> Description:
    stored = replies.of_describing(lease, subject.entity.pk, subject.through)
    try:
        answer = llm.answer_now(request, EntityAnswer, replies=stored)
    except AnswerUnreadable:
        return Description(subject, dropped="unreadable")
    except LLMError as error:
        logger.warning("entity %s is not described: %s", subject.entity.pk, error.code)
        return Description(subject, dropped=error.code, was_answered=False)
    given = {event.pk for event in subject.events}
    keys = dict.fromkeys(prompt.node_id(one) for one in answer.value.filling)
    cited = [key for key in keys if key in given]
    text = shorten_description(in_one_line(answer.value.description))
    return Description(subject, text, cited, "" if cited else "no_ground", usage=answer.usage)


def shorten_description(text: str) -> str:
    """At most 400 characters, whole sentences where one ends in there.

    >>> shortened("He sails. " + "He sings " * 50)
    'He sails.'
    """
    if len(text) <= LONGEST:
        return text
    whole = _SENTENCES.match(text[:LONGEST])
    return whole.group() if whole else text[: LONGEST - 1].rstrip() + "…"


def _refusal(persona: Persona, described: Description) -> str:
    told = [event.description for event in described.of.events]
    # --- writing ------------------------------------------------------------------------------------------------------
    stored = ConceptNode.objects.filter(pk__in=[event.pk for event in described.of.events]).recallable()
    now = dict(stored.values_list("pk", "description"))
    if not all(now.get(event.pk) == event.description for event in described.of.events):
        return CHANGED
    names = [described.of.entity.canonical_name, *told]
    buried = tombstones.refuses(persona, [described.text]) or brings_back(persona, described.text, names)
    return FORGOTTEN if buried else ""
