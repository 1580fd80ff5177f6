"""The first reading of an archive, before anything is written: checks that every line is valid and its references
exist.

A record may refer to a record of the same file, or to a row that the persona already has. Ids are kept as hashes, 8
bytes each, so that years of sessions fit into little memory. Records that refer to a rejected record are rejected, too.
"""

from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO

import numpy as np
from django.db.models import Model

from chat.models import Message, Session, Turn
from echovessel.embeddings import embedding
from memory.archive import parts, schema
from memory.archive.parts import IdMap
from memory.archive.schema import (
    BrokenLine,
    DraftRecord,
    EntityRecord,
    HeaderRecord,
    LineOffsets,
    MessageRecord,
    NodeRecord,
    Numbered,
    PersonaRecord,
    RawLine,
    Record,
)
from memory.models import ConceptNode, Entity, ImportJob

LANGUAGE_SAMPLE = 4_000
LINKED = "node that refers to others"
# Quotes are checked in groups of this size, for which the quoted messages are read.
QUOTES_AT_ONCE = 4_000

Progress = Callable[[int], None]
Report = Callable[[str], None]

# The record types whose ids these fields hold.
_REFERENCE_FIELDS: Mapping[str, Mapping[str, str]] = {
    "turn": {"session": "session"},
    "message": {"session": "session", "turn": "turn"},
    "node": {
        "session": "session",
        "messages": "message",
        "filling": "node",
        "superseded_by": "node",
        "resolved_by": "node",
    },
    "node_version": {"node": "node"},
    "entity": {"nodes": "node", "merged_into": "entity"},
    "proposal": {"a": "entity", "b": "entity"},
    "mood": {"session": "session"},
    "reflection": {"session": "session"},
    "question": {"nodes": "node", "answered_by": "node"},
    "thread": {"nodes": "node"},
    "piece": {"file": "file", "session": "session"},
}
_MODELS: Mapping[str, type[Model]] = {
    "session": Session,
    "turn": Turn,
    "message": Message,
    "node": ConceptNode,
    "entity": Entity,
    "file": ImportJob,
}
_KINDS = tuple(_MODELS)


