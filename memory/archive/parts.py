"""What an archive holds beside talks, memories and people: parts, each of one type of line, loaded once those are.

A part of another app says so in settings (`ARCHIVE_PARTS`), as sections of a prompt do: memory imports nothing above.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import chain, islice
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import Model, QuerySet
from django.utils.module_loading import import_string
from pydantic import BaseModel

from chat.models import Message, Session, Turn
from echovessel.db.sqlite import bulk
from memory.archive.schema import Numbered, Record
from memory.models import ConceptNode, Entity
from persona.models import Persona

AT_ONCE = 500
_UUID = re.compile("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")

Keys = Mapping[int, None]  # in the order in which they are saved
Values = dict[str, Any]


@dataclass(frozen=True)
class Names:
    """What is saved, and how an archive calls it."""

    persona: Persona
    saved: Mapping[type[Model], Keys]

    def of(self, model: type[Model], keys: Iterable[int | None]) -> dict[int | None, str]:
        """The ids in the archive of those of the rows that are saved, by key."""
        return dict(self._named(model, "pk", [key for key in keys if key in self.saved[model]]))

    def by_uuid(self, model: type[Model], uuids: Iterable[UUID | None]) -> dict[UUID | None, str]:
        """The same, by uuid."""
        return dict(self._named(model, "uuid", [uuid for uuid in uuids if uuid]))

    def _named(self, model: type[Model], by: str, keys: Collection[Any]) -> Iterator[tuple[Any, str]]:
        rows = model._default_manager.filter(persona=self.persona)
        for some in in_batches(keys):
            found = rows.filter(**{f"{by}__in": some}).values_list("pk", by, "external_id", "uuid")
            yield from ((key, archive_id(given, uuid)) for pk, key, given, uuid in found if pk in self.saved[model])

    def last_memory_through(self, key: int) -> str | None:
        """The last memory up to this key."""
        place = bisect_right(self._memories, key)
        return next(iter(self.of(ConceptNode, self._memories[place - 1 : place]).values()), None) if place else None

    @cached_property
    def _memories(self) -> list[int]:
        return sorted(self.saved[ConceptNode])

    def by(self, user: int | None) -> str | None:
        """Who it was: the owner, or nobody of whom another installation should know."""
        return "owner" if user is not None and user == self.persona.owner_id else None


@dataclass(frozen=True)
class Known:
    """The persona who is restored, and what of the archive she has."""

    persona: Persona

    def rows(self, model: type[Model], ids: Collection[str | None]) -> dict[str | None, int]:
        """Keys of the persona's rows by their ids in the archive: an external id, or the uuid of what has none."""
        return dict(self._found(model, ids, "id"))

    def contents(self, messages: Collection[str]) -> dict[str, tuple[int, str]]:
        """Keys and words of lines, in the same way."""
        return {given: (key, content) for given, key, content in self._found(Message, messages, "id", "content")}

    def _found(self, model: type[Model], ids: Collection[str | None], *names: str) -> Iterator[Any]:
        wanted = {one for one in ids if one}
        hers = {"persona_id": self.persona.pk}
        uuids = {uuid.hex: str(uuid) for uuid in uuids_among(wanted)}
        bare = bulk.select_by_values(model, hers | {"external_id": None}, "uuid", uuids, ("uuid", *names))
        yield from ((uuids[uuid], *values) for uuid, *values in bare)
        yield from bulk.select_by_values(model, hers, "external_id", wanted, ("external_id", *names))

    def uuids(self, model: type[Model], ids: Collection[str | None]) -> dict[str | None, UUID]:
        """The same, the uuids of rows."""
        keys = self.rows(model, ids)
        uuids = dict(model._default_manager.filter(pk__in=keys.values()).values_list("pk", "uuid"))
        return {given: uuids[key] for given, key in keys.items()}

    def by(self, who: str | None) -> int | None:
        return self.persona.owner_id if who == "owner" else None


Batches = Iterable[list[Numbered[Any]]]


@dataclass(frozen=True)
class Part:
    """One type of line. `lines` says what is saved; `load` stores what the persona does not have yet, and how many that
    were, and is called again with the same after an import that broke off."""

    kind: str
    record: type[Record]
    lines: Callable[[Names], Iterator[Values]]
    load: Callable[[Known, Batches], int]


@cache
def part_of_app() -> tuple[Part, ...]:
    """The parts of other apps."""
    return tuple(chain.from_iterable(import_string(path) for path in settings.ARCHIVE_PARTS))


def beside_defaults(record: type[BaseModel], **values: Any) -> Values:
    """Those of the values that the reader would not suppose by itself."""
    return {
        name: value
        for name, value in values.items()
        if value != record.model_fields[name].get_default(call_default_factory=True)
    }


def archive_id(external_id: str | None, uuid: UUID) -> str:
    """The id of a row in an archive."""
    return external_id or str(uuid)


def uuids_among(ids: Iterable[str]) -> list[UUID]:
    """Those of `ids` that are uuids, as an export writes them."""
    return [UUID(one) for one in ids if _UUID.fullmatch(one)]


def in_batches(keys: Iterable[Any]) -> Iterator[list[Any]]:
    """The keys, so many at a time that a statement can ask for."""
    rest = iter(keys)
    while some := list(islice(rest, AT_ONCE)):
        yield some


def in_order(rows: QuerySet[Any]) -> Iterator[Any]:
    """The rows in their order, some at a time, and no reader stays open meanwhile; what goes meanwhile is left out."""
    for keys in in_batches(list(rows.values_list("pk", flat=True))):
        found = rows.in_bulk(keys)
        yield from (found[key] for key in keys if key in found)


def saved_keys(persona: Persona) -> Mapping[type[Model], Keys]:
    """The keys of what is saved, by table."""
    talks = persona.sessions.filter(off_the_record=False)
    messages = persona.messages.on_record().order_by("created_at", "pk")
    merged = Entity.Status.MERGED
    return {
        Session: _keys(talks.order_by("started_at", "pk")),
        # As their first lines were said: they come with these.
        Turn: dict.fromkeys(messages.exclude(turn=None).values_list("turn_id", flat=True)),
        Message: _keys(messages),
        # As they were made: what the slow cycle has read is told by keys.
        ConceptNode: _keys(persona.nodes.order_by("pk")),
        # Whoever lives on in another comes after that one.
        Entity: dict.fromkeys(
            [
                *_keys(persona.entities.exclude(status=merged).order_by("created_at", "pk")),
                *_keys(persona.entities.filter(status=merged).order_by("created_at", "pk")),
            ]
        ),
    }


def _keys(rows: QuerySet[Any]) -> Keys:
    return dict.fromkeys(rows.values_list("pk", flat=True))
