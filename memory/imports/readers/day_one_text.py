"""The plain text of the diary app Day One, of the current app and of Day One Classic: alone or in the zip beside its
photographs.

    ⇥Date:⇥May 24, 2020 at 10:14:22 AM GMT+2
    ⇥Weather:⇥15°C Sunny
    ⇥Location:⇥Hauptstraße 1, Berlin, Germany

    The words of the entry, in paragraphs.

Above an entry are its fields, each after a tab: the date first, whatever its name in the writer's language.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date
from itertools import chain

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memory.imports.readers.content_ids import ContentIds
from memory.imports.readers.day_order import choose_order
from memory.imports.readers.headings import heading_in
from memory.imports.readers.lines import skip_others, storable
from memory.imports.readers.localized_times import moment_in
from memory.imports.readers.source import Sample, Source, TextLine
from memory.imports.readers.types import Entry, Limits, Options, ReaderItem, Skipped

_ABOUT = re.compile(r"\t\s*(?P<label>[^\t:：\n]{1,30})[:：]\s*(?P<value>\S.*)")
_TITLE_LABELS = frozenset({"title", "titel", "titre", "título", "标题", "標題"})
_PICTURE_LABELS = frozenset({"photo", "photos", "foto", "fotos", "video", "audio", "pdf", "照片", "写真", "사진"})
_PLACE_OF_PHOTO = re.compile(r"!\[[^\]]{0,200}\]\((?:dayone-moment:|photos/)[^)\s]{0,200}\)|\[Photo\]")
# Some have a narrow blank between "at" and the time; the name of the zone is removed, except for its numbers.
_ZONE_NAME = re.compile(r"\s+(?:[A-Z][a-z]+/[A-Z][A-Za-z_]+|[A-Z][a-z]+(?: [A-Z][a-z]+)* Time)$")


@dataclass
class _Entry:
    number: int
    date_line: str
    title: str = ""
    pictures: int = 0
    lines: list[str] = field(default_factory=list)
    size: int = 0


class DayOneText:
    name = "day_one_text"
    label = gettext_lazy("Day One (plain text, or the zip with its photographs)")

    def resembles(self, sample: Sample) -> float:
        if sample.members:
            return 0.9 if _texts(sample) else 0.0
        return 0.96 if not sample.paths and _begins_with_date(sample.text) else 0.0

    def read(self, source: Source, options: Options) -> Iterator[ReaderItem]:
        members = _texts(source.sample) if source.members else [""]
        yield from skip_others(source, members)
        lines = chain.from_iterable(source.lines(member) for member in members)
        moments = filter(None, (moment_in(_date_in(line.text)) for line in lines))
        dates = ((moment.month, moment.day, moment.year) for moment in moments if moment.open_order)
        day_first = choose_order(options.day_first, dates, source.name)
        places = ContentIds()
        for member in members:
            for entry in _entries(source.lines(member), options.limits):
                position = _("line %d") % entry.number
                location = f"{member}, {position}" if member else position
                text = storable(_PLACE_OF_PHOTO.sub("", "\n".join(entry.lines)).strip())
                if max(entry.size, len(text.encode())) > options.limits.message_bytes:
                    yield Skipped(location, "too_long")
                elif not text:
                    yield Skipped(location, "media" if entry.pictures else "empty")
                else:
                    moment = moment_in(entry.date_line)
                    at = moment.at(day_first) if moment else None
                    day = at.date() if at else _day_in(entry.date_line)
                    yield Entry(entry.title, text, day, at, places.id_of_entry(entry.title, text, day), location)


def _texts(sample: Sample) -> list[str]:
    names = [name for name in sample.members if name.casefold().endswith(".txt")]
    return [name for name in names if _begins_with_date(sample.inside(name).text)]


def _begins_with_date(text: str) -> bool:
    first = next((line for line in text.split("\n") if line.strip()), "")
    return _date_in(first.rstrip("\r")) != ""


def _date_in(line: str) -> str:
    """The date of a line that begins an entry, as written."""
    match = _ABOUT.fullmatch(line) if line.startswith("\t") else None
    value = _ZONE_NAME.sub("", match["value"].strip()) if match else ""
    return value if value and (moment_in(value) or _day_in(value)) else ""


def _day_in(value: str) -> date | None:
    heading = heading_in(value, begins=True)
    if heading is None or heading.words or heading.title or not heading.written_date.year:
        return None
    return heading.written_date.as_day()


def _entries(lines: Iterable[TextLine], limits: Limits) -> Iterator[_Entry]:
    entry: _Entry | None = None
    heads = True
    for line in lines:
        date_text = _date_in(line.text)
        about = _ABOUT.fullmatch(line.text)
        if date_text and not (entry and heads and not entry.lines):
            if entry:
                yield entry
            entry, heads = _Entry(line.number, date_text), True
        elif entry and heads and about:
            label = about["label"].strip().casefold()
            entry.title = about["value"].strip() if label in _TITLE_LABELS else entry.title
            entry.pictures += label in _PICTURE_LABELS
        elif entry:
            heads = False
            entry.size += len(line.text) + 1
            # An entry that is too long already is not kept.
            if entry.size <= limits.message_bytes:
                entry.lines.append(line.text)
    if entry:
        yield entry


FORMATS = (DayOneText(),)
