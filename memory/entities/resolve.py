"""Which entity a name means (design/consolidation.md, Entities 1 to 5).

1. Whoever bears the name, if that is one. Where several do, what is remembered of them may tell whom is meant; else
   it is the one confirmed entity, else the uncertain one that stands for all of them.
2. Where nobody bears it, somebody whose names and memories are like it (similarity.py): the same; or somebody new and
   uncertain, about whom people are asked; or somebody new.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from echovessel.language.person_names import is_name, normalize_name, occurs
from memory import knobs
from memory.entities.comparison import Candidates
from memory.entities.merge import propose
from memory.entities.similarity import Likeness, Profile, compatible, nearest_bearer, only_match
from memory.entities.stream_events import MergeStatus, announce
from memory.models import Alias, ConceptNode, Entity, Mention
from persona.models import Persona

LONGEST_NAME = 120
SAME_NAME = 1.0


@dataclass(frozen=True)
class MentionedName:
    """A name that came up: with its other forms, and the nodes that are said to be about it.

    `profile` is what is known of it, for comparing; `twins` are those whom the same talk tells apart from it, though
    they bear its name; `beside` all those that the talk names besides.
    """

    names: Sequence[str]
    kind: str
    nodes: Sequence[ConceptNode]
    profile: Profile | None = None
    twins: Sequence[Entity] = ()
    beside: Sequence[Entity] = ()


@dataclass(frozen=True)
class ResolvedName:
    """The entity that a name was found to mean, and how."""

    entity: Entity
    how: MergeStatus

    @classmethod
    def by(cls, how: MergeStatus, entity: Entity) -> "ResolvedName":
        """What was found `how`; of an uncertain entity nothing better can be said than that."""
        return cls(entity, how if entity.status == Entity.Status.CONFIRMED else "uncertain")


def resolve(persona: Persona, named: MentionedName, circle: Candidates | None = None) -> ResolvedName | None:
    """Find or make the entity, learn its new aliases, link the nodes that name it, and publish.

    Call inside a transaction. None where it is no name, means the user or the persona, or stands literally in no
    node that may be recalled.
    """
    names = usable_names(persona, named.names)
    linked = [node for node in named.nodes if any(occurs(name, node.description) for name in names)]
    if not names or not any(node.status == ConceptNode.Status.ACTIVE for node in linked):
        return None
    circle = circle or Candidates()
    found = _meant(persona, named, names, circle)
    # Now that it is told what the entity is, know it; what was known stays.
    entity = found.entity
    if entity.kind == Entity.Kind.OTHER != named.kind:
        entity.kind = named.kind
        entity.save(update_fields=["kind"])
    others = [other for other in _bearers(persona, names[1:], named.kind) if other != found.entity]
    _propose_all(persona, found.entity, others, "shared_alias")
    learn_aliases(found.entity, names if not others else names[:1])
    link(found.entity, linked)
    if named.profile is not None:
        circle.learn(found.entity.pk, named.profile)
    announce(found.entity, found.how)
    return found


def learn_aliases(entity: Entity, names: Iterable[str]) -> None:
    """Add the names that the entity does not bear yet."""
    Alias.objects.bulk_create(
        [
            Alias(entity=entity, persona_id=entity.persona_id, text=name, normalized=normalize_name(name))
            for name in names
        ],
        ignore_conflicts=True,
    )


def link(entity: Entity, nodes: Iterable[ConceptNode]) -> None:
    """Note that nodes mention the entity; the caller has found a name of it in each description."""
    Mention.objects.bulk_create([Mention(node=node, entity=entity) for node in nodes], ignore_conflicts=True)


def link_inherited(node: ConceptNode, filling: Sequence[ConceptNode]) -> None:
    """Link a thought to the entities of the events it was concluded from, where it names them itself."""
    entities = Entity.objects.filter(mentions__node__in=filling).exclude(status=Entity.Status.MERGED).distinct()
    for entity in entities.prefetch_related("aliases"):
        if any(occurs(alias.text, node.description) for alias in entity.aliases.all()):
            link(entity, [node])


def usable_names(persona: Persona, names: Sequence[str]) -> list[str]:
    """The names worth knowing, the canonical one first; none where that one is no name or is one of the two
    who talk."""
    talking = {normalize_name(persona.name), normalize_name(persona.called)}
    tidy = [" ".join(name.split())[:LONGEST_NAME] for name in names]
    if not tidy or not is_name(tidy[0]) or normalize_name(tidy[0]) in talking:
        return []
    once = {normalize_name(name): name for name in reversed(tidy) if is_name(name)}
    return [once[plain] for plain in reversed(once) if plain not in talking]


def _meant(persona: Persona, named: MentionedName, names: Sequence[str], circle: Candidates) -> ResolvedName:
    """By the canonical name, and where nobody bears that, by the others; else by likeness."""
    borne = _bearers(persona, names[:1], named.kind) or _bearers(persona, names[1:], named.kind)
    bearers = [entity for entity in borne if entity not in named.twins]
    if bearers:
        return _among(persona, named, names[0], bearers, circle)
    if named.twins:
        return ResolvedName.by("new", _uncertain(persona, names[0], named.kind, named.twins))
    name = names[0]
    likely = _likely(named, circle)
    living = Entity.objects.filter(pk__in=likely).exclude(status=Entity.Status.MERGED).in_bulk()
    likely = {pk: one for pk, one in likely.items() if pk in living}
    if (same := only_match(likely)) is not None:
        return ResolvedName.by("similar", living[same])
    status = Entity.Status.UNCERTAIN if likely else Entity.Status.CONFIRMED
    made = Entity.objects.create(persona=persona, canonical_name=name, kind=named.kind, status=status)
    best = sorted(likely, key=lambda pk: (-likely[pk].score, pk))[: knobs.most_asked()]
    for pk in best:
        propose(persona, made, living[pk], likely[pk].score, likely[pk].reasons)
    return ResolvedName.by("new", made)


def _among(
    persona: Persona, named: MentionedName, name: str, bearers: Sequence[Entity], circle: Candidates
) -> ResolvedName:
    """Of those who bear the name, the one meant; for several confirmed ones, an uncertain one that may be any."""
    confirmed = [entity for entity in bearers if entity.status == Entity.Status.CONFIRMED]
    uncertain = [entity for entity in bearers if entity.status == Entity.Status.UNCERTAIN]
    sure = confirmed if len(confirmed) == 1 else uncertain
    chosen = _told_by_memories(named, bearers, circle) or next(iter(sure), None)
    return ResolvedName.by("alias_matched", chosen or _uncertain(persona, name, named.kind, confirmed))


def _told_by_memories(named: MentionedName, bearers: Sequence[Entity], circle: Candidates) -> Entity | None:
    if named.profile is None or len(bearers) < 2:
        return None
    known = {entity.pk: circle.profiles[entity.pk] for entity in bearers if entity.pk in circle.profiles}
    nearest = nearest_bearer(named.profile, known, circle.talking)
    return next((entity for entity in bearers if entity.pk == nearest), None)


def _likely(named: MentionedName, circle: Candidates) -> dict[int, Likeness]:
    """Those that could be meant. Whom the talk names besides is never taken for the same without asking."""
    if named.profile is None:
        return {}
    beside = {entity.pk for entity in named.beside}
    found = circle.likely(named.profile)
    return {pk: replace(one, verdict="ask") if pk in beside else one for pk, one in found.items()}


def _bearers(persona: Persona, names: Sequence[str], kind: str) -> list[Entity]:
    """The entities that bear one of the names, of a compatible kind, oldest first; merged ones live on in others."""
    bearing = Entity.objects.filter(
        persona=persona, aliases__normalized__in=[normalize_name(name) for name in names]
    ).exclude(status=Entity.Status.MERGED)
    return [entity for entity in bearing.distinct().order_by("id") if compatible(entity.kind, kind)]


def _uncertain(persona: Persona, name: str, kind: str, others: Sequence[Entity]) -> Entity:
    """A new entity that may be any of `others`, and the questions about it for people."""
    made = Entity.objects.create(persona=persona, canonical_name=name, kind=kind, status=Entity.Status.UNCERTAIN)
    _propose_all(persona, made, others, "same_name")
    return made


def _propose_all(persona: Persona, entity: Entity, others: Iterable[Entity], reason: str) -> None:
    for other in others:
        propose(persona, entity, other, SAME_NAME, [reason])
