"""Journey's export: a zip with a JSON file for each diary entry, and its photographs."""

from collections.abc import Iterator

from django.utils.translation import gettext_lazy

from memory.imports.readers.day_one import local, zone_named
from memory.imports.readers.html_text import words_of
from memory.imports.readers.json_values import objects, reason_of
from memory.imports.readers.lines import moment, storable, word
from memory.imports.readers.source import Sample, Source
from memory.imports.readers.types import Entry, ImportRejected, Options, ReaderItem, Skipped, digest

_LOOKED_AT = 3


class Journey:
    name = "journey"
    label = gettext_lazy("Journey (the zip with its photographs)")

    def resembles(self, sample: Sample) -> float:
        some = [sample.inside(name) for name in _entries(sample.members)[:_LOOKED_AT]]
        return 0.95 if any({"date_journal", "text"} <= record.paths for record in some) else 0.0

    def read(self, source: Source, options: Options) -> Iterator[ReaderItem]:
        members = _entries(source.members)
        if not members:
            raise ImportRejected("member_missing")
        yield from (Skipped(member, "media") for member in source.members if member not in members)
        for member in members:
            for value in objects(source, member):
                if not isinstance(value, dict):
                    entry: Entry | Skipped = Skipped(member, reason_of(value))
                else:
                    entry_text = word(value.get("text"))
                    text = storable(
                        words_of(entry_text)
                        if value.get("type") == "html" or entry_text.startswith("<p")
                        else entry_text
                    )
                    if not text.strip():
                        entry = Skipped(member, "media" if value.get("photos") else "empty")
                    elif len(text.encode()) > options.limits.message_bytes:
                        entry = Skipped(member, "too_long")
                    else:
                        at = local(moment(value.get("date_journal")), zone_named(value.get("timezone")))
                        source_id = storable(word(value.get("id"))) or digest("entry", at, text)
                        entry = Entry("", text, at.date() if at else None, at, source_id, member)
                yield entry


def _entries(members: tuple[str, ...]) -> list[str]:
    return [name for name in members if name.endswith(".json")]


FORMATS = (Journey(),)