@dataclass
class Survey:
    """The persona, and the offsets of valid lines by type."""

    file: BinaryIO
    header: HeaderRecord
    skip_bad: bool
    report: Report
    types: Mapping[str, type[Record]]
    places: dict[str, LineOffsets] = field(default_factory=dict)
    persona: PersonaRecord | None = None
    sample: str = ""
    unknown: Counter[str] = field(default_factory=Counter)
    rejected: int = 0
    size: int = 0
    has_header: bool = False
    # References: type and hash of the id referred to, and the number of the referring line.
    to: "array[int]" = field(default_factory=lambda: array("B"))
    keys: "array[int]" = field(default_factory=lambda: array("q"))
    by: "array[int]" = field(default_factory=lambda: array("Q"))
    # Quotes: line number, message id, and the text that must occur in the message.
    quotes: list[tuple[int, str, str]] = field(default_factory=list)
    merged: dict[int, tuple[int, int]] = field(default_factory=dict)

    def batches(self, kind: str, progress: Progress = lambda size: None) -> Iterator[list[Numbered[Any]]]:
        """The valid lines of this type in order, in batches."""
        places = self.places.get(kind)
        for indexes in places.batches() if places else ():
            yield schema.read_records(self.file, places, indexes, progress)  # type: ignore[arg-type]

    def numbered_by_id(self, kind: str, ids: Iterable[str | None]) -> list[Numbered[Any]]:
        """The lines of this type with these ids, in the order of the file."""
        wanted_ids = {name for name in ids if name}
        places = self.places.get(kind)
        if not wanted_ids or places is None:
            return []
        names = np.asarray(places.names)
        hashes = np.fromiter(map(hash, wanted_ids), np.int64, len(wanted_ids))
        records = schema.read_records(self.file, places, np.flatnonzero(np.isin(names, hashes)).tolist())
        return [numbered for numbered in records if numbered.record.id in wanted_ids]

    def check_line(self, line: RawLine) -> None:
        """Check and note a line. Raises BrokenLine if it is invalid by itself."""
        record, unknown = schema.check_record(line, self.types)
        if record is None:
            self.unknown[f"lines of type {line.data['type'][:40]!r}"] += 1
            return
        self.unknown.update(f"field {name[:80]!r} of {record.type}" for name in unknown)
        if isinstance(record, PersonaRecord):
            if self.persona is not None:
                raise BrokenLine(line.number, "an archive holds one persona; this is a second one")
            self.persona = record
        elif isinstance(record, HeaderRecord):
            if self.has_header:
                raise BrokenLine(line.number, "a second header")
            self.has_header = True
        elif isinstance(record, NodeRecord):
            if record.id in linked_ids(record):
                raise BrokenLine(line.number, "it refers to itself")
            if has_our_vector(self.header, record):
                try:
                    record.vector(embedding.dimension())
                except ValueError as error:
                    raise BrokenLine(line.number, str(error)) from error
        elif isinstance(record, EntityRecord) and record.merged_into == record.id:
            raise BrokenLine(line.number, "it is merged into itself")
        if len(self.sample) < LANGUAGE_SAMPLE and isinstance(record, MessageRecord | NodeRecord):
            self.sample += record.content if isinstance(record, MessageRecord) else record.description
        self.note(line, record)

    def note(self, line: RawLine, record: Record) -> None:
        is_linked = isinstance(record, NodeRecord) and bool(linked_ids(record) or record.orphaned)
        for name in (record.type, LINKED) if is_linked else (record.type,):
            self.places.setdefault(name, LineOffsets(record.type, type(record))).note(line, record)
        if isinstance(record, NodeRecord | DraftRecord):
            self.quotes += ((line.number, message, quote) for message, quote in _quotes(record))
        if isinstance(record, EntityRecord) and record.merged_into:
            self.merged[hash(record.id)] = hash(record.merged_into), line.number
        for kind, reference in _references_of(record):
            self.to.append(_KINDS.index(kind))
            self.keys.append(hash(reference))
            self.by.append(line.number)

    def reject_lines(self, reasons: Mapping[int, str]) -> None:
        """Reject the lines with these numbers. Raises BrokenLine for the first of them, unless bad lines are
        skipped."""
        for number, reason in sorted(reasons.items()):
            self.reject(number, reason)
        self.drop(set(reasons))

    def reject(self, number: int, reason: str) -> None:
        broken = BrokenLine(number, reason)
        if not self.skip_bad:
            raise broken
        self.rejected += 1
        self.report(f"rejected, {broken}")

    def drop(self, numbers: set[int]) -> None:
        """Remove these lines from the survey."""
        for places in self.places.values():
            places.drop(numbers)
        self.quotes = [quote for quote in self.quotes if quote[0] not in numbers]
        keep = [place for place, number in enumerate(self.by) if number not in numbers]
        for name in ("to", "keys", "by"):
            values = getattr(self, name)
            setattr(self, name, array(values.typecode, (values[place] for place in keep)))

    def drop_duplicates(self) -> None:
        """Keep one of several equal records with the same id; reject a different record with the same id."""
        duplicates: set[int] = set()
        conflicts: dict[int, str] = {}
        for kind in self.types.keys() & self.places.keys():
            places = self.places[kind]
            _, group, sizes = np.unique(np.asarray(places.names), return_inverse=True, return_counts=True)
            several = np.flatnonzero(sizes[group] > 1) if len(group) else ()
            first: dict[str, Numbered[Any]] = {}
            for numbered in schema.read_records(self.file, places, [int(place) for place in several]):
                if numbered is (first_numbered := first.setdefault(numbered.record.id, numbered)):
                    continue
                if numbered.record.model_copy(update={"place": first_numbered.record.place}) == first_numbered.record:
                    duplicates.add(numbered.number)
                else:
                    conflicts[numbered.number] = (
                        f"another {kind} has the id {numbered.record.id!r}, too: line {first_numbered.number}"
                    )
        if duplicates:
            self.report(f"duplicates, imported once: {len(duplicates)} lines")
            self.drop(duplicates)
        if conflicts:
            self.reject_lines(conflicts)

    def misquotes(self, id_map: IdMap | None) -> Iterator[tuple[int, str]]:
        """The numbers of lines with a quote that does not occur in its message, with the reason."""
        for first in range(0, len(self.quotes), QUOTES_AT_ONCE):
            quotes = self.quotes[first : first + QUOTES_AT_ONCE]
            message_ids = {message for _, message, _ in quotes}
            contents = {
                numbered.record.id: numbered.record.content for numbered in self.numbered_by_id("message", message_ids)
            }
            if id_map is not None and (other_ids := message_ids - contents.keys()):
                contents |= {message_id: content for message_id, (_, content) in id_map.contents(other_ids).items()}
            for number, message, quote in quotes:
                if quote not in contents.get(message, ""):
                    yield number, f"the quote does not occur in message {message!r}"


def survey_archive(file: BinaryIO, skip_bad: bool, progress: Progress, report: Report) -> Survey:
    """Check every line by itself. Raises ArchiveError, or BrokenLine unless bad lines are skipped."""
    types = {**schema.TYPES, **{part.kind: part.record for part in parts.parts_of_apps()}}
    survey = Survey(file, schema.read_header(file), skip_bad, report, types)
    for line in schema.raw_lines(file):
        progress(line.size)
        survey.size += line.size
        try:
            survey.check_line(line)
        except BrokenLine as broken:
            survey.reject(broken.number, broken.reason)
    return survey


