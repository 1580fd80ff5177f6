"""Archives of EchoVessel as imported files: the memories of another persona, stored as they are.

An archive needs no consolidation: its memories come with their evidence, and no model is called. The importing persona
itself does not change, except that it learns the owner's name if it has none. The core blocks of the archive become
drafts, word for word.
"""

import io
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any, BinaryIO
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memory.archive import ArchiveError, BrokenLine, import_archive, parts, schema
from memory.archive.read import PASSES
from memory.archive.schema import MessageRecord, PersonaRecord
from memory.imports.readers import Source
from memory.imports.readers.types import ImportRejected
from memory.models import ImportRun
from memory.store import tombstones
from persona.models import Persona
from persona.onboarding import drafts
from persona.onboarding.drafts import DraftSource

NAME = "archive"
LABEL = gettext_lazy("EchoVessel archive")
_SUFFIX = ".jsonl"
_MARK = f'"{schema.FORMAT}"'.encode()
# Bytes that are read between two calls of `heartbeat`.
_HEARTBEAT_BYTES = 512 * 1024
# The number of steps in which progress is stored.
STEPS = 100
# Types of line, and the names under which they are counted.
_COUNTED = {"session": "talks", "message": "lines", "node": "remembered", "entity": "entities"}


@dataclass
class ArchiveImport:
    """The results, counted by "talks", "lines", "remembered", "entities" and "drafts": the rows of this import, and the
    records refused because they were forgotten here."""

    added: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)

    def counts(self, record_counts: Mapping[str, int]) -> dict[str, int]:
        """The counts of an import: what was added, and how many of the file's messages, memories and entities were
        refused or known."""
        in_file = {name: count for name, count in record_counts.items() if name in ("lines", "remembered", "entities")}
        present_count = sum(count - self.refused[name] - self.added[name] for name, count in in_file.items())
        return dict(self.added) | {"refused": self.refused.total(), "known": max(0, present_count)}


def is_archive(source: Source) -> bool:
    """Whether the file is an archive, or a zip with one or several of them."""
    if source.sample.members:
        return bool(_members(source))
    return _begins_with_header(source.sample.head)


def survey(source: Source, heartbeat: Callable[[], None] = lambda: None) -> dict[str, Any]:
    """The contents of the archive, with every line checked; `heartbeat` is called with each. Raises ImportRejected for
    the first broken line."""
    counted_records = _ArchiveContents()
    with _open_archive(source) as file:
        schema.read_header(file)
        types = {**schema.TYPES, **{part.kind: part.record for part in parts.parts_of_apps()}}
        for raw_line in schema.raw_lines(file):
            heartbeat()
            counted_records.note(raw_line.type, schema.parse_record(raw_line, types))
    if not counted_records.has_persona:
        raise ImportRejected("archive_broken", reason=_("the line with the persona is missing"))
    return counted_records.as_findings()


def import_file(
    persona: Persona,
    run: ImportRun,
    source: Source,
    now: datetime,
    heartbeat: Callable[[float], None] = lambda part: None,
) -> ArchiveImport:
    """Store everything that the persona does not have yet; rows get the uuid of `run`.

    After a kill, a second call continues. `heartbeat` is called regularly with the share that is done (0…1); its errors
    end the import. Raises ImportRejected and embedding.EmbeddingUnavailable. No transaction may be open.
    """
    with _open_archive(source) as file:
        reading = _ReadProgress(file.seek(0, io.SEEK_END) * PASSES, heartbeat)
        result = import_archive(file, persona.owner, into=persona, run=run, progress=reading.advance)
        refused = {
            {"sessions": "talks", "messages": "lines", "nodes": "remembered"}.get(kind, kind): count
            for kind, count in result.refused.items()
        }
        # The archive's core blocks become drafts, except those forgotten here. Every imported archive has a persona
        # line.
        records = (schema.parse_record(raw_line) for raw_line in schema.raw_lines(file) if raw_line.type == "persona")
        profile = next(record for record in records if isinstance(record, PersonaRecord))
        blocks = {label: text.strip() for label, text in profile.blocks.texts().items() if text.strip()}
        with transaction.atomic():
            if not ImportRun.objects.filter(pk=run.pk).exists():
                raise ArchiveError("it was forgotten during the import")
            new_blocks = {
                label: text for label, text in blocks.items() if not tombstones.refuses_draft(persona, label, text)
            }
            for label, text in new_blocks.items():
                drafts.propose(
                    persona, label, text, [DraftSource(text, where=_("core block of the archive"))], run.uuid, now
                )
        refused["drafts"] = len(blocks) - len(new_blocks)
    imported = ArchiveImport(imported_through(run.persona, run.uuid), +Counter(refused))
    ImportRun.objects.filter(pk=run.pk).update(counts=dict(imported.added))
    return imported


