"""The tables of fields that archive records are written and read with, and parts of other apps.

A `Table` lists the fields of one record type in archive order, each with its column and the codec that writes and reads
it. A `Part` is a table of independent records: it is loaded after sessions, messages, memories and entities. Other apps
list theirs in settings (`ARCHIVE_PARTS`), like sections of a prompt, because memory imports no higher app.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, cached_property
from itertools import chain, islice
from operator import attrgetter
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Model, QuerySet
from django.utils.module_loading import import_string
from pydantic import BaseModel

from chat.models import Message, Session, Turn
from echovessel.db.sqlite import bulk
from memory.archive.schema import Numbered
from memory.models import ConceptNode, Entity, ImportJob, Thread
from persona.models import Persona

BATCH_SIZE = 500
_UUID = re.compile("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")

Keys = Mapping[int, None]  # in the order of the archive
Values = dict[str, Any]
Batches = Iterable[list[Numbered[Any]]]


@dataclass(frozen=True)
class Names:
    """The rows that are saved, and their ids in the archive."""

    persona: Persona
    saved: Mapping[type[Model], Keys]
    embedding_model: str = ""

    def of(self, model: type[Model], keys: Iterable[int | None]) -> dict[int | None, str]:
        """The archive ids of those of the rows that are saved, by key."""
        return dict(self._named(model, "pk", [key for key in keys if key in self.saved[model]]))

    def by_uuid(self, model: type[Model], uuids: Iterable[UUID | None]) -> dict[UUID | None, str]:
        return dict(self._named(model, "uuid", [uuid for uuid in uuids if uuid]))

    def _named(self, model: type[Model], by: str, keys: Collection[Any]) -> Iterator[tuple[Any, str]]:
        rows = model._default_manager.filter(persona=self.persona)
        for batch in in_batches(keys):
            name_rows = rows.filter(**{f"{by}__in": batch}).values_list("pk", by, "external_id", "uuid")
            yield from (
                (key, archive_id(external, uuid)) for pk, key, external, uuid in name_rows if pk in self.saved[model]
            )

    def last_memory_through(self, key: int) -> str | None:
        """The id of the last saved memory up to this key."""
        place = bisect_right(self.memory_keys, key)
        return next(iter(self.of(ConceptNode, self.memory_keys[place - 1 : place]).values()), None) if place else None

    @cached_property
    def memory_keys(self) -> list[int]:
        return sorted(self.saved[ConceptNode])

    def by(self, user: int | None) -> str | None:
        """The owner as "owner"; None for any other user, because other installations should not know of them."""
        return "owner" if user is not None and user == self.persona.owner_id else None


@dataclass(frozen=True)
class IdMap:
    """The persona being restored, and the rows of the archive that it already has."""

    persona: Persona

    def rows(self, model: type[Model], ids: Collection[str | None]) -> dict[str | None, int]:
        """Keys of the persona's rows by archive id: an external id, or the uuid of rows without one."""
        return dict(self._select(model, ids, "id"))

    def contents(self, messages: Collection[str]) -> dict[str, tuple[int, str]]:
        """Keys and contents of messages by archive id."""
        return {name: (key, content) for name, key, content in self._select(Message, messages, "id", "content")}

    def _select(self, model: type[Model], ids: Collection[str | None], *names: str) -> Iterator[Any]:
        wanted_ids = {name for name in ids if name}
        of_persona = {"persona_id": self.persona.pk}
        uuids = {uuid.hex: str(uuid) for uuid in uuids_among(wanted_ids)}
        bare = bulk.select_by_values(model, of_persona | {"external_id": None}, "uuid", uuids, ("uuid", *names))
        yield from ((uuids[uuid], *values) for uuid, *values in bare)
        yield from bulk.select_by_values(model, of_persona, "external_id", wanted_ids, ("external_id", *names))

    def uuids(self, model: type[Model], ids: Collection[str | None]) -> dict[str | None, UUID]:
        """Uuids of rows by archive id."""
        keys = self.rows(model, ids)
        uuids = dict(model._default_manager.filter(pk__in=keys.values()).values_list("pk", "uuid"))
        return {name: uuids[key] for name, key in keys.items()}

    def new(self, model: type[Model], records: Iterable[Any]) -> list[Any]:
        """The records whose id the persona does not have yet, without duplicates."""
        by_id = {record.id: record for record in records}
        existing_rows = self.rows(model, by_id.keys())
        return [record for name, record in by_id.items() if name not in existing_rows]

    def by(self, author: str | None) -> int | None:
        return self.persona.owner_id if author == "owner" else None