def has_our_vector(header: HeaderRecord, node: NodeRecord) -> bool:
    """Whether the archive holds the same vector that the model in use here would make."""
    made_by = header.embedding_model
    if node.embedding is None or made_by is None or not embedding.alike(made_by, node.description):
        return False
    # The same name may have another size or prefix in another version.
    return header.embedding_dimensions in (None, embedding.dimension()) and header.embedding_prefix in (
        None,
        embedding.document_prefix(),
    )


def linked_ids(node: NodeRecord) -> list[str]:
    """The ids of the memories that the node refers to."""
    return [*(node.filling or ()), *(other for other in (node.superseded_by, node.resolved_by) if other)]


# --- references -------------------------------------------------------------------------------------------------------
def _references_of(record: Record) -> Iterator[tuple[str, str]]:
    for name, kind in _REFERENCE_FIELDS.get(record.type, {}).items():
        names = getattr(record, name)
        for value in names if isinstance(names, list) else (names,):
            if value is not None:
                yield kind, value
    if isinstance(record, NodeRecord | DraftRecord):
        yield from (("message", message) for message, _ in _quotes(record))


def _quotes(record: NodeRecord | DraftRecord) -> list[tuple[str, str]]:
    """Message ids, and texts that must occur in these messages."""
    quotes = record.evidence or () if isinstance(record, NodeRecord) else record.quotes
    return [(quote.message, quote.quote) for quote in quotes if quote.message is not None]


def drop_unusable(survey: Survey, id_map: IdMap | None) -> None:
    """Reject records that are unusable because of other lines, and all that refer to them; `id_map` finds those that
    the persona has already. Raises BrokenLine unless bad lines are skipped."""
    survey.drop_duplicates()
    # Hashes of ids that exist here, but not in the file.
    existing_hashes: dict[str, set[int]] = defaultdict(set)
    missing = _lines_with_missing_references(survey, existing_hashes)
    if id_map is not None and missing:
        missing_ids: dict[str, set[str]] = defaultdict(set)
        for numbered in _read_lines(survey, missing):
            for kind, name in _references_of(numbered.record):
                missing_ids[kind].add(name)
        for kind, ids in missing_ids.items():
            existing_hashes[kind] = {hash(name) for name in id_map.rows(_MODELS[kind], ids)}
    _reject_missing_references(survey, existing_hashes)
    # Merges must not form a circle.
    circles: dict[int, str] = {}
    for start, (_, number) in survey.merged.items():
        visited, at = {start}, start
        while at in survey.merged and (at := survey.merged[at][0]) not in visited:
            visited.add(at)
        if at in survey.merged:
            circles[number] = "its merges form a circle"
    if circles:
        survey.reject_lines(circles)
    while misquotes := dict(survey.misquotes(id_map)):
        survey.reject_lines(misquotes)
        _reject_missing_references(survey, existing_hashes)


def _reject_missing_references(survey: Survey, existing_hashes: Mapping[str, set[int]]) -> None:
    while missing := _lines_with_missing_references(survey, existing_hashes):
        present_hashes = {kind: _id_hashes(survey, kind, existing_hashes) for kind in _KINDS}
        numbered_records = _read_lines(survey, missing if survey.skip_bad else {min(missing)})
        reasons: dict[int, str] = {}
        for numbered in numbered_records:
            kind, name = next(
                (kind, name) for kind, name in _references_of(numbered.record) if hash(name) not in present_hashes[kind]
            )
            reasons[numbered.number] = f"there is no {kind} {name!r}"
        survey.reject_lines(reasons)


def _lines_with_missing_references(survey: Survey, existing_hashes: Mapping[str, set[int]]) -> set[int]:
    """The numbers of lines that refer to ids that are not there."""
    to, keys, by = np.asarray(survey.to), np.asarray(survey.keys), np.asarray(survey.by)
    missing_lines: set[int] = set()
    for place, kind in enumerate(_KINDS):
        of_kind = to == place
        is_present = np.isin(keys[of_kind], np.asarray(_id_hashes(survey, kind, existing_hashes), np.int64))
        missing_lines.update(by[of_kind][~is_present].tolist())
    return missing_lines


def _id_hashes(survey: Survey, kind: str, existing_hashes: Mapping[str, set[int]]) -> list[int]:
    places = survey.places.get(kind)
    return [*(places.names if places else ()), *existing_hashes.get(kind, ())]


def _read_lines(survey: Survey, numbers: Collection[int]) -> Iterator[Numbered[Any]]:
    for kind in survey.types.keys() & survey.places.keys():
        places = survey.places[kind]
        indexes = np.flatnonzero(np.isin(np.asarray(places.numbers), list(numbers)))
        yield from schema.read_records(survey.file, places, indexes.tolist())
