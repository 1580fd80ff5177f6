"""Which entity a name means: the alias tier (design/consolidation.md, Entities 1, 2, 4 and 5).

Exactly one confirmed entity of a compatible kind that bears the name is the one meant. Where several do, nobody can
tell: an uncertain entity is made and people are asked. Where none does, it is somebody new. Likeness of names never
decides anything here.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from echovessel.outbox import events
from memory.entities.names import is_name, normalized, occurs
from memory.models import Alias, ConceptNode, Entity, Mention, MergeProposal
from persona.models import Persona

LONGEST_NAME = 120
SAME_NAME = 1.0

MergeStatus = Literal["new", "alias_matched", "uncertain"]


@dataclass(frozen=True)
class Named:
    """A name that came up: with its other forms, and the nodes that are said to be about it."""

    names: Sequence[str]
    kind: str
    nodes: Sequence[ConceptNode]


@dataclass(frozen=True)
class Resolved:
    """The entity that a name was found to mean, and how."""

    entity: Entity
    how: MergeStatus


def resolve(persona: Persona, named: Named) -> Resolved | None:
    """Find or make the entity, learn its new aliases, link the nodes that name it, and publish.

    Call inside a transaction. None where it is no name, means the user or the persona, or stands literally in no
    node that may be recalled.
    """
    names = _usable(persona, named.names)
    linked = [node for node in named.nodes if any(occurs(name, node.description) for name in names)]
    if not names or not any(node.status == ConceptNode.Status.ACTIVE for node in linked):
        return None
    found = _meant(persona, names, named.kind)
    _learn_kind(found.entity, named.kind)
    others = [other for other in _bearers(persona, names[1:], named.kind) if other != found.entity]
    propose(found.entity, others, "shared_alias")
    learn_aliases(found.entity, names if not others else names[:1])
    link(found.entity, linked)
    if found.entity.status == Entity.Status.CONFIRMED:
        _publish(persona, found)
    return found


def learn_aliases(entity: Entity, names: Iterable[str]) -> None:
    """Add the names that the entity does not bear yet."""
    Alias.objects.bulk_create(
        [Alias(entity=entity, persona_id=entity.persona_id, text=name, normalized=normalized(name)) for name in names],
        ignore_conflicts=True,
    )


def _learn_kind(entity: Entity, kind: str) -> None:
    """Now that it is told what the entity is, know it; what was known stays."""
    if entity.kind == Entity.Kind.OTHER != kind:
        entity.kind = kind
        entity.save(update_fields=["kind"])


def link(entity: Entity, nodes: Iterable[ConceptNode]) -> None:
    """Note that nodes mention the entity; the caller has found a name of it in each description."""
    Mention.objects.bulk_create([Mention(node=node, entity=entity) for node in nodes], ignore_conflicts=True)


def link_inherited(node: ConceptNode, filling: Sequence[ConceptNode]) -> None:
    """Link a thought to the entities of the events it was concluded from, where it names them itself."""
    entities = Entity.objects.filter(mentions__node__in=filling).exclude(status=Entity.Status.MERGED).distinct()
    for entity in entities.prefetch_related("aliases"):
        if any(occurs(alias.text, node.description) for alias in entity.aliases.all()):
            link(entity, [node])


def compatible(one: str, other: str) -> bool:
    """Whether two kinds can be of the same: equal, or one of them unknown."""
    return one == other or Entity.Kind.OTHER in (one, other)


def _usable(persona: Persona, names: Sequence[str]) -> list[str]:
    """The names worth knowing, the canonical one first; none where that one is no name or is one of the two
    who talk."""
    talking = {normalized(persona.name), normalized(persona.called)}
    tidy = [" ".join(name.split())[:LONGEST_NAME] for name in names]
    if not tidy or not is_name(tidy[0]) or normalized(tidy[0]) in talking:
        return []
    once = {normalized(name): name for name in reversed(tidy) if is_name(name)}
    return [once[plain] for plain in reversed(once) if plain not in talking]


def propose(entity: Entity, others: Iterable[Entity], reason: str) -> None:
    """Ask people whether the entity is one of the others, once for each pair, whatever was answered before."""
    pairs = [sorted((entity, other), key=lambda one: one.pk) for other in others if other != entity]
    MergeProposal.objects.bulk_create(
        [MergeProposal(a=a, b=b, score=SAME_NAME, reasons=[reason]) for a, b in pairs], ignore_conflicts=True
    )


def _meant(persona: Persona, names: Sequence[str], kind: str) -> Resolved:
    """By the canonical name, and where nobody bears that, by the others."""
    bearers = _bearers(persona, names[:1], kind) or _bearers(persona, names[1:], kind)
    confirmed = [entity for entity in bearers if entity.status == Entity.Status.CONFIRMED]
    if len(confirmed) == 1:
        return Resolved(confirmed[0], "alias_matched")
    uncertain = [entity for entity in bearers if entity.status == Entity.Status.UNCERTAIN]
    if uncertain:
        return Resolved(uncertain[0], "uncertain")
    if confirmed:
        return Resolved(_uncertain(persona, names[0], kind, confirmed), "uncertain")
    return Resolved(Entity.objects.create(persona=persona, canonical_name=names[0], kind=kind), "new")


def _bearers(persona: Persona, names: Sequence[str], kind: str) -> list[Entity]:
    """The entities that bear one of the names, of a compatible kind, oldest first; merged ones live on in others."""
    bearing = Entity.objects.filter(
        persona=persona, aliases__normalized__in=[normalized(name) for name in names]
    ).exclude(status=Entity.Status.MERGED)
    return [entity for entity in bearing.distinct().order_by("id") if compatible(entity.kind, kind)]


def _uncertain(persona: Persona, name: str, kind: str, others: Sequence[Entity]) -> Entity:
    """A new entity that may be any of `others`, and the questions about it for people."""
    made = Entity.objects.create(persona=persona, canonical_name=name, kind=kind, status=Entity.Status.UNCERTAIN)
    propose(made, others, "same_name")
    return made


def _publish(persona: Persona, found: Resolved) -> None:
    events.publish(
        persona.uuid,
        "memory.entity.confirmed",
        entity_id=str(found.entity.uuid),
        canonical_name=found.entity.canonical_name,
        kind=found.entity.kind,
        merge_status=found.how,
    )