# --- tables of fields -------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Codec:
    """How the values of a column are written and read. Both functions receive the values of a whole batch, so that ids
    are looked up together, and return a converter of single values. Without `read` the loader sets the column itself.
    With `of_row`, `write` receives rows in place of values."""

    write: Callable[[Names, list[Any]], Callable[[Any], Any]]
    read: Callable[[IdMap, list[Any]], Callable[[Any], Any]] | None = None
    of_row: bool = False


def each(write: Callable[[Any], Any], read: Callable[[Any], Any] | None = None) -> Codec:
    """A codec without look-ups."""
    return Codec(lambda names, values: write, (lambda id_map, values: read) if read else None)


def from_row(write: Callable[[Any], Any], read: Callable[[Any], Any] | None = None) -> Codec:
    """A codec without look-ups that is written from the whole row."""
    return Codec(lambda names, rows: write, (lambda id_map, values: read) if read else None, of_row=True)


def link(model: type[Model]) -> Codec:
    """The archive id of the row whose key is in the column."""
    return Codec(lambda names, keys: names.of(model, set(keys)).get, lambda id_map, ids: id_map.rows(model, ids).get)


def uuid_link(model: type[Model]) -> Codec:
    """The archive id of the row whose uuid is in the column."""
    return Codec(
        lambda names, uuids: names.by_uuid(model, set(uuids)).get, lambda id_map, ids: id_map.uuids(model, ids).get
    )


def write_only(codec: Codec) -> Codec:
    """The same codec for a column that the loader sets itself."""
    return Codec(codec.write, None, codec.of_row)


def identity(value: Any) -> Any:
    return value


def iso_format(moment: datetime | None) -> str | None:
    return moment.astimezone(UTC).isoformat() if moment else None


def read_through(id_map: IdMap, ids: list[Any]) -> Callable[[Any], int]:
    keys = id_map.rows(ConceptNode, ids)
    return lambda name: keys.get(name, 0)


def archive_id(external_id: str | None, uuid: UUID) -> str:
    """The id of a row in an archive."""
    return external_id or str(uuid)


AS_IS = each(identity, identity)
TIME = each(iso_format, identity)
# Empty texts, lists and objects are left out.
TEXT = each(lambda text: text or None, lambda text: text or "")
OBJECT = each(lambda things: things or None, lambda things: things or {})
OWNER = Codec(lambda names, users: names.by, lambda id_map, who: id_map.by)
THROUGH = Codec(lambda names, keys: names.last_memory_through, read_through)
ID = from_row(lambda row: archive_id(row.external_id, row.uuid), identity)
FILE = write_only(uuid_link(ImportJob))


@dataclass(frozen=True)
class Field:
    """One field of a record. `column` is the attribute of the row, or several that the codec converts as one tuple;
    `optional` fields are written only if their value differs from the record type's default."""

    name: str
    codec: Codec = AS_IS
    column: str | tuple[str, ...] = ""
    optional: bool = False


def optional(name: str, codec: Codec = AS_IS, column: str | tuple[str, ...] = "") -> Field:
    return Field(name, codec, column, optional=True)


@dataclass(frozen=True)
class Table:
    """The fields of one record type in archive order. `gather` adds data to the rows of a batch that fields need
    besides columns."""

    record: type[BaseModel]
    model: type[Model]
    fields: tuple[Field, ...]
    gather: Callable[[Names, list[Any]], object] | None = None

    def write(self, names: Names, rows: list[Any]) -> Iterator[Values]:
        """The records of rows. A row is left out if a row that its record must refer to was deleted meanwhile."""
        if self.gather is not None:
            self.gather(names, rows)
        writers = []
        for item in self.fields:
            column = item.column or item.name
            value_of = identity if item.codec.of_row else attrgetter(*([column] if isinstance(column, str) else column))
            default = self.record.model_fields[item.name].get_default(call_default_factory=True)
            write = item.codec.write(names, [value_of(row) for row in rows])
            writers.append((item.name, value_of, write, item.optional, default))
        for row in rows:
            columns = ((name, write(value_of(row)), *rest) for name, value_of, write, *rest in writers)
            values = {
                name: value for name, value, is_optional, default in columns if not is_optional or value != default
            }
            if not any(values.get(name, 0) is None for name in self.required):
                yield values

    @cached_property
    def required(self) -> list[str]:
        return [name for name, field in self.record.model_fields.items() if field.is_required()]

    def read(self, id_map: IdMap, records: Sequence[Any]) -> list[Values]:
        """The columns of rows, as attributes that hold keys and values."""
        readers = [
            (
                item.column or item.name,
                item.name,
                item.codec.read(id_map, [getattr(record, item.name) for record in records]),
            )
            for item in self.fields
            if item.codec.read is not None
        ]
        rows = []
        for record in records:
            row: Values = {}
            for columns, name, convert in readers:
                value = convert(getattr(record, name))
                row.update(((columns, value),) if isinstance(columns, str) else zip(columns, value, strict=True))
            rows.append(row)
        return rows


