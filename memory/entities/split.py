"""Splitting an entity in two: a person chooses the names and the memories of the new entity.

This also undoes a match by similarity, which has no proposal. The two are kept apart from then on: no question about
them is asked again, and undoing that decision allows them to be merged.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.utils.translation import gettext_lazy as _

from echovessel.language.person_names import normalize_name, occurs
from memory.entities import merge
from memory.entities.resolve import learn_aliases, link
from memory.entities.stream_events import announce_split
from memory.models import Alias, Entity, Mention

WORDS = {
    "merged": _("This person was merged into another."),
    "nothing_chosen": _("Choose the names or memories that belong to somebody else."),
    "nothing_left": _("That is everything: leave at least one memory."),
    "no_memory": _("No memory belongs to your choice."),
}


class NotSplit(ValueError):
    """A refused split; `code` and message give the reason."""

    def __init__(self, code: str) -> None:
        super().__init__(WORDS[code])
        self.code = code


@dataclass(frozen=True)
class Division:
    """The new entity's share: names that move, names of both, memories that move, memories of both."""

    moved_names: frozenset[int]
    shared_names: frozenset[int]
    moved_memories: frozenset[int]
    shared_memories: frozenset[int]


def split(
    entity: Entity, aliases: Sequence[int], mentions: Sequence[int], by: AbstractBaseUser | None, now: datetime
) -> Entity:
    """Create and return the new entity with the chosen names and memories, given as keys of aliases and mentions.
    Raises NotSplit."""
    with transaction.atomic():
        entity.refresh_from_db()
        if entity.status == Entity.Status.MERGED:
            raise NotSplit("merged")
        names = {alias.pk: alias for alias in entity.aliases.order_by("pk")}
        memories = {mention.pk: mention.node for mention in entity.mentions.select_related("node").order_by("pk")}
        division = division_of(
            {pk: alias.text for pk, alias in names.items()},
            {pk: node.description for pk, node in memories.items()},
            set(aliases),
            set(mentions),
        )
        # The new entity keeps the canonical name if it has that name, else its oldest one.
        borne = [alias for pk, alias in names.items() if pk in division.moved_names | division.shared_names]
        canonical = [alias.text for alias in borne if alias.normalized == normalize_name(entity.canonical_name)]
        canonical_name = [*canonical, *(alias.text for alias in borne), entity.canonical_name][0]
        new = Entity.objects.create(persona=entity.persona, canonical_name=canonical_name, kind=entity.kind)
        Alias.objects.filter(pk__in=division.moved_names).update(entity=new)
        shared = [names[pk].text for pk in sorted(division.shared_names)]
        learn_aliases(new, shared or ([] if division.moved_names else [new.canonical_name]))
        remaining_aliases = [alias for pk, alias in names.items() if pk not in division.moved_names]
        if remaining_aliases and normalize_name(entity.canonical_name) not in {
            alias.normalized for alias in remaining_aliases
        }:
            entity.canonical_name = remaining_aliases[0].text
            entity.save(update_fields=["canonical_name"])
        Mention.objects.filter(pk__in=division.moved_memories).update(entity=new)
        link(new, [memories[pk] for pk in sorted(division.shared_memories)])
        proposal = merge.propose(entity.persona, entity, new, 1.0, [merge.SPLIT])
        merge.keep_apart(proposal, by, now)
        entity.refresh_from_db()
        announce_split(entity, new)
    return new


def division_of(
    names: Mapping[int, str], memories: Mapping[int, str], aliases: Collection[int], mentions: Collection[int]
) -> Division:
    """How the names and memories (texts by key) are divided for this choice. Pure. Raises NotSplit.

    A chosen name moves, with every memory that contains it; a memory that also contains a remaining name belongs to
    both. A chosen memory always moves; if it contains no chosen name, both entities have the names that it does
    contain. If all names and some memories are chosen, both entities have the names that occur: there are two of one
    name.
    """
    chosen_names, chosen_memories = names.keys() & aliases, memories.keys() & mentions
    if not chosen_names and not chosen_memories:
        raise NotSplit("nothing_chosen")
    moved_names = chosen_names if chosen_names != names.keys() else set[int]()
    if chosen_names and not moved_names and not chosen_memories:
        raise NotSplit("nothing_left")
    standing = {memory: {pk for pk, name in names.items() if occurs(name, text)} for memory, text in memories.items()}
    named_memories = {memory for memory, its_names in standing.items() if its_names & moved_names}
    shared = {memory for memory in named_memories - chosen_memories if standing[memory] - moved_names}
    moved = chosen_memories | (named_memories - shared)
    shared_names = {name for memory in chosen_memories - named_memories for name in standing[memory]}
    if not moved and not shared:
        raise NotSplit("no_memory")
    if moved == memories.keys():
        raise NotSplit("nothing_left")
    return Division(frozenset(moved_names), frozenset(shared_names), frozenset(moved), frozenset(shared))
