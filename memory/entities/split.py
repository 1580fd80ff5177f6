"""Splitting an entity: a person chooses the names and the memories of the other one.

It also undoes a match by likeness, which has no proposal. The two are kept apart from then on: no question about them
is asked again, and undoing that decision allows them to be merged.
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
    """A split that is not possible; `code` and message give the reason."""

    def __init__(self, code: str) -> None:
        super().__init__(WORDS[code])
        self.code = code


@dataclass(frozen=True)
class Division:
    """The share of the other one: names that move, names that both bear, memories that move, memories of both."""

    moved_names: frozenset[int]
    shared_names: frozenset[int]
    moved_memories: frozenset[int]
    shared_memories: frozenset[int]


def split(
    entity: Entity, aliases: Sequence[int], mentions: Sequence[int], by: AbstractBaseUser | None, now: datetime
) -> Entity:
    """The new entity, with the names and the memories chosen, given as keys of aliases and of mentions. Raises
    NotSplit."""
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
        # The other one; it goes by the name that the one goes by where it bears that, else by its oldest.
        borne = [alias for pk, alias in names.items() if pk in division.moved_names | division.shared_names]
        canonical = [alias.text for alias in borne if alias.normalized == normalize_name(entity.canonical_name)]
        called = [*canonical, *(alias.text for alias in borne), entity.canonical_name][0]
        new = Entity.objects.create(persona=entity.persona, canonical_name=called, kind=entity.kind)
        Alias.objects.filter(pk__in=division.moved_names).update(entity=new)
        shared = [names[pk].text for pk in sorted(division.shared_names)]
        learn_aliases(new, shared or ([] if division.moved_names else [new.canonical_name]))
        left = [alias for pk, alias in names.items() if pk not in division.moved_names]
        if left and normalize_name(entity.canonical_name) not in {alias.normalized for alias in left}:
            entity.canonical_name = left[0].text
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
    """How names and memories, texts by key, are divided where these are chosen. Pure. Raises NotSplit.

    A chosen name moves, with every memory that it stands in; one in which a name that stays stands as well is of both.
    A chosen memory moves in any case; where no chosen name stands in it, both bear the names that do. Where all names
    are chosen and some memories, both bear the name: there are two of it.
    """
    chosen_names, chosen = names.keys() & aliases, memories.keys() & mentions
    if not chosen_names and not chosen:
        raise NotSplit("nothing_chosen")
    moved_names = chosen_names if chosen_names != names.keys() else set[int]()
    if chosen_names and not moved_names and not chosen:
        raise NotSplit("nothing_left")
    standing = {memory: {pk for pk, name in names.items() if occurs(name, text)} for memory, text in memories.items()}
    named = {memory for memory, its_names in standing.items() if its_names & moved_names}
    shared = {memory for memory in named - chosen if standing[memory] - moved_names}
    moved = chosen | (named - shared)
    shared_names = {name for memory in chosen - named for name in standing[memory]}
    if not moved and not shared:
        raise NotSplit("no_memory")
    if moved == memories.keys():
        raise NotSplit("nothing_left")
    return Division(frozenset(moved_names), frozenset(shared_names), frozenset(moved), frozenset(shared))
