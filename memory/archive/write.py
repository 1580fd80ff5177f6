"""Writes a persona as an archive: a record for each row, which `read` restores.

The same memory gives the same bytes, except for the header's time; restored in an empty installation, it gives them
again. An id is the external id of a row, else its uuid. The keys of saved rows are collected when the first record is
requested; then rows are read in batches, and no reader stays open meanwhile, because that would delay a checkpoint.

Left out: sessions off the record; x-rays of replies and the working data of consolidation; users other than the owner.
A turn that is being answered is saved as interrupted.
"""

import json
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.db import transaction

from echovessel.embeddings import model_names
from memory.archive import auxiliary_records, imported_files, merges, parts, tables
from memory.archive.parts import Names, Part, Table, Values, in_batches, iso_format
from memory.archive.schema import FORMAT, VERSION
from memory.store import active_model
from persona.models import CoreBlock, Persona

TABLES: tuple[tuple[str, Table], ...] = (
    ("session", tables.SESSION),
    ("turn", tables.TURN),
    ("message", tables.MESSAGE),
    ("node", tables.NODE),
    ("entity", tables.ENTITY),
)


def archive_lines(persona: Persona, now: datetime) -> Iterator[bytes]:
    """The lines of the archive, each with its line break. Records of types with several records have their place."""
    count = Counter[str]()
    for kind, values in archive_records(persona, now):
        count[kind] += 1
        place = {} if kind in ("header", "persona") else {"place": count[kind]}
        record = {"type": kind, **values, **place}
        yield json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def archive_records(persona: Persona, now: datetime) -> Iterator[tuple[str, Values]]:
    """The type and the fields of each record, in the order of an archive."""
    with transaction.atomic():
        saved = parts.saved_keys(persona)
    model, dimension, *_ = active_model.in_use()
    names = Names(persona, saved, model)
    yield (
        "header",
        {
            "format": FORMAT,
            "version": VERSION,
            "exported_at": iso_format(now),
            "embedding_model": model or None,
            "embedding_dimensions": dimension or None,
            "embedding_prefix": model_names.parse(model).document_prefix if model else None,
        },
    )
    yield from (("persona", values) for values in tables.PERSONA.write(names, [persona]))
    for block in CoreBlock.objects.filter(persona=persona).order_by("label"):
        states = [*block.versions.order_by("version"), block]
        yield from (("block_version", values) for values in tables.BLOCK_VERSION.write(names, states))
    for part in (auxiliary_records.TOMBSTONES, imported_files.FILES):
        yield from ((part.kind, values) for values in part.write(names))
    for kind, table in TABLES:
        for keys in in_batches(names.saved[table.model]):
            by_key: dict[Any, Any] = table.model._default_manager.in_bulk(keys)
            rows = [by_key[key] for key in keys if key in by_key]  # without rows deleted meanwhile
            yield from ((kind, values) for values in table.write(names, rows))
    for part in other_parts():
        yield from ((part.kind, values) for values in part.write(names))


def other_parts() -> tuple[Part, ...]:
    """The parts that are loaded after sessions, memories and entities, in loading order."""
    return (merges.PROPOSALS, *auxiliary_records.PARTS, *imported_files.PARTS, *parts.parts_of_apps())
