"""Broken, truncated and hostile chat files: refused with a position or reported as skipped, no more."""

import random
from pathlib import Path

import pytest

from memory.imports.readers import FORMATS, format_named, recognize
from memory.imports.readers.types import Format, ImportRejected, Limits, Options, ReaderItem
from tests.memory.imports.readers.format_writers import FORMAT_WRITERS, ChatMessage, FormatWriter
from tests.memory.imports.readers.sources import FILES, fixture, messages_of, read_items, skips_of, source_of, zip_of
from tests.table import each_row

TALKS = [
    FILES / name
    for name in (
        "chatgpt.json", "claude.json", "claude.jsonl", "claude_memories.json", "telegram_chat.json",
        "telegram_full.json", "discord.json", "sillytavern.jsonl", "ooba.json", "agnai.json", "cai_tools.json",
        "kobold_marked.json", "kobold_named.json", "risu.json", "transcript.txt", "line.txt", "_chat.txt",
        "deepseek.json", "gemini.json", "role_messages.json", "character_ai.json",
        "messenger.json", "messenger_e2ee.json", "slack_day.json", "google_chat.json", "discord_package.json",
        "weflow.json", "mem0.json", "zep.json", "replika.json", "chatgpt_unlinked.json", "letta.af",
        "WhatsApp Chat with Mira.txt",
        "与小美的 WhatsApp 聊天.txt",
    )
]  # fmt: skip
JSON_TALKS = [path for path in TALKS if path.suffix in (".json", ".af")]
LINES = [ChatMessage(bool(number % 2), f"Line {number} 你好") for number in range(40)]


def read_or_reject(form: Format, data: bytes, day_first: bool | None = None) -> list[ReaderItem] | ImportRejected:
    limits = Limits(item_bytes=1_000_000, line_characters=1_000_000)
    try:
        return read_items(form, source_of(data, limits=limits), Options(day_first=day_first, limits=limits))
    except ImportRejected as rejected:
        return rejected


def mutate(data: bytes, chance: random.Random) -> bytes:
    """`data` with a few bytes changed, cut out, doubled, or replaced by what parsers trip over."""
    changed = bytearray(data)
    for _time in range(chance.randint(1, 4)):
        place = chance.randrange(len(changed) + 1)
        action = chance.randrange(5)
        if action == 0:
            changed[place : place + 1] = bytes([chance.randrange(256)])
        elif action == 1:
            del changed[place : place + chance.randrange(1, 200)]
        elif action == 2:
            changed[place:place] = changed[place : place + chance.randrange(1, 200)]
        elif action == 3:
            changed[place:place] = chance.choice(
                [
                    b"\0",
                    b"\xff\xfe",
                    b'"',
                    b"{",
                    b"]",
                    b"null",
                    b"1e999",
                    b"-" * 50,
                    b"[" * 100,
                    b"\\ud800",
                    b"9" * 5000,
                ]
            )
        else:
            del changed[place:]
    return bytes(changed)


@each_row("path", TALKS, ids=lambda path: path.name)
def test_a_damaged_file_is_read_in_part_or_refused(path: Path) -> None:
    chance = random.Random(path.name)
    data = path.read_bytes()
    form = recognize(fixture(path.name))
    for _time in range(20):
        read_or_reject(form, mutate(data, chance))


@each_row("path", TALKS, ids=lambda path: path.name)
def test_no_format_trips_over_the_files_of_others(path: Path) -> None:
    for form in FORMATS:
        read_or_reject(form, path.read_bytes())


@pytest.mark.campaign
@pytest.mark.parametrize("path", TALKS, ids=lambda path: path.name)
def test_thousands_of_damaged_files_do_no_harm(path: Path) -> None:
    chance = random.Random(1)
    form = recognize(fixture(path.name))
    for _time in range(2_000):
        read_or_reject(form, mutate(path.read_bytes(), chance))


WRONG_VALUES = [b"null", b"0", b'"x"', b"[]", b"{}", b"true", b"[null]", b"[{}]", b"[[[]]]", b'{"a":{"b":[1]}}']


@pytest.mark.parametrize("values", [1, pytest.param(len(WRONG_VALUES), marks=pytest.mark.campaign)])
@each_row("path", JSON_TALKS, ids=lambda path: path.name)
def test_a_value_of_another_kind_anywhere_does_no_harm(path: Path, values: int) -> None:
    """Replace each value of the file in turn by values of other types."""
    chance = random.Random(path.name)
    text = path.read_bytes()
    form = recognize(fixture(path.name))
    places = [place for place in range(len(text) - 1) if text[place : place + 2] == b": "]
    for place in places:
        end = text.find(b"\n", place)
        comma = b"," if text[:end].endswith(b",") else b""
        for value in chance.sample(WRONG_VALUES, values):
            read_or_reject(form, text[: place + 2] + value + comma + text[end:])


