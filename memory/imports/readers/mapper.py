"""Any JSON, CSV or TSV of records: the meaning of the fields is guessed, and read as a person confirms it.

For files without a published structure (exports of Character.AI, Replika and similar programs and tools):
`guess(source)` reads the beginning of the file; a person confirms or corrects the Mapping, which is then passed as
`Options.mapping`. A guess is never used without confirmation.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any

import ijson
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memory.imports.readers import table
from memory.imports.readers.applying import ChoiceReader, Record, order_of_days, require_speaker
from memory.imports.readers.fields import Mapping, guess_mapping, partner_in, value_at
from memory.imports.readers.json_values import Unread, loads, reason_of, values
from memory.imports.readers.lines import array, word
from memory.imports.readers.lines import table as table_of
from memory.imports.readers.members import likely_members
from memory.imports.readers.source import Member, Sample, Source
from memory.imports.readers.types import ImportRejected, Options, ReaderItem, Skipped

_MAX_VALUES = 200
_MAX_FIELDS = 400
_MAX_PLACES = 400
_LONGEST_VALUE = 400
_BEGINNING = 1024 * 1024
_DEEPEST = 16
# Bytes that are parsed before the depth is checked: the parser's paths grow with it.
_AT_A_TIME = 256
_TITLES = ("title", "name")


class MappedFile:
    name = "mapped"
    label = gettext_lazy("Other JSON or table: you choose the fields")

    def resembles(self, sample: Sample) -> float:
        if sample.members or not sample.paths:
            return 0.0
        mapping = _best_mapping(_beginning_of(sample.text))
        return 0.0 if mapping is None else 0.5 if mapping.sure else 0.4 if mapping.speaker else 0.3

    def read(self, source: Source, options: Options) -> Iterator[ReaderItem]:
        mapping, likely = options.mapping, guess(source)
        if mapping is None and likely is None:
            raise ImportRejected("nothing_found")
        if not isinstance(mapping, Mapping):
            raise ImportRejected("ask_mapping")
        if not source.sample.paths:
            yield from table.Table().read(source, options)
            return
        require_speaker(
            mapping, likely, (path.removeprefix(f"{mapping.records}.") for path in source.sample.paths), options
        )
        order = order_of_days(
            lambda: (
                record for _title, _where, records, _with in _conversations(source, mapping) for record in records
            ),
            mapping,
            options,
        )
        applying = ChoiceReader(mapping, order, options.limits, source.name)
        above = partner_in(_beginning_of(_first_megabyte(source)).fields.get("", {})) if mapping.records else ""
        for title, location, records, partner in _conversations(source, mapping):
            yield from applying.read(records, title, location, partner or above)


def guess(source: Source) -> Mapping | None:
    """The guessed fields of speaker, text and time; None if the file has none. In a zip, of the file with the plainest
    guess."""
    if source.members:
        inside = with_records(source)
        return None if inside is source else guess(inside)
    if not source.sample.paths:
        return table.guess(source)
    return _best_mapping(_beginning_of(_first_megabyte(source)))


def with_records(source: Source) -> Source:
    """The file with the records: in a zip the one with the plainest guess."""
    best, records_source = (False, False, False), source
    for name in likely_members(source):
        member = Member(source, name)
        try:
            likely = guess(member)
        except ImportRejected:
            continue  # Another file may hold records.
        if likely and (records_source is source or (likely.sure, bool(likely.speaker), bool(likely.at)) > best):
            best, records_source = (likely.sure, bool(likely.speaker), bool(likely.at)), member
    return records_source


def _first_megabyte(source: Source) -> str:
    pieces: list[str] = []
    for piece in source.texts():
        pieces.append(piece)
        if sum(map(len, pieces)) >= _BEGINNING:
            break
    return "".join(pieces)


@dataclass
class _FieldSamples:
    """Values from the beginning of a file: for each place of records, some values of every field."""

    fields: dict[str, dict[str, list[Any]]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(list)))

    def take(self, place: str, value: Any) -> None:
        around, item, path = place.rpartition("item.")
        records = f"{around}item" if item else ""
        if records not in self.fields and len(self.fields) >= _MAX_PLACES:
            return
        fields = self.fields[records]
        if path and (path in fields or len(fields) < _MAX_FIELDS) and len(fields[path]) < _MAX_VALUES:
            fields[path].append(value[:_LONGEST_VALUE] if isinstance(value, str) else value)


def _beginning_of(text: str) -> _FieldSamples:
    seen_fields = _FieldSamples()
    scalars = {"string", "number", "boolean", "null", "integer", "double"}
    beginning = BytesIO(text.encode())
    try:
        for place, event, value in ijson.parse(beginning, _AT_A_TIME, multiple_values=True, use_float=True):
            if place.count(".") >= _DEEPEST:
                break
            if event in scalars:
                seen_fields.take(place, value)
    except (ijson.JSONError, ValueError):
        pass  # The beginning is cut off; the values before the cut are valid.
    return seen_fields


def _best_mapping(fields_seen: _FieldSamples) -> Mapping | None:
    """The likeliest place of records: preferably one whose names leave no doubt, then the one with the most records."""
    guesses = [(guess_mapping(fields, records), fields) for records, fields in fields_seen.fields.items()]
    # Records at the top must be several, one a line.
    counted_guesses = [(guess, len(fields[guess.text])) for guess, fields in guesses if guess]
    counted_guesses = [(guess, count) for guess, count in counted_guesses if guess.records or count > 1]
    weighed = sorted(
        counted_guesses,
        key=lambda counted_guess: (counted_guess[0].sure, bool(counted_guess[0].speaker), counted_guess[1]),
        reverse=True,
    )
    return weighed[0][0] if weighed else None


def _conversations(source: Source, mapping: Mapping) -> Iterator[tuple[str, str, Iterator[Record], str]]:
    """Title, place and records of each conversation, and the partner if the fields above name one. Records within the
    same element of an outer array belong together."""
    # The place of the conversations around records, and the path from a conversation to its records; "" if there is
    # none.
    before, item, inner = mapping.records.removesuffix(".item").rpartition("item.")
    outer = f"{before}item" if item else ""
    # Whether every line is a JSON value of its own.
    first, _end, following = _first_megabyte(source).lstrip().partition("\n")
    has_lines = following.lstrip().startswith("{") and not isinstance(_value_of(first, source), Unread)
    if not has_lines and not outer:
        yield "", "", _numbered(value for _place, value in values(source, (mapping.records,))), ""
        return
    if has_lines and not mapping.records:
        yield "", "", _numbered(_values_of_lines(source)), ""
        return
    conversations = _values_of_lines(source) if has_lines else (value for _place, value in values(source, (outer,)))
    for number, value in enumerate(conversations, 1):
        location = _("conversation %d") % number
        if isinstance(value, Unread):
            yield "", location, iter([(location, Skipped(location, value.reason))]), ""
        else:
            above = table_of(value)
            fields = {key: [item] for key, item in above.items()}
            fields |= {
                f"{key}.{name}": [value] for key, item in above.items() for name, value in table_of(item).items()
            }
            yield _title(value), location, _numbered(array(value_at(value, inner)), location), partner_in(fields)


def _values_of_lines(source: Source) -> Iterator[Any]:
    return (_value_of(line.text, source) for line in source.lines() if line.text.strip())


def _value_of(text: str, source: Source) -> Any:
    try:
        return loads(text, source.limits)
    except ValueError:
        return Unread("broken")


def _title(conversation: Any) -> str:
    return next(
        (word(conversation[key]) for key in _TITLES if isinstance(conversation, dict) and key in conversation), ""
    )


def _numbered(values: Iterable[Any], around: str = "") -> Iterator[Record]:
    """The records with their places; other values are skipped."""
    message_number = _("message %d")
    for number, value in enumerate(values, 1):
        location = f"{around}, {message_number % number}" if around else message_number % number
        reason = reason_of(value)
        yield location, value if isinstance(value, dict) else Skipped(location, reason)


FORMATS = (MappedFile(),)
