"""Whom a new name is compared with: a few known entities, chosen by their names and by what is remembered of them.

No vector is kept for an entity: the vectors of the memories that mention it are there already, go with them, and are
the same the new memories get. So comparing embeds nothing, and forgetting has nothing more to reach.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from echovessel.language import tokenizer
from echovessel.language.person_names import normalize_name
from memory import knobs
from memory.entities import spelling
from memory.entities.similarity import Likeness, Profile, compatible, is_read, likeness
from memory.models import Alias, ConceptNode, Entity, Mention
from memory.store import vectors
from persona.models import Persona

NEIGHBOURS = 40
TEXTS_SOUGHT = 4
WORDS_SOUGHT = 48
COMMON = 300  # a word that more nodes hold finds the newest of these


@dataclass
class Candidates:
    """The known entities that new names are compared with, and those that join them meanwhile."""

    talking: Sequence[str] = ()
    profiles: dict[int, Profile] = field(default_factory=dict)

    def likely(self, newcomer: Profile) -> dict[int, Likeness]:
        """Those that could be the newcomer, by key."""
        found = {pk: likeness(newcomer, known, self.talking) for pk, known in self.profiles.items()}
        return {pk: one for pk, one in found.items() if one.verdict != "other"}

    def learn(self, entity: int, seen: Profile) -> None:
        """Know the entity by what was seen of it just now as well."""
        known = self.profiles.get(entity)
        self.profiles[entity] = _joined(known, seen) if known else seen

    def join(self, other: "Candidates") -> None:
        self.profiles.update(other.profiles)


@dataclass(frozen=True)
class KnownEntity:
    """An entity as its names tell."""

    pk: int
    kind: str
    names: tuple[str, ...]


def candidates_for(persona: Persona, newcomers: Sequence[Profile]) -> Candidates:
    """Everybody whom `newcomers` are worth comparing with, at most `entities.compared` for each. Reads only.

    Whose name one alone bears is that one, and is compared with nobody.
    """
    circle = Candidates((persona.name, persona.called))
    if not newcomers:
        return circle
    living = Alias.objects.filter(persona=persona).exclude(entity__status=Entity.Status.MERGED)
    names: dict[tuple[int, str], list[str]] = defaultdict(list)
    for pk, kind, text in living.order_by("id").values_list("entity_id", "entity__kind", "text"):
        names[pk, kind].append(text)
    known = {pk: KnownEntity(pk, kind, tuple(theirs)) for (pk, kind), theirs in names.items()}
    unclear = [newcomer for newcomer in newcomers if len(_bearers(newcomer, known)) != 1]
    chosen = {one.pk: one for newcomer in unclear for one in _worth_comparing(persona, newcomer, known)}
    circle.profiles = _profiles(chosen.values())
    return circle


def _joined(one: Profile, other: Profile) -> Profile:
    return replace(
        one,
        names=tuple(dict.fromkeys((*one.names, *other.names))),
        texts=(*one.texts, *other.texts),
        vectors=np.concatenate([one.vectors, other.vectors]),
        company=one.company | other.company,
    )


def _bearers(newcomer: Profile, known: Mapping[int, KnownEntity]) -> list[KnownEntity]:
    """Those of a compatible kind who bear one of the newcomer's names."""
    names = {normalize_name(name) for name in newcomer.names}
    bearing = [one for one in known.values() if any(normalize_name(name) in names for name in one.names)]
    return [one for one in bearing if compatible(one.kind, newcomer.kind)]


def _worth_comparing(persona: Persona, newcomer: Profile, known: Mapping[int, KnownEntity]) -> list[KnownEntity]:
    fitting = {pk: one for pk, one in known.items() if compatible(one.kind, newcomer.kind)}
    by_name = [one for one in fitting.values() if _names_may_be_of_one(newcomer, one)]
    near = (fitting[pk] for pk in _near(persona, newcomer) if pk in fitting)
    by_memory = [one for one in near if spelling.in_other_scripts(newcomer.names, one.names)]
    return list({one.pk: one for one in (*by_name, *by_memory)}.values())[: knobs.entities_compared()]


def _names_may_be_of_one(newcomer: Profile, known: KnownEntity) -> bool:
    if {normalize_name(name) for name in newcomer.names} & {normalize_name(name) for name in known.names}:
        return True
    return bool(spelling.reasons(newcomer.names, known.names, newcomer.kind, knobs.least_alike_spelling()))


def _near(persona: Persona, newcomer: Profile) -> Iterator[int]:
    """Entities that are mentioned in memories like the newcomer's, the likest first."""
    nodes = list(dict.fromkeys(_nodes_near(persona, newcomer)))
    mentioned = defaultdict(list)
    for node, entity in Mention.objects.filter(node__in=nodes).values_list("node_id", "entity_id"):
        mentioned[node].append(entity)
    return (entity for node in nodes for entity in mentioned[node])


def _nodes_near(persona: Persona, newcomer: Profile) -> Iterator[int]:
    named = {token for name in (persona.name, persona.called, *newcomer.names) for token in tokenizer.tokenize(name)}
    for text, vector in zip(newcomer.texts[:TEXTS_SOUGHT], newcomer.vectors, strict=False):
        if is_read(text):
            yield from (node for node, _ in vectors.nearest(persona.pk, vector, NEIGHBOURS))
        else:
            telling = [token for token in tokenizer.content_words(text) if token not in named]
            yield from _nodes_holding(persona, telling[:WORDS_SOUGHT])


def _nodes_holding(persona: Persona, telling: Sequence[str]) -> list[int]:
    """The nodes that hold most of the words, a rare one counting for more."""
    weights: dict[int, float] = defaultdict(float)
    for nodes in vectors.find_by_terms(persona.pk, telling, COMMON).values():
        for node in nodes.tolist():
            weights[node] += 1 / len(nodes)
    return sorted(weights, key=lambda node: (-weights[node], node))[:NEIGHBOURS]


def _profiles(known: Iterable[KnownEntity]) -> dict[int, Profile]:
    memories = {one: _newest_memories(one.pk) for one in known}
    nodes = [node for theirs in memories.values() for node in theirs]
    stored, company = vectors.of(nodes), _company(nodes)
    return {one.pk: _profile(one, theirs, stored, company) for one, theirs in memories.items()}


def _newest_memories(entity: int) -> dict[int, str]:
    nodes = ConceptNode.objects.filter(mentions__entity=entity).recallable().newest_first()
    return dict(nodes.values_list("pk", "description")[: knobs.memories_compared()])


def _company(nodes: Iterable[int]) -> dict[int, set[tuple[int, str]]]:
    """Who is mentioned in each node: (entity, name), normalised."""
    found: dict[int, set[tuple[int, str]]] = defaultdict(set)
    rows = Mention.objects.filter(node__in=list(nodes), entity__aliases__isnull=False)
    for node, entity, name in rows.values_list("node_id", "entity_id", "entity__aliases__normalized"):
        found[node].add((entity, name))
    return found


def _profile(
    known: KnownEntity,
    memories: Mapping[int, str],
    stored: Mapping[int, np.ndarray],
    company: Mapping[int, set[tuple[int, str]]],
) -> Profile:
    seen = [node for node in memories if node in stored]
    others = {name for node in seen for entity, name in company.get(node, ()) if entity != known.pk}
    return Profile(
        names=known.names,
        kind=known.kind,
        texts=tuple(memories[node] for node in seen),
        vectors=np.stack([stored[node] for node in seen]) if seen else np.zeros((0, 0), dtype=np.float32),
        company=frozenset(others - {normalize_name(name) for name in known.names}),
    )