@each_row(("name", "render"), FORMAT_WRITERS)
def test_a_file_cut_off_gives_the_lines_before_or_a_place(name: str, render: FormatWriter) -> None:
    data = render(LINES)
    whole = [message.text for message in LINES]
    for size in range(len(data) // 2, len(data), max(1, len(data) // 40)):
        result = read_or_reject(format_named(name), data[:size])
        if isinstance(result, ImportRejected):
            assert result.location
        else:
            *texts, _last = [message.text for message in messages_of(result)] or [""]
            assert whole[: len(texts)] == texts


@each_row(("name", "render"), FORMAT_WRITERS)
def test_bytes_of_no_encoding_are_refused_with_their_place(name: str, render: FormatWriter) -> None:
    data = render(LINES)
    middle = data.index(b"ine 20")
    result = read_or_reject(format_named(name), data[:middle] + b"\xff" + data[middle:])
    assert isinstance(result, ImportRejected)
    assert result.code == "encoding"
    assert f"byte {middle}" in result.location


@each_row(("name", "render"), FORMAT_WRITERS)
def test_the_place_of_broken_json_is_the_letter_where_it_breaks(name: str, render: FormatWriter) -> None:
    data = render(LINES)
    if not data.startswith((b"{", b"[")) or b"\n" in data:
        return
    middle = data.index(b"ine 20")
    result = read_or_reject(format_named(name), data[:middle] + b"\n" + data[middle:])
    assert isinstance(result, ImportRejected)
    assert (result.code, result.location) == ("not_json", "line 2, character 0")


@each_row("name", sorted({name for name, _render in FORMAT_WRITERS}))
@each_row("data", [b"", b" \n", b"\0\0\0", b"\x89PNG\r\n\x1a\n\0\0", b"[", b"\xff\xfe"])
def test_data_of_another_format_is_rejected_or_empty(name: str, data: bytes) -> None:
    result = read_or_reject(format_named(name), data)
    assert isinstance(result, ImportRejected) or messages_of(result) == []


@each_row("data", [b"", b"\0\1\2" * 100, b"\xff" * 100, zip_of({"a.bin": b"\0"})])
def test_an_unknown_format_is_rejected_with_its_contents(data: bytes) -> None:
    with pytest.raises(ImportRejected) as rejected:
        recognize(source_of(data, "thing.bin"))
    assert rejected.value.code in ("empty", "binary", "encoding", "unknown_format")
    assert rejected.value.code != "unknown_format" or "1 other file" in rejected.value.reason


def test_deep_nesting_costs_one_conversation() -> None:
    deep = b'{"mapping":' + b"[" * 5_000 + b"]" * 5_000 + b"}"
    good = FORMAT_WRITERS[0][1]([ChatMessage(True, "Still here.")])[1:-1]
    result = read_or_reject(format_named("chatgpt"), b"[" + deep + b"," + good + b"]")
    assert not isinstance(result, ImportRejected)
    assert [message.text for message in messages_of(result)] == ["Still here."]
    assert skips_of(result) == ["too_deep"]


def test_a_conversation_too_large_to_hold_costs_only_itself() -> None:
    large = FORMAT_WRITERS[0][1]([ChatMessage(True, "x" * 1_000)] * 2_000)[1:-1]
    good = FORMAT_WRITERS[0][1]([ChatMessage(True, "Still here.")])[1:-1]
    result = read_or_reject(format_named("chatgpt"), b"[" + large + b"," + good + b"]")
    assert not isinstance(result, ImportRejected)
    assert [message.text for message in messages_of(result)] == ["Still here."]
    assert skips_of(result) == ["too_long"]


def test_one_endless_string_is_refused_before_it_fills_the_memory() -> None:
    result = read_or_reject(format_named("chatgpt"), b'["' + b"x" * 3_000_000)
    assert isinstance(result, ImportRejected)
    assert result.code == "too_big"


def test_one_endless_line_is_refused() -> None:
    result = read_or_reject(format_named("transcript"), b"Ana: hello\nMira: hello\n" + b"x" * 3_000_000)
    assert isinstance(result, ImportRejected)
    assert (result.code, result.location) == ("line_too_long", "line 3")
    assert str(result) == "line 3: A line in the file is too long for this format."
