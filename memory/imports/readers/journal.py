"""Diaries and notes: plain text and Markdown, one file split at its dated headings, or a folder of notes in a zip.

A note whose name is a date (2024-01-05.md) is one entry of that day, like Obsidian's daily notes. A date in the front
matter applies to the text above the first heading. Text without a date is an entry without a day.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import date, datetime
from itertools import chain, islice
from pathlib import PurePosixPath

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memory.imports.readers.content_ids import ContentIds
from memory.imports.readers.day_order import choose_order
from memory.imports.readers.headings import (
    Heading,
    WrittenDate,
    at_clock,
    day_in_name,
    day_of_month_in,
    heading_in,
    month_in,
    nearest_year,
    year_in,
    year_in_name,
)
from memory.imports.readers.source import Sample, Source, TextLine
from memory.imports.readers.types import Entry, ImportRejected, Limits, Options, ReaderItem, Skipped

_MARKDOWN = (".md", ".markdown")
_PROSE = (*_MARKDOWN, ".txt")
_TABLES = (".csv", ".tsv")
_DOCUMENTS = (*_TABLES, ".pdf", ".docx", ".doc", ".rtf", ".odt", ".epub", ".html", ".htm", ".json", ".canvas", ".org")
# The id that Notion appends to the names of pages.
_PAGE_ID = re.compile(r"\s[0-9a-f]{32}$")
_MARKDOWN_TITLE = re.compile(r"#{1,6}\s+(?P<title>\S.*)")
_LONGEST_FRONT = 200
_LONGEST_FRONT_LINE = 1_000
_FRONT_DATE = re.compile(
    r"(?:date|created|created_at|day|日期|创建时间)\s*:\s*[\"']?(?P<date>.+?)[\"']?\s*$", re.IGNORECASE
)
_FRONT_TITLE = re.compile(r"(?:title|标题)\s*:\s*[\"']?(?P<title>.+?)[\"']?\s*$", re.IGNORECASE)
# Blank lines between a month and its first day.
_MAX_HELD = 5
# Folders of templates, and the placeholders in templates.
_TEMPLATE_FOLDERS = frozenset(
    {
        "templates",
        "template",
        "_templates",
        "vorlagen",
        "modèles",
        "plantillas",
        "modelos",
        "模板",
        "テンプレート",
        "템플릿",
    }
)
_TO_FILL_IN = re.compile(r"\{\{\s*(?:date|time|title|yesterday|tomorrow)\b[^{}\n]{0,60}\}\}|<%[*-]?\s*tp\.")
_EMBEDDED = re.compile(r"!\[\[[^\[\]\n]{1,300}\]\]")
_LINKED = re.compile(r"\[\[(?:[^\[\]\n|]{1,300}\|)?(?P<shown>[^\[\]\n|]{1,300})\]\]")
_FENCE = re.compile(r"\s{0,3}(?:```|~~~)")


class Journal:
    name = "journal"
    label = gettext_lazy("Diary or notes (text, Markdown, or a folder of them in a zip)")

    def resembles(self, sample: Sample) -> float:
        if sample.members:
            truths = [PurePosixPath(name).suffix.casefold() in _PROSE for name in sample.members]
            return sum(truths) / max(1, len(truths)) * 0.7
        if not sample.text.strip() or sample.paths or sample.name.casefold().endswith(_TABLES):
            return 0.0
        # A diary has headings with text beneath them; if every line begins with a date, it is rather a list. Only notes
        # have front matter.
        if _front_matter(_as_lines(sample.text))[0]:
            return 0.85
        lines = [line for line in sample.text.splitlines() if line.strip()]
        headed = [heading for line in lines if (heading := heading_in(line, begins=True))]
        headed = headed or [
            heading for _line, heading in _find_headings(_as_lines(sample.text), fences=False) if heading
        ]
        plain = 0.35 if sample.name.casefold().endswith(_PROSE) else 0.15
        if not headed:
            return 0.6 if day_in_name(sample.name) else plain
        if len(lines) > 3 and sum(bool(heading.words) for heading in headed) > len(lines) * 0.6:
            return 0.4
        return 0.75 if len(headed) > 1 else 0.6

    def read(self, source: Source, options: Options) -> Iterator[ReaderItem]:
        members = [member for member in sorted(source.members) if _is_prose(member)]
        if source.members and not members:
            raise ImportRejected("member_missing")
        # Templates, recognized by their folder or by a placeholder in place of a date.
        templates = [
            member
            for member in members
            if any(part.casefold() in _TEMPLATE_FOLDERS for part in PurePosixPath(member).parts[:-1])
            or (_is_markdown(member) and _TO_FILL_IN.search(source.sample.inside(member).text))
        ]
        members = [member for member in members if member not in templates]
        yield from (Skipped(member, "settings") for member in templates)
        if source.members and not members:
            return
        for member in source.members:
            if _is_hidden(member):
                yield Skipped(member, "settings")
            elif not _is_prose(member):
                is_document = PurePosixPath(member).suffix.casefold() in _DOCUMENTS
                yield Skipped(member, "document" if is_document else "media")
        order = _order(source, members or [""], options)
        for member in members or [""]:
            splitting = _EntrySplitter(member or source.name, bool(member), order, options.limits)
            yield from splitting.entries(source.lines(member))


def _as_lines(text: str) -> Iterator[TextLine]:
    return (TextLine(number, line.removesuffix("\r")) for number, line in enumerate(text.split("\n"), 1))


def _is_prose(member: str) -> bool:
    return member.casefold().endswith(_PROSE) and not _is_hidden(member)


def _is_hidden(member: str) -> bool:
    return any(part.startswith(".") for part in PurePosixPath(member).parts)


def _order(source: Source, members: Iterable[str], options: Options) -> bool:
    """Whether the day is first in dates of two numbers. Raises ImportRejected if nothing tells."""
    split = [member for member in members if not day_in_name(PurePosixPath(member or source.name).name)]

    def open_headings() -> Iterator[tuple[TextLine, WrittenDate]]:
        for member in split:
            for line, heading in _find_headings(source.lines(member), _is_markdown(member or source.name)):
                if heading and heading.written_date.order_open:
                    yield line, heading.written_date

    dates = ((date.month, date.day, date.year or 0) for _line, date in open_headings())
    return choose_order(options.day_first, dates, lines=(line.text for line, _date in open_headings()))


def _is_markdown(name: str) -> bool:
    return name.casefold().endswith(_MARKDOWN)


def _find_headings(lines: Iterable[TextLine], fences: bool) -> Iterator[tuple[TextLine, Heading | None]]:
    """Each line with its heading, if it is one. With `fences`, as in Markdown, code has no headings. The line of a
    month above a line with weekday and day is left out: it is part of the headings below."""
    begins, fenced = True, False
    month: tuple[int, int] | None = None
    front: list[TextLine] = []
    for line in lines:
        fenced ^= fences and _FENCE.match(line.text) is not None
        if front and (not line.text.strip() or fenced):
            front.append(line)
            if len(front) <= _MAX_HELD:
                continue
        if front:
            if day_of_month_in(line.text):
                month = month_in(front[0].text)
            else:
                yield from ((text_line, None) for text_line in front)
            front = []
        heading = None if fenced else heading_in(line.text, begins)
        if heading is None and begins and not fenced and month and (day := day_of_month_in(line.text)):
            written_date = WrittenDate(*month, day)
            heading = Heading(written_date, None, "", "") if written_date.as_day() else None
        if heading is None and begins and not fenced and month_in(line.text):
            front = [line]
            continue
        begins = heading is not None or not line.text.strip()
        yield line, heading
    yield from ((text_line, None) for text_line in front)


@dataclass(frozen=True)
class _Beginning:
    """The known fields of an entry before its text."""

    title: str = ""
    day: date | None = None
    at: datetime | None = None
    number: int = 1


class _EntryLines:
    """The lines of an entry, up to the size of a message."""

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        self.lines: list[str] = []
        self.size = 0

    def take(self, text: str) -> bool:
        """Add a line; returns whether there was room for it."""
        size = len(text.encode()) + 1
        if self.size + size > self.most_bytes:
            return False
        self.lines.append(text)
        self.size += size
        return True

    def given_out(self) -> str:
        """Return the lines without blank ones above and below, and empty the list."""
        first = next((number for number, line in enumerate(self.lines) if line.strip()), len(self.lines))
        text = "\n".join(self.lines[first:]).rstrip()
        self.lines, self.size = [], 0
        return text


class _EntrySplitter:
    """Splits one file into its entries; one entry is kept in memory at a time."""

    def __init__(self, name: str, is_member: bool, day_first: bool, limits: Limits) -> None:
        path = PurePosixPath(name)
        self.member = name if is_member else ""
        self.markdown = _is_markdown(name)
        self.day_first = day_first
        self.words = _EntryLines(limits.message_bytes)
        self.places = ContentIds()
        self.named = day_in_name(path.name)
        self.year = year_in_name(path.stem)
        self.last: date | None = self.named
        title = _PAGE_ID.sub("", path.stem) if is_member and not self.named else ""
        self.beginning = _Beginning(title, self.named)

    def entries(self, lines: Iterator[TextLine]) -> Iterator[Entry | Skipped]:
        front, rest = _front_matter(lines)
        yield from self._taken_from(front)
        for line, heading in _find_headings(rest, self.markdown):
            is_bare = heading is not None and not (heading.title or heading.words)
            is_first = not any(text.strip() for text in self.words.lines)
            if (
                heading
                and self.named
                and is_bare
                and is_first
                and heading.written_date.as_day(self.named.year, self.day_first) == self.named
            ):
                # Above everything else it only repeats the day in the note's name.
                continue
            following = self._following(line, heading)
            if following and heading:
                yield from self._begin_entry(following, heading)
                yield from self._add_text(line.number, heading.words)
            elif self.named is None and (year := year_in(line.text)):
                self.year = year
            else:
                yield from self._add_text(line.number, line.text)
        yield from self._end_entry()

    def _begin_entry(self, following: _Beginning, heading: Heading) -> Iterator[Entry | Skipped]:
        """End the entry before. A title alone above the first date is no entry: if the date is a labelled one of a
        note, the title belongs to the entry; in a diary it is skipped."""
        lines = [line for line in self.words.lines if line.strip()]
        match = _MARKDOWN_TITLE.match(lines[0]) if len(lines) == 1 and self.beginning.day is None else None
        title = match["title"].rstrip(" #") if match else ""
        if not title:
            yield from self._end_entry()
        else:
            self.words.given_out()
            following = replace(following, title=title) if heading.labelled else following
            if not heading.labelled:
                yield Skipped(self._location_of(self.beginning.number), "empty")
        self.beginning = following

    def _taken_from(self, front: list[TextLine]) -> Iterator[Skipped]:
        """Use the front matter for the title and the date of a note; other lines of it are skipped."""
        title = _first_match(_FRONT_TITLE, front, "title") or self.beginning.title
        heading = heading_in(_first_match(_FRONT_DATE, front, "date"), begins=True)
        self.last = self.named or (heading.written_date.as_day(day_first=self.day_first) if heading else None)
        clock = (
            heading.clock if heading and heading.written_date.as_day(day_first=self.day_first) == self.last else None
        )
        self.beginning = _Beginning(title, self.last, at_clock(self.last, clock))
        if any(not (_FRONT_DATE.match(line.text) or _FRONT_TITLE.match(line.text)) for line in front):
            yield Skipped(self._location_of(front[0].number), "settings")

    def _following(self, line: TextLine, heading: Heading | None) -> _Beginning | None:
        """The beginning of the next entry, if this line is its heading."""
        if heading is None or self.named is not None:
            return None
        year = nearest_year(heading.written_date, self.last, self.year)
        day = heading.written_date.as_day(year, self.day_first)
        if day is None:
            return None
        self.last = day
        return _Beginning(heading.title, day, at_clock(day, heading.clock), line.number)

    def _add_text(self, number: int, text: str) -> Iterator[Entry | Skipped]:
        """Add the line; if the entry becomes longer than a message, it continues in another one of the same day."""
        if self.words.take(text):
            return
        if self.words.lines:
            yield from self._end_entry()
            self.beginning = replace(self.beginning, number=number)
        if not self.words.take(text):
            yield Skipped(self._location_of(number), "too_long")

    def _end_entry(self) -> Iterator[Entry | Skipped]:
        text, begun = self.words.given_out(), self.beginning
        if self.markdown and "[[" in text:
            text = _LINKED.sub(lambda link: link["shown"], _EMBEDDED.sub("", text)).strip()
        if text:
            source_id = self.places.id_of_entry(begun.title, text, begun.day)
            yield Entry(begun.title, text, begun.day, begun.at, source_id, self._location_of(begun.number))
        elif begun.day or begun.title:
            yield Skipped(self._location_of(begun.number), "empty")

    def _location_of(self, number: int) -> str:
        position = _("line %d") % number
        return f"{self.member}, {position}" if self.member else position


def _first_match(pattern: re.Pattern[str], lines: list[TextLine], group: str) -> str:
    return next((match[group] for line in lines if (match := pattern.match(line.text))), "")


def _front_matter(lines: Iterator[TextLine]) -> tuple[list[TextLine], Iterator[TextLine]]:
    """The lines between a leading "---" and the next one, and the lines after it; no lines if there is no such
    block."""
    first = next(lines, None)
    if first is None:
        return [], lines
    if first.text.rstrip() != "---":
        return [], chain([first], lines)
    block: list[TextLine] = []
    for line in islice(lines, _LONGEST_FRONT):
        if line.text.rstrip() in ("---", "..."):
            return block, lines
        block.append(line)
        if len(line.text) > _LONGEST_FRONT_LINE:
            break
    return [], chain([first, *block], lines)


FORMATS = (Journal(),)
