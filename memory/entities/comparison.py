"""The known entities that a new name is compared with: a few, chosen by their names and their memories.

Entities have no vectors of their own. The vectors of the memories that mention them are compared: these exist already
and are deleted with the memories. So comparing embeds nothing, and forgetting has nothing more to delete.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice

import numpy as np

from echovessel.language import tokenizer
from echovessel.language.person_names import normalize_name
from memory import knobs
from memory.entities import spelling
from memory.entities.similarity import Likeness, Profile, compatible, embeds_script_of, likeness
from memory.models import Alias, ConceptNode, Entity, Mention
from memory.store import vectors
from persona.models import Persona

NEIGHBOURS = 40
MAX_TEXTS = 4
MAX_WORDS = 48
COMMON = 300  # for words in more nodes than this, only the newest of these nodes are searched


@dataclass
class Candidates:
    """The known entities that new names are compared with, including those that were learned meanwhile."""

    talking: Sequence[str] = ()
    profiles: dict[int, Profile] = field(default_factory=dict)

    def likely(self, newcomer: Profile) -> dict[int, Likeness]:
        """Entities that could be the newcomer, by key."""
        likenesses = {
            pk: likeness(newcomer, bearer_profile, self.talking) for pk, bearer_profile in self.profiles.items()
        }
        return {pk: like for pk, like in likenesses.items() if like.verdict != "other"}

    def learn(self, entity: int, new_profile: Profile) -> None:
        """Add a new profile to the profile of an entity."""
        known_profile = self.profiles.get(entity)
        self.profiles[entity] = (
            new_profile
            if known_profile is None
            else replace(
                known_profile,
                names=tuple(dict.fromkeys((*known_profile.names, *new_profile.names))),
                texts=(*known_profile.texts, *new_profile.texts),
                vectors=np.concatenate([known_profile.vectors, new_profile.vectors]),
                company=known_profile.company | new_profile.company,
            )
        )

    def join(self, other: "Candidates") -> None:
        self.profiles.update(other.profiles)


@dataclass(frozen=True)
class KnownEntity:
    """The names of an entity, and its relation to the owner."""

    pk: int
    kind: str
    relation: str
    names: tuple[str, ...]

    @cached_property
    def normalized(self) -> set[str]:
        return {normalize_name(name) for name in self.names}


def candidates_for(persona: Persona, newcomers: Sequence[Profile]) -> Candidates:
    """The entities that `newcomers` are compared with, at most `entities.compared` for each. Reads only.

    A newcomer whose name has exactly one bearer is that entity, and is not compared.
    """
    candidates = Candidates((persona.name, persona.user_display_name))
    if not newcomers:
        return candidates
    living = Alias.objects.filter(persona=persona).exclude(entity__status=Entity.Status.MERGED)
    names: dict[tuple[int, str, str], list[str]] = defaultdict(list)
    of_entity = ("entity_id", "entity__kind", "entity__relation")
    for *entity, text in living.order_by("id").values_list(*of_entity, "text"):
        names[tuple(entity)].append(text)
    entities = [KnownEntity(*entity, tuple(aliases)) for entity, aliases in names.items()]
    candidates_by_id: dict[int, KnownEntity] = {}
    for newcomer in newcomers:
        fitting = {entity.pk: entity for entity in entities if compatible(entity.kind, newcomer.kind)}
        newcomer_names = {normalize_name(name) for name in newcomer.names}
        if sum(bool(entity.normalized & newcomer_names) for entity in fitting.values()) == 1:
            continue
        least = knobs.least_alike_spelling()
        worth = {
            pk: entity
            for pk, entity in fitting.items()
            if entity.normalized & newcomer_names
            or spelling.reasons(newcomer.names, entity.names, newcomer.kind, least)
        }
        near = (fitting[pk] for pk in _entities_near(persona, newcomer) if pk in fitting)
        worth |= {entity.pk: entity for entity in near if spelling.in_other_scripts(newcomer.names, entity.names)}
        candidates_by_id |= dict(islice(worth.items(), knobs.entities_compared()))
    candidates.profiles = _profiles(candidates_by_id.values())
    return candidates


def _entities_near(persona: Persona, newcomer: Profile) -> Iterator[int]:
    """Entities that are mentioned in memories like the newcomer's, most similar first."""
    tokens = {
        token
        for name in (persona.name, persona.user_display_name, *newcomer.names)
        for token in tokenizer.tokenize(name)
    }
    near: list[int] = []
    for text, vector in zip(newcomer.texts[:MAX_TEXTS], newcomer.vectors, strict=False):
        if embeds_script_of(text):
            near += [node for node, _ in vectors.nearest(persona.pk, vector, NEIGHBOURS)]
            continue
        # The nodes that contain most of the words; rare words count for more.
        words = [token for token in tokenizer.content_words(text) if token not in tokens][:MAX_WORDS]
        weights: dict[int, float] = defaultdict(float)
        for nodes in vectors.find_by_terms(persona.pk, words, COMMON).values():
            for node in nodes.tolist():
                weights[node] += 1 / len(nodes)
        near += sorted(weights, key=lambda node: (-weights[node], node))[:NEIGHBOURS]
    mentioned = defaultdict(list)
    for node, entity in Mention.objects.filter(node__in=set(near)).values_list("node_id", "entity_id"):
        mentioned[node].append(entity)
    return (entity for node in dict.fromkeys(near) for entity in mentioned[node])


def _profiles(entities: Iterable[KnownEntity]) -> dict[int, Profile]:
    """Each entity with its newest memories, their vectors, and the names of other entities in them."""
    memories: dict[KnownEntity, dict[int, str]] = {}
    for entity in entities:
        newest = ConceptNode.objects.filter(mentions__entity=entity.pk).recallable().newest_first()
        memories[entity] = dict(newest.values_list("pk", "description")[: knobs.memories_compared()])
    nodes = [node for descriptions in memories.values() for node in descriptions]
    stored_vectors = vectors.of(nodes)
    company: dict[int, set[tuple[int, str]]] = defaultdict(set)
    rows = Mention.objects.filter(node__in=nodes, entity__aliases__isnull=False)
    for node, pk, name in rows.values_list("node_id", "entity_id", "entity__aliases__normalized"):
        company[node].add((pk, name))
    profiles = {}
    for entity, descriptions in memories.items():
        embedded_nodes = [node for node in descriptions if node in stored_vectors]
        others = {name for node in embedded_nodes for pk, name in company.get(node, ()) if pk != entity.pk}
        profiles[entity.pk] = Profile(
            names=entity.names,
            kind=entity.kind,
            texts=tuple(descriptions[node] for node in embedded_nodes),
            vectors=np.stack([stored_vectors[node] for node in embedded_nodes])
            if embedded_nodes
            else np.zeros((0, 0), dtype=np.float32),
            company=frozenset(others - entity.normalized),
            relation=entity.relation,
        )
    return profiles
