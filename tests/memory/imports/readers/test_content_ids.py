"""Ids for messages without one in their file: the same at every reading and in later exports, and unique."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.utils.translation import override

from memory.imports.readers import content_ids, format_named, recognize
from memory.imports.readers.fields import Mapping
from memory.imports.readers.mapper import guess
from memory.imports.readers.types import Card, FileSession, ImportRejected, Options, ReaderItem
from tests.memory.imports.readers.format_writers import FORMAT_WRITERS, ChatMessage, FormatWriter
from tests.memory.imports.readers.sources import FILES, entries_of, messages_of, read_items, source_of, zip_source
from tests.table import each_row

TIMES = [f"2024-01-0{day} 10:0{minute}:00" for day in (5, 6, 7) for minute in (0, 0, 3)]
WHO = ["Ana", "Mira", "Ana"] * 3
# "Yes" occurs at several times, and "Oh" twice at the same time.
WORDS = ["Oh", "Yes", "Oh", "Yes", "Yes", "And then?", "Yes", "Bye", "Bye"]
SAID = list(zip(TIMES, WHO, WORDS, strict=True))


def table(messages: Sequence[tuple[str, str, str]]) -> str:
    return "date,from,text\n" + "".join(f"{at},{who},{text}\n" for at, who, text in messages)


def transcript(messages: Sequence[tuple[str, str, str]]) -> str:
    return "".join(f"{at} {who}: {text}\n" for at, who, text in messages)


def diary(messages: Sequence[tuple[str, str, str]]) -> str:
    return "full_date,time,mood,note\n" + "".join(f"{at[:10]},{at[11:16]},good,{text}\n" for at, _who, text in messages)


def records(messages: Sequence[tuple[str, str, str]]) -> str:
    return json.dumps([{"sender": who, "message": text, "when": at} for at, who, text in messages])


def roles(messages: Sequence[tuple[str, str, str]]) -> str:
    sides = {"Ana": "user", "Mira": "assistant"}
    return json.dumps([{"role": sides[who], "content": text, "timestamp": at} for at, who, text in messages])


def turns(messages: Sequence[tuple[str, str, str]]) -> str:
    rows = [
        {"author": {"name": who}, "create_time": at, "candidates": [{"raw_content": text}]}
        for at, who, text in messages
    ]
    return json.dumps({"turns": rows})


def sillytavern(messages: Sequence[tuple[str, str, str]]) -> str:
    rows = [{"name": who, "is_user": who == "Ana", "mes": text, "send_date": at} for at, who, text in messages]
    return "\n".join(map(json.dumps, [{"user_name": "Ana", "character_name": "Mira"}, *rows]))


def gemini(messages: Sequence[tuple[str, str, str]]) -> str:
    return json.dumps(
        [
            {"header": "Gemini Apps", "title": f"Prompted {text}", "time": at, "products": []}
            for at, _who, text in messages
        ]
    )


def whatsapp(messages: Sequence[tuple[str, str, str]]) -> str:
    return "".join(f"[{at[:10].replace('-', '/')}, {at[11:]}] {who}: {text}\n" for at, who, text in messages)


def irc(messages: Sequence[tuple[str, str, str]]) -> str:
    return "".join(f"[{at}] <{who}> {text}\n" for at, who, text in messages)


EXPORTS = [
    ("table", table), ("transcript", transcript), ("table", diary), ("mapped", records), ("role_messages", roles),
    ("character_ai", turns), ("sillytavern", sillytavern), ("gemini", gemini), ("whatsapp", whatsapp), ("chatlog", irc),
]  # fmt: skip


def read_confirmed(name: str, data: str | bytes, file: str = "file") -> list[ReaderItem]:
    """The items read when a person confirms the guess."""
    source = source_of(data, file)
    mapping = guess(source) if name in ("mapped", "table") else None
    try:
        return read_items(format_named(name), source, Options(mapping=mapping))
    except ImportRejected as rejected:
        if rejected.code not in ("ask_day_first", "ask_chat_or_notes"):
            raise
        return read_items(format_named(name), source, Options(day_first=True, mapping=mapping, kind="chat"))


def ids(items: list[ReaderItem]) -> list[str]:
    return [message.source_id for message in messages_of(items)] + [entry.source_id for entry in entries_of(items)]


@each_row("newest_first", [False, True], ids=["oldest first", "newest first"])
@each_row(("name", "render"), EXPORTS, ids=lambda value: getattr(value, "__name__", value))
def test_a_later_export_has_the_ids_of_an_earlier_one(name: str, render: Any, newest_first: bool) -> None:
    in_order = SAID[::-1] if newest_first else SAID
    whole = ids(read_confirmed(name, render(in_order)))
    assert len(set(whole)) == len(SAID)
    longer_at_the_end, longer_on_top = (
        ids(read_confirmed(name, render(part), "b")) for part in (in_order[:6], in_order[3:])
    )
    assert len(longer_at_the_end) == len(longer_on_top) == 6
    assert {*longer_at_the_end} | {*longer_on_top} == {*whole}


UNDATED = [
    ("transcript", lambda words: "".join(f"{who}: {text}\n" for who, text in words)),
    ("ooba", lambda words: json.dumps({"data_visible": [[words[0][1], words[1][1]], [words[2][1], words[3][1]]]})),
    ("kobold_lite", lambda words: json.dumps({"prompt": "", "actions": [f"\n{who}: {text}" for who, text in words],
        "savedsettings": {"chatname": "Ana", "chatopponent": "Mira"}})),
    ("agnai", lambda words: json.dumps({"name": "Mira", "messages": [{"msg": text} for _who, text in words]})),
    ("sillytavern", lambda words: "\n".join(map(json.dumps, [{"character_name": "Mira"}, *(
        {"name": who, "is_user": who == "Ana", "mes": text} for who, text in words)]))),
    ("role_messages", lambda words: json.dumps([{"role": "user", "content": text} for _who, text in words])),
    ("character_ai", lambda words: json.dumps({"turns": [
        {"author": {"name": who}, "candidates": [{"raw_content": text}]} for who, text in words]})),
    ("table", lambda words: "from,text\n" + "".join(f"{who},{text}\n" for who, text in words)),
    ("mapped", lambda words: json.dumps([{"sender": who, "message": text} for who, text in words])),
    ("chatlog", lambda words: "".join(f"[21:0{number}] <{who}> {text}\n" for number, (who, text) in enumerate(words))),
]  # fmt: skip


@each_row(("name", "render"), UNDATED, ids=[name for name, _written in UNDATED])
def test_undated_sessions_that_begin_alike_share_no_line(name: str, render: Any) -> None:
    sessions = [[("Ana", "Hi"), ("Mira", "Hello!"), ("Ana", f"Talk {n}"), ("Mira", "Hello!")] for n in range(3)]
    id_lists = [ids(read_confirmed(name, render(session), f"talk {n}")) for n, session in enumerate(sessions)]
    assert [len(source_ids) for source_ids in id_lists] == [4, 4, 4]
    assert len({*id_lists[0], *id_lists[1], *id_lists[2]}) == 12
    assert ids(read_confirmed(name, render(sessions[1]), "talk 1")) == id_lists[1]


@each_row("name", ["mapped", "role_messages"])
def test_a_newer_session_on_top_leaves_the_ids_of_undated_ones(name: str) -> None:
    sides = ("user", "assistant", "user", "assistant")
    sessions = [
        {"messages": [
            {"role": side, "content": text} for side, text in zip(sides, ("Hi", "Hello!", f"{n}", "Yes"), strict=True)
        ]}
        for n in range(3)
    ]  # fmt: skip
    before, after = (ids(read_confirmed(name, json.dumps(chats))) for chats in (sessions[1:], sessions))
    assert len({*after}) == 12
    assert {*before} == {*after[4:]}


@each_row(
    ("name", "render", "files"),
    [
        ("whatsapp", whatsapp, ("WhatsApp Chat with Mira.txt", "WhatsApp Chat with Mira (1).txt")),
        ("sillytavern", sillytavern, ("chats/Mira/a.jsonl", "chats/Mira/a - Branch #1.jsonl")),
    ],
)
def test_an_earlier_export_or_a_branch_in_the_same_zip_has_the_same_ids(
    name: str, render: Any, files: tuple[str, str]
) -> None:
    chats = zip_source({files[0]: render(SAID), files[1]: render(SAID[:6])})
    source_ids = ids(read_items(format_named(name), chats))
    assert len(source_ids) == len(SAID) + 6
    assert len({*source_ids}) == len(SAID)


def test_a_chat_is_the_same_with_its_title_in_its_name_and_without() -> None:
    titled_ids, untitled_ids = (
        ids(read_confirmed("whatsapp", whatsapp(SAID), f"{stem}.txt")) for stem in ("WhatsApp Chat with M", "_chat")
    )
    assert titled_ids == untitled_ids


def test_more_of_one_moment_than_are_held_are_told_apart_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(content_ids, "_MAX_HELD", 3)
    messages = [("2024-01-05 10:00:00", "Ana", word) for word in "abcdabcd"] + [("2024-01-06 10:00:00", "Ana", "a")]
    source_ids = ids(read_confirmed("table", table(messages)))
    assert len({*source_ids}) == len(messages)
    assert source_ids[-1] == ids(read_confirmed("table", table(messages[-1:])))[0]


def test_an_id_of_the_file_can_be_stored_whatever_is_in_it() -> None:
    rows = [{"id": f"\ud800\0{n}", "from": who, "text": "Hello", "date": "2024-01-05"} for n, who in enumerate("AMAM")]
    for records in (rows, [{"id": row["id"], "date": row["date"], "text": "It rained all day."} for row in rows]):
        data = "\n".join(map(json.dumps, records))
        mapping = Mapping("text", "from" if "from" in records[0] else "", "date", source_id="id")
        source_ids = ids(read_items(format_named("mapped"), source_of(data), Options(mapping=mapping)))
        assert [source_id.encode() for source_id in source_ids] == [f"?{n}".encode() for n in range(4)]


def bare(item: ReaderItem) -> ReaderItem:
    """`item` without the positions that are shown to people."""
    if isinstance(item, FileSession):
        return replace(item, location="", lines=tuple(replace(message, location="") for message in item.lines))
    if isinstance(item, Card):
        return replace(item, location="", lore=tuple(replace(lore, location="") for lore in item.lore))
    return replace(item, location="")


def read_in(language: str, name: str, data: bytes, file: str) -> list[ReaderItem]:
    with override(language):
        return [bare(item) for item in read_confirmed(name, data, file)]


@each_row("path", sorted(FILES.iterdir()), ids=lambda path: path.name)
def test_a_file_says_the_same_in_every_language_of_the_reader(path: Path) -> None:
    data = path.read_bytes()
    name = recognize(source_of(data, path.name)).name
    for file in (path.name, ""):
        assert read_in("en", name, data, file) == read_in("zh-hans", name, data, file)


@each_row(("name", "render"), FORMAT_WRITERS)
def test_a_session_has_the_same_ids_in_every_language_of_the_reader(name: str, render: FormatWriter) -> None:
    data = render([ChatMessage(bool(n % 2), "Hello") for n in range(4)])
    english = read_in("en", name, data, "")
    assert english == read_in("zh-hans", name, data, "")
    assert len({*ids(english)}) == 4
