"""Reading records by a mapping of their fields: as messages of sessions, or as diary entries if no field names a
speaker."""

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby, islice
from typing import Any

from memory.imports.readers.content_ids import ContentIds
from memory.imports.readers.day_order import Numbers, choose_order
from memory.imports.readers.fields import Mapping, is_of_a_chat, is_of_program, speaker_of, value_at
from memory.imports.readers.lines import message_of, sessions_of, storable, word
from memory.imports.readers.quotes import without_quote
from memory.imports.readers.types import (
    Entry,
    FileMessage,
    ImportRejected,
    Limits,
    Options,
    ReaderItem,
    Skipped,
    digest,
)
from memory.imports.readers.when import TimeOfRecord, as_date, read_time

# The position of a record, for people; and the record, or why it could not be read.
Record = tuple[str, Any]
_SAMPLE = 200


def require_speaker(mapping: Mapping, likely: Mapping | None, fields: Iterable[str], options: Options) -> None:
    """Raises ImportRejected if no field names a speaker and the records look like those of several people: they are the
    owner's own words only if a person says so."""
    if mapping.speaker or options.kind == "notes":
        return
    if options.kind == "chat":
        raise ImportRejected("ask_mapping")
    if (likely and likely.speaker) or is_of_a_chat(fields, mapping.text):
        raise ImportRejected("ask_chat_or_notes")


def order_of_days(records: Callable[[], Iterable[Record]], mapping: Mapping, options: Options) -> bool | None:
    """Whether the day is first in dates like 3/4/2024; None if no date is written like that.

    Raises ImportRejected if some are and the file does not tell. `records` is read once more only if the first ones
    have such dates.
    """
    if options.day_first is not None or not any(_open_dates(islice(records(), _SAMPLE), mapping)):
        return options.day_first
    return choose_order(None, _open_dates(records(), mapping))


def _open_dates(records: Iterable[Record], mapping: Mapping) -> Iterator[Numbers]:
    for _where, record in records:
        heading = as_date(value_at(record, mapping.at))
        if heading and heading.written_date.order_open:
            yield heading.written_date.month, heading.written_date.day, heading.written_date.year or 0


class ChoiceReader:
    """Reads one file by a mapping; sessions without a title are identified by its `name`."""

    def __init__(self, mapping: Mapping, order: bool | None, limits: Limits, name: str) -> None:
        self.mapping = mapping
        self.order = order
        self.limits = limits
        self.name = name
        # One for the whole file, so that equal texts in two of its conversations get different ids.
        self.places = ContentIds()
        self.talks = 0

    def read(self, records: Iterable[Record], title: str, location: str, partner: str = "") -> Iterator[ReaderItem]:
        """The messages or entries, in the order of the records. Records of one session must be adjacent. `partner` is
        the other speaker, if only the owner's messages are marked."""
        if not self.mapping.speaker:
            yield from (self._entry(*record) for record in records)
            return
        for talk_title, group in groupby(records, lambda record: word(value_at(record[1], self.mapping.talk))):
            begun = self.places.begin_with(
                talk_title, title or self.name, group, lambda record: word(value_at(record[1], self.mapping.text))
            )
            messages = (self._line(*record, partner) for record in begun)
            self.talks += 1
            yield from sessions_of(
                title or talk_title, talk_title or digest("talk", title, self.talks), location, messages, self.limits
            )

    def _line(self, location: str, record: Any, partner: str) -> FileMessage | Skipped:
        if isinstance(record, Skipped):
            return record
        text = value_at(record, self.mapping.text)
        if isinstance(text, dict | list):
            return Skipped(location, "unknown")
        if is_of_program(record):
            return Skipped(location, "notice")
        speaker, role = speaker_of(record, self.mapping, partner)
        when = self._when(record)
        at = when.as_moment() if when else None
        return message_of(
            speaker, without_quote(word(text)), at, location, self.limits, self.places, self._id(record), role
        )

    def _entry(self, location: str, record: Any) -> Entry | Skipped:
        """The entry of a record. Some diaries store an entry of one line only as its title."""
        if isinstance(record, Skipped):
            return record
        title, text = (storable(word(value_at(record, path))) for path in (self.mapping.title, self.mapping.text))
        title, text = (title, text) if text.strip() else ("", title)
        if not text.strip():
            return Skipped(location, "empty")
        if len(text.encode()) > self.limits.message_bytes:
            return Skipped(location, "too_long")
        when = self._when(record)
        day, at = (when.day, when.at) if when else (None, None)
        return Entry(title, text, day, at, self._id(record) or self.places.id_of_entry(title, text, day), location)

    def _when(self, record: Any) -> TimeOfRecord | None:
        value, clock = value_at(record, self.mapping.at), value_at(record, self.mapping.clock)
        with_clock = read_time(f"{value} {clock}", self.order) if clock else None
        return with_clock or read_time(value, self.order)

    def _id(self, record: Any) -> str:
        return storable(word(value_at(record, self.mapping.source_id)))
