"""The names in one stored answer: prepared outside any transaction, then resolved inside one."""

from collections.abc import Sequence

import numpy as np

from echovessel.language.person_names import normalize_name, occurs
from memory.consolidation.answer_schema import ExtractionAnswer, MentionedEntity
from memory.entities.comparison import Candidates
from memory.entities.resolve import MentionedName, resolve
from memory.entities.similarity import Profile, compatible
from memory.models import ConceptNode, Entity
from persona.models import Persona


def profiles_of(answer: ExtractionAnswer, texts: Sequence[str], vectors: np.ndarray) -> list[Profile]:
    """A profile of each name in the answer, made from its memories. `texts` begin with the descriptions of the events,
    then of the facts, so that positions in the answer are positions in `texts`; `vectors` are the vectors of
    `texts`."""
    entities = answer.mentioned_entities
    names = [[entity.canonical_name, *entity.aliases] for entity in entities]
    # By entity, the positions of the memories that name it.
    named_in = [
        {place for place in _about(answer, at, len(texts)) if any(occurs(name, texts[place]) for name in names[at])}
        for at in range(len(entities))
    ]
    profiles = []
    for at, entity in enumerate(entities):
        together = [other for other in range(len(entities)) if named_in[other] & named_in[at]]
        company = {normalize_name(name) for other in together for name in names[other]}
        places = sorted(named_in[at])
        profiles.append(
            Profile(
                names=tuple(names[at]),
                kind=entity.kind,
                texts=tuple(texts[place] for place in places),
                vectors=vectors[places],
                company=frozenset(company - {normalize_name(name) for name in names[at]}),
                relation=entity.relation,
            )
        )
    return profiles


def resolve_names(
    persona: Persona,
    answer: ExtractionAnswer,
    profiles: Sequence[Profile],
    nodes: Sequence[ConceptNode | None],
    circle: Candidates,
) -> None:
    """Resolve the names of one answer. `nodes` begin with its events; None stands for a refused node."""
    resolved: dict[int, Entity] = {}
    for at, entity in enumerate(answer.mentioned_entities):
        mentioning = [nodes[place] for place in _about(answer, at, len(nodes))]
        mention = MentionedName(
            [entity.canonical_name, *entity.aliases],
            entity.kind,
            [node for node in mentioning if node is not None],
            profiles[at],
            relation=entity.relation,
            twins=[resolved[twin] for twin in _twins(answer, at) if twin in resolved],
            beside=list(resolved.values()),
        )
        if resolution := resolve(persona, mention, circle):
            resolved[at] = resolution.entity


def _about(answer: ExtractionAnswer, at: int, count: int) -> list[int]:
    """The positions of the memories that may be about the entity at `at`: all of them, because models miscount; but if
    two entities of the answer share a name, only those that the answer states."""
    places = _places(answer, answer.mentioned_entities[at])
    return places if places and _namesakes(answer, at) else list(range(count))


def _twins(answer: ExtractionAnswer, at: int) -> list[int]:
    """The entities with the same name and a compatible kind that the answer distinguishes from this one by placing them
    in other events and facts."""
    entities = answer.mentioned_entities
    own_places = set(_places(answer, entities[at]))
    return [
        other
        for other in _namesakes(answer, at)
        if compatible(entities[at].kind, entities[other].kind)
        and own_places
        and (there := _places(answer, entities[other]))
        and not own_places.intersection(there)
    ]


def _places(answer: ExtractionAnswer, entity: MentionedEntity) -> list[int]:
    """The positions of the events and facts in which the answer places the entity; facts are written after the
    events."""
    events, facts = len(answer.events), len(answer.facts)
    return [
        *(place for place in entity.in_events if place < events),
        *(events + place for place in entity.in_facts if place < facts),
    ]


def _namesakes(answer: ExtractionAnswer, at: int) -> list[int]:
    names = [normalize_name(entity.canonical_name) for entity in answer.mentioned_entities]
    return [other for other, name in enumerate(names) if other != at and name == names[at]]
