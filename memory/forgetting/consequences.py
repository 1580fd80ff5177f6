"""Consequences: what nothing is left of once the memories and lines have gone. Talks without a line, turns without one,
names without a bearer, bearers without a memory. Reads only."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import cast

from django.db.models import Q

from chat import search
from chat.models import Message, Session, Turn
from echovessel.language import tokenizer
from echovessel.language.person_names import normalized, occurs
from memory.forgetting.collect import Reach
from memory.forgetting.registry import among
from memory.models import Alias, ConceptNode, Entity, Mention


@dataclass
class Consequences:
    """Rows by key. `touched` are the talks of which something goes or is put away, those that go included; `described`
    the entities that stay and were described from what goes, `by_people` those that a person described."""

    touched: dict[int, Session] = field(default_factory=dict)
    sessions: dict[int, str] = field(default_factory=dict)
    turns: set[int] = field(default_factory=set)
    replied: set[int] = field(default_factory=set)  # turns of lines that go or are put away
    entities: dict[int, Entity] = field(default_factory=dict)
    aliases: dict[int, Alias] = field(default_factory=dict)
    renamed: dict[int, str] = field(default_factory=dict)
    described: dict[int, Entity] = field(default_factory=dict)
    by_people: dict[int, Entity] = field(default_factory=dict)
    chosen_entities: set[int] = field(default_factory=set)


def consequences_of(reach: Reach) -> Consequences:
    """What follows from the fate that was decided."""
    found = Consequences(chosen_entities=set(reach.entities))
    _talks(reach, found)
    _turns(reach, found)
    _entities(reach, found)
    _names(reach, found)
    return found


# --- talks ----------------------------------------------------------------------------------------------------------
def _talks(reach: Reach, found: Consequences) -> None:
    fate = reach.fate
    touched = {reach.lines[pk].session_id for pk in (*fate.lines, *fate.withheld) if pk in reach.lines}
    made_in = (reach.nodes[pk].session_id for pk in fate.memories)
    touched |= {pk for pk in made_in if pk is not None}
    quoted = Message.objects.filter(evidence_for__node__in=among(fate.memories))
    touched |= set(quoted.values_list("session_id", flat=True))
    touched |= reach.sessions | reach.imported
    found.touched = Session.objects.filter(pk__in=among(touched)).in_bulk()
    emptied = {reach.lines[pk].session_id for pk in fate.lines if pk in reach.lines} | reach.imported
    remaining = Message.objects.filter(session__in=among(emptied)).exclude(pk__in=among(fate.lines))
    emptied -= set(remaining.values_list("session_id", flat=True))
    named = ConceptNode.objects.filter(session__in=among(emptied)).exclude(pk__in=among(fate.memories))
    emptied -= set(named.values_list("session_id", flat=True)) - reach.imported
    found.sessions = dict.fromkeys(emptied, "empty") | dict.fromkeys(reach.sessions, "chosen")


def _turns(reach: Reach, found: Consequences) -> None:
    lines = (reach.lines[pk] for pk in (*reach.fate.lines, *reach.fate.withheld) if pk in reach.lines)
    found.replied = {line.turn_id for line in lines if line.turn_id is not None}
    remaining = Message.objects.filter(turn__in=among(found.replied)).exclude(pk__in=among(reach.fate.lines))
    found.turns = found.replied - set(remaining.values_list("turn_id", flat=True))
    found.turns |= set(Turn.objects.filter(session__in=among(found.sessions)).values_list("pk", flat=True))


# --- entities -------------------------------------------------------------------------------------------------------
def _entities(reach: Reach, found: Consequences) -> None:
    """Whom nothing mentions any more, and whom they absorbed."""
    touched = Q(mentions__node__in=among(reach.fate.memories)) | Q(pk__in=among(reach.imported_entities))
    mentioned = Entity.objects.filter(touched).distinct()
    alive = Mention.objects.filter(entity__in=among(mentioned.values_list("pk", flat=True)))
    remembered = set(alive.exclude(node__in=among(reach.fate.memories)).values_list("entity_id", flat=True))
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
def _names(reach: Reach, found: Consequences) -> None:
    """The names of who goes; of who stays those that stand in what goes and nowhere else."""
    found.aliases = Alias.objects.filter(entity__in=among(found.entities)).in_bulk()
    mentions = Mention.objects.filter(node__in=among(reach.fate.memories)).exclude(entity__in=among(found.entities))
    staying = Entity.objects.filter(pk__in=among(mentions.values_list("entity_id", flat=True))).in_bulk()
    if not staying:
        return
    living = _remembered(staying, reach.fate.memories)
    names = list(Alias.objects.filter(entity__in=among(living)))
    gone = _gone_texts(reach)
    told = [name for name in names if any(occurs(name.text, text) for text in gone)]
    said = _still_said(reach, {name.text for name in told})
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


def _gone_texts(reach: Reach) -> list[str]:
    memories = [reach.nodes[pk].description for pk in reach.fate.memories]
    lines = [reach.lines[pk].content for pk in (*reach.fate.lines, *reach.fate.withheld) if pk in reach.lines]
    return [*memories, *lines]


def _still_said(reach: Reach, names: Collection[str]) -> set[str]:
    """Those of the names that stand in a line that a model may still read."""
    known = sorted(names)
    held = search.holding_all(reach.persona.pk, [tokenizer.cut(name) for name in known])
    away = {*reach.fate.lines, *reach.fate.withheld}
    return {name for name, ids in zip(known, held, strict=True) if _stands_in(name, set(ids) - away)}


def _stands_in(name: str, lines: Collection[int]) -> bool:
    """Whether the name stands in one of these lines; the first one tells."""
    shown = Message.objects.filter(pk__in=among(lines), withheld=False).order_by()
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
        elif normalized(staying[pk].canonical_name) in forms:
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
        if normalized(entity.canonical_name) in gone[into[pk]]:
            found.renamed[pk] = found.renamed.get(into[pk], staying[into[pk]].canonical_name)


def _survivor(entity: Entity, absorbed: Mapping[int, Entity]) -> int:
    """The key of the one in whom it lives on in the end."""
    key = entity.pk
    while key in absorbed:
        key = cast(int, absorbed[key].merged_into_id)
    return key