def load_new(id_map: IdMap, records: Sequence[Any], table: Table) -> int:
    """Store the records whose id the persona does not have yet; returns how many."""
    rows = table.read(id_map, id_map.new(table.model, records))
    return len(table.model._default_manager.bulk_create(table.model(persona=id_map.persona, **row) for row in rows))


@dataclass(frozen=True)
class Part:
    """One type of independent records. `load` stores the records of a batch that the persona does not have yet, in a
    transaction, and returns their number; after an interrupted import it is called again with the same records. `rows`
    are the rows to save, by default all of the persona; parts with
    `in_one_transaction` are loaded all or nothing."""

    kind: str
    table: Table
    load: Callable[[IdMap, list[Any], Table], int] = load_new
    rows: Callable[[Names], QuerySet[Any]] | None = None
    in_one_transaction: bool = False

    @property
    def record(self) -> Any:
        return self.table.record

    def write(self, names: Names) -> Iterator[Values]:
        own = self.table.model._default_manager.filter
        rows = self.rows(names) if self.rows else own(persona=names.persona).order_by("pk")
        for keys in in_batches(list(rows.values_list("pk", flat=True))):
            by_key = rows.in_bulk(keys)
            yield from self.table.write(names, [by_key[key] for key in keys if key in by_key])

    def load_batches(self, id_map: IdMap, batches: Batches) -> int:
        added = 0
        for batch in [[*chain.from_iterable(batches)]] if self.in_one_transaction else batches:
            with transaction.atomic():
                added += self.load(id_map, [numbered.record for numbered in batch], self.table)
        return added


@cache
def parts_of_apps() -> tuple[Part, ...]:
    return tuple(chain.from_iterable(import_string(path) for path in settings.ARCHIVE_PARTS))


def uuids_among(ids: Iterable[str]) -> list[UUID]:
    """Those of `ids` that are uuids as an export writes them."""
    return [UUID(name) for name in ids if _UUID.fullmatch(name)]


def in_batches(keys: Iterable[Any]) -> Iterator[list[Any]]:
    """The keys in batches that fit into one statement."""
    remaining = iter(keys)
    while batch := list(islice(remaining, BATCH_SIZE)):
        yield batch


def in_order(rows: QuerySet[Any]) -> Iterator[Any]:
    """The rows in order, in batches: no reader stays open meanwhile, and rows deleted meanwhile are left out."""
    for keys in in_batches(list(rows.values_list("pk", flat=True))):
        by_key = rows.in_bulk(keys)
        yield from (by_key[key] for key in keys if key in by_key)


def saved_keys(persona: Persona) -> Mapping[type[Model], Keys]:
    """The keys of the rows to save, by model, in archive order."""
    messages = persona.messages.on_record().order_by("created_at", "pk")
    entities = persona.entities.order_by("created_at", "pk")
    merged = {"status": Entity.Status.MERGED}
    rows: dict[type[Model], Iterable[QuerySet[Any]]] = {
        Session: [persona.sessions.filter(off_the_record=False).order_by("started_at", "pk")],
        Message: [messages],
        # In the order of their keys: the slow cycle refers to events by key.
        ConceptNode: [persona.nodes.order_by("pk")],
        # A merged entity comes after its survivor.
        Entity: [entities.exclude(**merged), entities.filter(**merged)],
        Thread: [persona.threads.order_by("pk")],
        ImportJob: [ImportJob.objects.filter(persona=persona).exclude(confirmed_at=None).order_by("pk")],
    }
    keys = {
        model: dict.fromkeys(chain.from_iterable(q.values_list("pk", flat=True) for q in rows[model])) for model in rows
    }
    # Turns are saved with their messages, in the order of their first messages.
    return {**keys, Turn: dict.fromkeys(messages.exclude(turn=None).values_list("turn_id", flat=True))}
