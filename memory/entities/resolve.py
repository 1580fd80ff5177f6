"""The entity that a name means (design/consolidation.md, Entities 1 to 5).

1. The only entity with the name. If there are several, their memories may tell them apart; else the only confirmed
   one, else the uncertain one that stands for all of them.
2. If there is none: an entity with similar names and memories (similarity.py), if it is surely the same; or a new
   uncertain one with a question for people; or a new one.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from echovessel.db.compiled_queries import Query, insert
from echovessel.db.sqlite import bulk
from echovessel.language.person_names import is_name, normalize_name, occurs
from echovessel.language.roles import born_to
from memory import knobs
from memory.entities.comparison import Candidates
from memory.entities.merge import propose
from memory.entities.similarity import Profile, compatible, nearest_bearer, only_match
from memory.entities.stream_events import MergeStatus, announce
from memory.models import Alias, ConceptNode, Entity, Mention
from persona.models import Persona

MAX_NAME = 120
_OTHER_NAME = re.compile(
    r"\b(?:called|nicknamed|known as|goes by|nickname is|calls? (?:her|him|them)|also named)\s+[\"“'‘]?"
    r"([A-Z][\w'-]*\w)|(?:也叫|又叫|小名|昵称|外号|别名)(?:是|叫|为)?[“「\"]?([\u3400-\u9fff]{1,4}|[A-Z][\w-]+)"
)
SAME_NAME = 1.0
_facts_about_both: Query[tuple[str]] = Query(
    lambda persona: (
        ConceptNode.objects.active()
        .filter(
            persona=persona,
            kind=ConceptNode.Kind.FACT,
            subject__in=[ConceptNode.Subject.USER, ConceptNode.Subject.PERSONA],
            domain=ConceptNode.Domain.ABOUT,
        )
        .order_by()
        .values_list("description")
    )
)
_named: Query[Entity] = Query(
    lambda persona, name: (
        Entity.objects.filter(persona=persona, aliases__normalized=name)
        .exclude(status=Entity.Status.MERGED)
        .distinct()
        .order_by("id")
    )
)


@dataclass(frozen=True)
class MentionedName:
    """A name in a session, with its other forms and the nodes about it.

    `profile` is used for comparing, `relation` is the relation to the owner. `twins` are entities with the same name
    that the session distinguishes from it; `beside` are all other entities that the session names.
    """

    names: Sequence[str]
    kind: str
    nodes: Sequence[ConceptNode]
    profile: Profile | None = None
    relation: str = ""
    twins: Sequence[Entity] = ()
    beside: Sequence[Entity] = ()


@dataclass(frozen=True)
class ResolvedName:
    """The entity that a name means, and how it was resolved."""

    entity: Entity
    reason: MergeStatus

    @classmethod
    def by(cls, reason: MergeStatus, entity: Entity) -> "ResolvedName":
        """An entity resolved in the way `reason`; for an uncertain one it is always `uncertain`."""
        return cls(entity, reason if entity.status == Entity.Status.CONFIRMED else "uncertain")


def resolve(persona: Persona, mention: MentionedName, candidates: Candidates | None = None) -> ResolvedName | None:
    """Find or create the entity, learn its new aliases, link the nodes that name it, and publish.

    Call inside a transaction. None if it is no name, means the owner or the persona, or occurs literally in no active
    node.
    """
    names = usable_names(persona, mention.names)
    linked = [node for node in mention.nodes if any(occurs(name, node.description) for name in names)]
    if not names or not any(node.status == ConceptNode.Status.ACTIVE for node in linked):
        return None
    candidates = candidates or Candidates()
    resolved = _find_or_create(persona, mention, names, candidates)
    entity = resolved.entity
    if entity.kind == Entity.Kind.OTHER != mention.kind:  # a known kind stays
        entity.kind = mention.kind
        entity.save(update_fields=["kind"])
    # The latest relation wins; but a brother who is called a friend stays the brother.
    is_lasting = born_to(entity.relation) and not born_to(mention.relation)
    if mention.relation and entity.relation != mention.relation and not is_lasting:
        entity.relation = mention.relation
        entity.save(update_fields=["relation"])
    others = [other for other in _bearers(persona, names[1:], mention.kind) if other != entity]
    _propose_all(persona, entity, others, "shared_alias")
    learn_aliases(entity, names if not others else names[:1])
    link(entity, linked)
    if mention.profile is not None:
        candidates.learn(entity.pk, mention.profile)
    announce(entity, resolved.reason)
    return resolved


def learn_aliases(entity: Entity, names: Iterable[str]) -> None:
    """Add the names that the entity does not have yet. Punctuation alone ("…") is no name."""
    rows = ((entity.pk, entity.persona_id, name, plain) for name in names if (plain := normalize_name(name)))
    bulk.insert_values(Alias, ("entity_id", "persona_id", "text", "normalized"), rows, ignore_conflicts=True)


def link(entity: Entity, nodes: Iterable[ConceptNode]) -> None:
    """Link nodes to the entity; each description contains one of its names."""
    rows = ((node.pk, entity.pk) for node in nodes)
    bulk.insert_values(Mention, ("node_id", "entity_id"), rows, ignore_conflicts=True)


def link_inherited(node: ConceptNode, filling: Sequence[ConceptNode]) -> None:
    """Link a thought to those entities of its sources that it names itself."""
    entities = Entity.objects.filter(mentions__node__in=filling).exclude(status=Entity.Status.MERGED).distinct()
    for entity in entities.prefetch_related("aliases"):
        if any(occurs(alias.text, node.description) for alias in entity.aliases.all()):
            link(entity, [node])


def usable_names(persona: Persona, names: Sequence[str]) -> list[str]:
    """The names worth learning, the canonical one first; empty if that is no name, or the owner's or the persona's."""
    talking = {normalize_name(name) for name in (persona.name, persona.user_display_name, *other_names(persona))}
    tidy = [" ".join(name.split())[:MAX_NAME] for name in names]
    if not tidy or not is_name(tidy[0]) or normalize_name(tidy[0]) in talking:
        return []
    once = {normalize_name(name): name for name in reversed(tidy) if is_name(name)}
    return [once[plain] for plain in reversed(once) if plain not in talking]


def other_names(persona: Persona) -> set[str]:
    """Other names of the owner and the persona, from facts about them: "Ana's friends call her Annie"."""
    return {
        name
        for (text,) in _facts_about_both(persona.pk)
        for groups in _OTHER_NAME.findall(text)
        if (name := "".join(groups))
    }


def _find_or_create(
    persona: Persona, mention: MentionedName, names: Sequence[str], candidates: Candidates
) -> ResolvedName:
    """Search by the canonical name, then by the other names, then by similarity."""
    by_name = _bearers(persona, names[:1], mention.kind) or _bearers(persona, names[1:], mention.kind)
    others = [entity for entity in by_name if entity in mention.twins or is_somebody_else(entity, mention.relation)]
    if bearers := [entity for entity in by_name if entity not in others]:
        bearer = _choose_bearer(mention, bearers, candidates)
        confirmed = [entity for entity in bearers if entity.status == Entity.Status.CONFIRMED]
        return ResolvedName.by("alias_matched", bearer or _uncertain(persona, mention, names[0], confirmed))
    if others or mention.twins:
        return ResolvedName.by("new", _uncertain(persona, mention, names[0], others or mention.twins))
    likely = candidates.likely(mention.profile) if mention.profile else {}
    living = Entity.objects.exclude(status=Entity.Status.MERGED).in_bulk(list(likely))
    # Another name of the same session is never taken for the same without asking.
    other_ids = {entity.pk for entity in mention.beside}
    likely = {
        pk: replace(like, verdict="ask") if pk in other_ids else like for pk, like in likely.items() if pk in living
    }
    if (same := only_match(likely)) is not None:
        return ResolvedName.by("similar", living[same])
    status = Entity.Status.UNCERTAIN if likely else Entity.Status.CONFIRMED
    new = _create(persona, mention, names[0], status)
    best = sorted(likely, key=lambda pk: (-likely[pk].score, pk))[: knobs.most_asked()]
    for pk in best:
        propose(persona, new, living[pk], likely[pk].score, likely[pk].reasons)
    return ResolvedName.by("new", new)


def is_somebody_else(entity: Entity, relation: str) -> bool:
    """Whether nobody can be both this and the entity's relation to the owner: a brother is no father. Friends become
    partners, and a sister may be a doctor."""
    births = born_to(relation)
    if not births or not entity.relation:
        return False
    borne = [entity.relation, *entity.absorbed.values_list("relation", flat=True)]
    return all(
        (bearer_births := born_to(relation_of_bearer)) and bearer_births.isdisjoint(births)
        for relation_of_bearer in borne
        if relation_of_bearer
    )


def _choose_bearer(mention: MentionedName, bearers: Sequence[Entity], candidates: Candidates) -> Entity | None:
    """Of several bearers the one that memories point to, else the only confirmed one; if several are confirmed, an
    uncertain one that may be any of them."""
    if mention.profile and len(bearers) > 1:
        profiles = candidates.profiles
        known_profiles = {entity.pk: profiles[entity.pk] for entity in bearers if entity.pk in profiles}
        nearest = nearest_bearer(mention.profile, known_profiles, candidates.talking)
        if nearest is not None:
            return next(entity for entity in bearers if entity.pk == nearest)
    confirmed = [entity for entity in bearers if entity.status == Entity.Status.CONFIRMED]
    uncertain = [entity for entity in bearers if entity.status == Entity.Status.UNCERTAIN]
    return next(iter(confirmed if len(confirmed) == 1 else uncertain), None)


def _bearers(persona: Persona, names: Sequence[str], kind: str) -> list[Entity]:
    """The entities of a compatible kind with one of the names, oldest first, without merged ones."""
    bearers = {entity.pk: entity for name in names for entity in _named(persona.pk, normalize_name(name))}
    return [bearers[pk] for pk in sorted(bearers) if compatible(bearers[pk].kind, kind)]


def _create(persona: Persona, mention: MentionedName, name: str, status: str) -> Entity:
    new = Entity(persona=persona, canonical_name=name, kind=mention.kind, relation=mention.relation, status=status)
    insert(new)
    return new


def _uncertain(persona: Persona, mention: MentionedName, name: str, others: Sequence[Entity]) -> Entity:
    """A new entity that may be any of `others`, with questions about it."""
    new = _create(persona, mention, name, Entity.Status.UNCERTAIN)
    _propose_all(persona, new, others, "same_name")
    return new


def _propose_all(persona: Persona, entity: Entity, others: Iterable[Entity], reason: str) -> None:
    for other in others:
        propose(persona, entity, other, SAME_NAME, [reason])
