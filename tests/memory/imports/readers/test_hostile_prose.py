"""Broken and hostile diaries, tables, records and memories: refused with a sentence or reported as skipped, no more."""

import random

import pytest

from memory.imports.readers import cards, day_one, journal, mapper, pam, read, recognize, table
from memory.imports.readers.mapper import guess
from memory.imports.readers.types import Format, ImportRejected, Limits, Options
from tests.memory.imports.readers.mutations import mutate
from tests.memory.imports.readers.sources import FILES, fixture, read_items, source_of
from tests.table import each_row

FORMATS: list[Format] = [
    *cards.FORMATS, *day_one.FORMATS, *journal.FORMATS, *mapper.FORMATS, *pam.FORMATS, *table.FORMATS,
]  # fmt: skip
NAMES = [
    "card_v1.json", "card_v2.json", "card_v3.json", "lorebook_v3.json", "world_info.json", "journal.md",
    "journal_zh.txt", "day_one.json", "messages.csv", "messages_zh.tsv", "diary.csv", "companion.csv",
    "character_talks.json", "pam_store.json", "pam_conversation.json",
]  # fmt: skip


def survives(form: Format, data: bytes, name: str) -> None:
    """Assert that the file is read, or refused with a sentence; anything else raises."""
    limits = Limits(item_bytes=1_000_000, line_characters=1_000_000)
    try:
        source = source_of(data, name, limits)
        mapping = guess(source) if form.name == "mapped" else None
        read_items(form, source, Options(mapping=mapping, limits=limits))
    except ImportRejected as rejected:
        str(rejected)


def read_all(data: bytes, name: str) -> None:
    try:
        list(read(source_of(data, name)))
    except ImportRejected as rejected:
        str(rejected)


@each_row("name", NAMES)
def test_a_damaged_file_is_read_in_part_or_refused(name: str) -> None:
    chance = random.Random(name)
    data, form = (FILES / name).read_bytes(), recognize(fixture(name))
    for _time in range(60):
        survives(form, mutate(data, chance), name)
        read_all(mutate(data, chance), name)


@each_row("name", sorted(path.name for path in FILES.iterdir()))
def test_no_format_trips_over_the_files_of_others(name: str) -> None:
    for form in FORMATS:
        for beginning in (b"", b"\xef\xbb\xbf", b"\xff\xfe"):
            survives(form, beginning + (FILES / name).read_bytes(), name)


@each_row("form", FORMATS, ids=lambda form: form.name)
@each_row("encoding", ["utf-16", "utf-16-be", "gb18030", "utf-32", "latin-1"])
def test_no_format_trips_over_an_encoding(form: Format, encoding: str) -> None:
    for name in NAMES:
        survives(form, (FILES / name).read_text(encoding="utf-8").encode(encoding, "replace"), name)


@each_row("form", FORMATS, ids=lambda form: form.name)
@each_row(
    "data",
    [
        b"", b"\n", b" ", b"\0", b"\xff", b"{}", b"[]", b"null", b"[" * 200_000, b'{"a":' * 50_000, b"9" * 10_000,
        b'{"data":' * 40, b"PK\x03\x04", b"PK\x05\x06" + bytes(18), b"\x89PNG\r\n\x1a\n", b",\n" * 1000, b'"',
        b'"' * 999, b"---\n", b"2024-01-05", b"\xef\xbb\xbf", b"a,b\n\"c\n" * 500, b"[{\"text\": " * 300,
    ],
    ids=lambda data: repr(data[:12]),
)  # fmt: skip
def test_no_format_trips_over_next_to_nothing(form: Format, data: bytes) -> None:
    survives(form, data, "file")
    assert 0 <= form.resembles(source_of(data).sample) <= 1


@pytest.mark.campaign
@pytest.mark.parametrize("name", NAMES)
def test_thousands_of_damaged_files_do_no_harm(name: str) -> None:
    chance = random.Random(1)
    data, form = (FILES / name).read_bytes(), recognize(fixture(name))
    for _time in range(2_000):
        survives(form, mutate(data, chance), name)