# --- the file ---------------------------------------------------------------------------------------------------------
def _begins_with_header(head: bytes) -> bool:
    first = head.split(b"\n", 1)[0]
    return _MARK in first and b'"header"' in first


def _members(source: Source) -> list[str]:
    """The archives in a zip."""
    names = [name for name in source.sample.members if PurePosixPath(name).suffix == _SUFFIX]
    return [name for name in names if _begins_with_header(source.sample.inside(name).head)]


@contextmanager
def _open_archive(source: Source) -> Iterator[BinaryIO]:
    """The archive's bytes; errors of the archive become ImportRejected."""
    members = _members(source)
    if len(members) > 1:
        raise ImportRejected("several_archives")
    try:
        with source.open(members[0] if members else "") as file:
            yield file
    except BrokenLine as error:
        raise ImportRejected("archive_broken", _("line %d") % error.number, reason=error.reason) from error
    except ArchiveError as error:
        raise ImportRejected("archive_broken", reason=str(error)) from error


# --- contents ---------------------------------------------------------------------------------------------------------
@dataclass
class _ArchiveContents:
    counts: Counter[str] = field(default_factory=Counter)
    unknown: int = 0
    has_persona: bool = False
    user_name: str = ""
    first: datetime | None = None
    last: datetime | None = None

    def note(self, kind: str, parsed: schema.Record | None) -> None:
        self.unknown += parsed is None
        if isinstance(parsed, PersonaRecord):
            self.has_persona, self.user_name = True, parsed.user_name
        if kind in _COUNTED:
            self.counts[_COUNTED[kind]] += 1
        if isinstance(parsed, MessageRecord):
            self.first = min(self.first or parsed.created_at, parsed.created_at)
            self.last = max(self.last or parsed.created_at, parsed.created_at)

    def as_findings(self) -> dict[str, Any]:
        return {
            "format": NAME,
            "label": str(LABEL),
            "counts": dict.fromkeys(("talks", "lines", "entries", "cards", "lore", "remembered"), 0) | self.counts,
            "skipped": {"unknown": self.unknown} if self.unknown else {},
            "first_day": self.first.date().isoformat() if self.first else None,
            "last_day": self.last.date().isoformat() if self.last else None,
            "undated": 0,
            "speakers": [],
            "tokens": 0,
            "sessions": 0,
            "questions": [],
            "mapping": None,
            "sample": [],
            "called": self.user_name,
        }


# --- progress and results ---------------------------------------------------------------------------------------------
@dataclass
class _ReadProgress:
    """The progress of reading the archive, reported at intervals."""

    total_bytes: int
    heartbeat: Callable[[float], None]
    bytes_read: int = 0
    reported_bytes: int = 0

    def advance(self, size: int) -> None:
        self.bytes_read += size
        if self.bytes_read - self.reported_bytes >= _HEARTBEAT_BYTES:
            self.reported_bytes = self.bytes_read
            self.heartbeat(min(1.0, self.bytes_read / max(1, self.total_bytes)))


def imported_through(persona: Persona, uuid: UUID) -> Counter[str]:
    """The numbers of rows with the uuid of the import: the same after any number of tries."""
    rows = {
        "talks": persona.sessions.filter(import_uuid=uuid),
        "lines": persona.messages.filter(import_uuid=uuid),
        "remembered": persona.nodes.filter(import_uuid=uuid),
        "entities": persona.entities.filter(import_uuid=uuid),
        "drafts": persona.core_drafts.filter(import_uuid=uuid),
    }
    return +Counter({name: imported_rows.count() for name, imported_rows in rows.items()})
