"""Consequences: what nothing is left of once memories and messages are deleted. Sessions and turns without a message,
names without an entity, entities without a memory. Reads only."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import cast

from django.db.models import Q

from chat import search
from chat.models import Message, Session, Turn
from echovessel.language import tokenizer
from echovessel.language.person_names import normalize_name, occurs
from memory.forgetting.collect import Closure
from memory.forgetting.registry import among
from memory.models import Alias, ConceptNode, Entity, Mention


@dataclass
class Consequences:
    """Rows by key.

    touched: sessions of which something is deleted or withheld, deleted ones included
    described: entities that stay and were described from what is deleted
    by_people: those of them that a person described
    """

    touched: dict[int, Session] = field(default_factory=dict)
    sessions: dict[int, str] = field(default_factory=dict)
    turns: set[int] = field(default_factory=set)
    replied: set[int] = field(default_factory=set)  # turns of messages that go or are withheld
    entities: dict[int, Entity] = field(default_factory=dict)
    aliases: dict[int, Alias] = field(default_factory=dict)
    renamed: dict[int, str] = field(default_factory=dict)
    described: dict[int, Entity] = field(default_factory=dict)
    by_people: dict[int, Entity] = field(default_factory=dict)
    chosen_entities: set[int] = field(default_factory=set)


def consequences_of(closure: Closure) -> Consequences:
    """What follows from the decision."""
    found = Consequences(chosen_entities=set(closure.entities))
    _sessions(closure, found)
    _turns(closure, found)
    _entities(closure, found)
    _names(closure, found)
    return found


# --- sessions --------------------------------------------------------------------------------------------------------
def _sessions(closure: Closure, found: Consequences) -> None:
    decision = closure.decision
    touched = {
        closure.messages[pk].session_id for pk in (*decision.messages, *decision.withheld) if pk in closure.messages
    }
    made_in = (closure.nodes[pk].session_id for pk in decision.memories)
    touched |= {pk for pk in made_in if pk is not None}
    quoted = Message.objects.filter(evidence_for__node__in=among(decision.memories))
    touched |= set(quoted.values_list("session_id", flat=True))
    touched |= closure.sessions | closure.imported
    found.touched = Session.objects.filter(pk__in=among(touched)).in_bulk()
    emptied = {closure.messages[pk].session_id for pk in decision.messages if pk in closure.messages} | closure.imported
    remaining = Message.objects.filter(session__in=among(emptied)).exclude(pk__in=among(decision.messages))
    emptied -= set(remaining.values_list("session_id", flat=True))
    named = ConceptNode.objects.filter(session__in=among(emptied)).exclude(pk__in=among(decision.memories))
    emptied -= set(named.values_list("session_id", flat=True)) - closure.imported
    found.sessions = dict.fromkeys(emptied, "empty") | dict.fromkeys(closure.sessions, "chosen")


def _turns(closure: Closure, found: Consequences) -> None:
    messages = (
        closure.messages[pk]
        for pk in (*closure.decision.messages, *closure.decision.withheld)
        if pk in closure.messages
    )
    found.replied = {message.turn_id for message in messages if message.turn_id is not None}
    remaining = Message.objects.filter(turn__in=among(found.replied)).exclude(pk__in=among(closure.decision.messages))
    found.turns = found.replied - set(remaining.values_list("turn_id", flat=True))
    found.turns |= set(Turn.objects.filter(session__in=among(found.sessions)).values_list("pk", flat=True))


# --- entities -------------------------------------------------------------------------------------------------------
def _entities(closure: Closure, found: Consequences) -> None:
    """Whom nothing mentions any longer, and whom they absorbed."""
    touched = Q(mentions__node__in=among(closure.decision.memories)) | Q(pk__in=among(closure.imported_entities))
    mentioned = Entity.objects.filter(touched).distinct()
    alive = Mention.objects.filter(entity__in=among(mentioned.values_list("pk", flat=True)))
    remembered = set(alive.exclude(node__in=among(closure.decision.memories)).values_list("entity_id", flat=True))
    kept = Q(status=Entity.Status.MERGED) | Q(described_by=Entity.DescribedBy.PERSON)
    forgotten = mentioned.exclude(kept).exclude(pk__in=among(remembered))
    found.entities = forgotten.in_bulk() | Entity.objects.filter(pk__in=among(found.chosen_entities)).in_bulk()
    found.entities |= _absorbed(found.entities)
    staying = {entity.pk: entity for entity in mentioned if entity.pk not in found.entities}
    for pk, entity in (staying | _absorbed(staying)).items():
        if entity.description:
            by_person = entity.described_by == Entity.DescribedBy.PERSON
            (found.by_people if by_person else found.described)[pk] = entity


def _absorbed(entities: Collection[int]) -> dict[int, Entity]:
    """All who live on in these, however often they were merged."""
    found: dict[int, Entity] = {}
    ring: Iterable[int] = entities
    while ring:
        merged = Entity.objects.filter(merged_into__in=among(ring)).in_bulk()
        ring = [pk for pk in merged if pk not in found]
        found |= merged
    return found


# --- names ----------------------------------------------------------------------------------------------------------
def _names(closure: Closure, found: Consequences) -> None:
    """Aliases to delete: all aliases of deleted entities, and aliases of surviving entities that occur only in deleted
    text."""
    found.aliases = Alias.objects.filter(entity__in=among(found.entities)).in_bulk()
    mentions = Mention.objects.filter(node__in=among(closure.decision.memories)).exclude(
        entity__in=among(found.entities)
    )
    staying = Entity.objects.filter(pk__in=among(mentions.values_list("entity_id", flat=True))).in_bulk()
    if not staying:
        return
    living = _remembered(staying, closure.decision.memories)
    names = list(Alias.objects.filter(entity__in=among(living)))
    gone = _forgotten_texts(closure)
    told = [name for name in names if any(occurs(name.text, text) for text in gone)]
    said = _still_mentioned(closure, {name.text for name in told})
    for name in told:
        if name.text not in said and not any(occurs(name.text, text) for text in living[name.entity_id]):
            found.aliases[name.pk] = name
    _rename(staying, names, found)
    _take_from_absorbed(staying, found)


def _remembered(entities: Iterable[int], going: Mapping[int, str]) -> dict[int, list[str]]:
    """What is left of the memories of each; those of whom nothing is left keep their names."""
    left = Mention.objects.filter(entity__in=among(entities)).exclude(node__in=among(going))
    texts: dict[int, list[str]] = defaultdict(list)
    for entity, text in left.values_list("entity_id", "node__description"):
        texts[entity].append(text)
    return texts


def _forgotten_texts(closure: Closure) -> list[str]:
    memories = [closure.nodes[pk].description for pk in closure.decision.memories]
    messages = [
        closure.messages[pk].content
        for pk in (*closure.decision.messages, *closure.decision.withheld)
        if pk in closure.messages
    ]
    return [*memories, *messages]


def _still_mentioned(closure: Closure, names: Collection[str]) -> set[str]:
    """Those of the names that stand in a message that a model may still read."""
    known = sorted(names)
    held = search.find_by_all_words(closure.persona.pk, [tokenizer.tokenize(name) for name in known])
    away = {*closure.decision.messages, *closure.decision.withheld}
    return {name for name, ids in zip(known, held, strict=True) if _stands_in(name, set(ids) - away)}


def _stands_in(name: str, messages: Collection[int]) -> bool:
    """Whether the name stands in one of these messages; the first one tells."""
    shown = Message.objects.filter(pk__in=among(messages), withheld=False).order_by()
    return any(occurs(name, content) for content in shown.values_list("content", flat=True).iterator(chunk_size=100))


def _rename(staying: Mapping[int, Entity], names: Iterable[Alias], found: Consequences) -> None:
    """Who is called by a name that goes is called by another one; nobody loses the last."""
    left: dict[int, list[Alias]] = defaultdict(list)
    gone: dict[int, set[str]] = defaultdict(set)
    for name in names:
        if name.pk in found.aliases:
            gone[name.entity_id].add(name.normalized)
        else:
            left[name.entity_id].append(name)
    for pk, forms in gone.items():
        if not left[pk]:
            found.aliases = {key: name for key, name in found.aliases.items() if name.entity_id != pk}
        elif normalize_name(staying[pk].canonical_name) in forms:
            found.renamed[pk] = left[pk][0].text


def _take_from_absorbed(staying: Mapping[int, Entity], found: Consequences) -> None:
    """Who lives on in one that loses a name loses it as well, and is called as that one is."""
    gone: dict[int, set[str]] = defaultdict(set)
    for name in found.aliases.values():
        if name.entity_id in staying:
            gone[name.entity_id].add(name.normalized)
    absorbed = _absorbed(gone)
    into = {pk: _survivor(entity, absorbed) for pk, entity in absorbed.items()}
    for name in Alias.objects.filter(entity__in=among(absorbed)):
        if name.normalized in gone[into[name.entity_id]]:
            found.aliases[name.pk] = name
    for pk, entity in absorbed.items():
        if normalize_name(entity.canonical_name) in gone[into[pk]]:
            found.renamed[pk] = found.renamed.get(into[pk], staying[into[pk]].canonical_name)


def _survivor(entity: Entity, absorbed: Mapping[int, Entity]) -> int:
    """The key of the one in whom it lives on in the end."""
    key = entity.pk
    while key in absorbed:
        key = cast(int, absorbed[key].merged_into_id)
    return key
