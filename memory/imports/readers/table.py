"""Tables as CSV or TSV: a chat with date, speaker and text, or a diary with date and text.

The delimiter and the meaning of the columns are guessed from the file; if their names are not plain, a person is asked
(`ask_mapping`) and the answer comes back as `Options.mapping`.
"""

import csv
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memory.imports.readers.applying import ChoiceReader, Record, order_of_days, require_speaker
from memory.imports.readers.fields import NAMES, Mapping, guess_mapping
from memory.imports.readers.source import Sample, Source
from memory.imports.readers.types import ImportRejected, Options, ReaderItem, Skipped
from memory.imports.readers.when import read_time

_DELIMITERS = (",", "\t", ";", "|")
# Excel's line above the table that states the delimiter.
_STATED = re.compile(r"\ufeff?\"?sep=(?P<delimiter>[,;\t|])\"?\s*")
_RULE = re.compile(r"\s*:?-+:?\s*")
_SAMPLE_ROWS = 200
_KNOWN = {name for names in NAMES.values() for name in names}


@dataclass(frozen=True)
class Shape:
    """The format of a table, and the names of its columns. Without a heading row these are 1, 2, 3 …"""

    delimiter: str
    quoted: bool
    columns: tuple[str, ...]
    headed: bool


class Table:
    name = "table"
    label = gettext_lazy("Table (CSV or TSV) of messages or diary entries")

    def resembles(self, sample: Sample) -> float:
        if sample.members or sample.paths or not sample.text:
            return 0.0
        shape = shape_of(sample.text)
        if shape is None:
            return 0.0
        by_name = sample.name.casefold().endswith((".csv", ".tsv"))
        if not shape.headed:
            return 0.5 if by_name else 0.0
        above = bool(_stated_delimiter(sample.text.partition("\n")[0]))
        rows = _first_rows(sample.text, shape.delimiter, shape.quoted)[above + shape.headed :]
        mapping = guess_mapping(sample_rows((("", _as_record(row, shape)) for row in rows), shape))
        return 0.9 if mapping and mapping.sure else 0.6 if by_name else 0.3

    def read(self, source: Source, options: Options) -> Iterator[ReaderItem]:
        shape = _shape(source)
        likely = guess(source)
        mapping = options.mapping or likely
        if not isinstance(mapping, Mapping) or (options.mapping is None and not mapping.sure):
            raise ImportRejected("ask_mapping")
        require_speaker(mapping, likely, shape.columns, options)
        order = order_of_days(lambda: records(source, shape), mapping, options)
        applying = ChoiceReader(mapping, order, options.limits, source.name)
        yield from applying.read(records(source, shape), "", "")


def guess(source: Source) -> Mapping | None:
    """The meaning of the columns, guessed from the first rows."""
    shape = _shape(source)
    return guess_mapping(sample_rows(islice(records(source, shape), _SAMPLE_ROWS), shape))


def columns(source: Source) -> list[str]:
    """The names of the columns. Raises ImportRejected if the file is no table."""
    return list(_shape(source).columns)


def _shape(source: Source) -> Shape:
    shape = shape_of(source.sample.text)
    if shape is None:
        # If the text is broken, that error is the better answer.
        next(iter(source.texts()), None)
        raise ImportRejected("nothing_found")
    return shape


def shape_of(text: str) -> Shape | None:
    """The shape of a table that begins with `text`; None if it is no table."""
    beginning = text[: text.rfind("\n") + 1] or text
    stated = _stated_delimiter(beginning.partition("\n")[0])
    beginning = beginning.partition("\n")[2] if stated else beginning
    shapes = [(delimiter, quoted) for delimiter in stated or _DELIMITERS for quoted in (True, False)]
    best = max(shapes, key=lambda shape: _evenness(beginning, *shape))
    if _evenness(beginning, *best) == 0:
        return None
    first, second = [*_first_rows(beginning, *best), [], []][:2]
    # The first row names the columns if it has known words, or holds no time while the next one does.
    times = [any(read_time(cell, day_first=True) for cell in row) for row in (first, second)]
    headed = any(
        "".join(letter for letter in cell.casefold() if letter.isalnum()) in _KNOWN for cell in first
    ) or times == [False, True]
    names = first if headed else [str(number) for number, _cell in enumerate(first, 1)]
    return Shape(*best, tuple(name.strip() for name in names), headed)


def _stated_delimiter(line: str) -> str:
    """The delimiter that a line above the table states; "" if the line is part of the table."""
    match = _STATED.fullmatch(line)
    return match["delimiter"] if match else ""


def _evenness(text: str, delimiter: str, quoted: bool) -> float:
    """How well the text fits this shape: the share of rows as wide as the first; 0 if it cannot be a table."""
    rows = _first_rows(text, delimiter, quoted)
    if not rows or len(rows[0]) < 2:
        return 0.0
    even = sum(len(row) == len(rows[0]) for row in rows) / len(rows)
    return even + (0.001 if quoted else 0)


def _first_rows(text: str, delimiter: str, quoted: bool) -> list[list[str]]:
    lines = [f"{line}\n" for line in text.split("\n")]
    # One more line distinguishes a cell that is cut off at the end of the sample from a broken one.
    reader = _reader([*lines, "\n"], delimiter, quoted)
    rows: list[list[str]] = []
    try:
        rows.extend(row for row in islice(reader, _SAMPLE_ROWS) if row)
    except csv.Error:
        return rows if reader.line_num > len(lines) else []
    return rows


def _reader(lines: Iterable[str], delimiter: str, quoted: bool) -> Any:
    if quoted:
        return csv.reader(lines, delimiter=delimiter, strict=True)
    return csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_NONE, strict=True)


def sample_rows(rows: Iterable[Record], shape: Shape) -> dict[str, list[Any]]:
    """Some values of each column."""
    dict_records = [record for _where, record in rows if isinstance(record, dict)]
    return {column: [record.get(column, "") for record in dict_records] for column in shape.columns}


def records(source: Source, shape: Shape) -> Iterator[Record]:
    """Each row with its place, as a record by column. Raises ImportRejected if a row never ends."""
    lines = source.lines()
    first = next(lines, None)
    above = int(first is not None and bool(_stated_delimiter(first.text)))
    lines = lines if first is None or above else chain([first], lines)
    reader = _reader((f"{line.text}\n" for line in lines), shape.delimiter, shape.quoted)
    before, place = above, _("line %d")
    try:
        for number, row in enumerate(reader):
            location = place % (before + 1)
            before = above + reader.line_num
            # The line below the heading of a Markdown table.
            if (
                row
                and not (shape.headed and number == 0)
                and not (any(row) and all(_RULE.fullmatch(cell) for cell in row if cell))
            ):
                yield location, _as_record(row, shape) or Skipped(location, "broken")
    except csv.Error as error:
        raise ImportRejected("table_broken", place % (before + 1)) from error


def _as_record(row: list[str], shape: Shape) -> dict[str, str] | None:
    """The row by columns. A row that is too long has unquoted delimiters in its last cell."""
    row = [cell.strip() for cell in row] if shape.delimiter == "|" else row
    width = len(shape.columns)
    if len(row) > width:
        row = [*row[: width - 1], shape.delimiter.join(row[width - 1 :])]
    return dict(zip(shape.columns, row, strict=False)) if len(row) > 1 else None


FORMATS = (Table(),)
