"""Replika's data: messages, and the diary that Replika writes, as JSON or CSV, in one file or in a zip.

    {messages: [{from: "Me" | "Rep", text, timestamp}], diary: [{date, title, text}]}
    messages.csv  Timestamp,From,Text        diary.csv  Date,Title,Text

The diary is not the owner's: Replika writes in it what it remembers of them, so each entry becomes a memory.
"""

import csv
import re
from collections.abc import Iterator
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memory.imports.readers.fields import value_at
from memory.imports.readers.html_text import words_of
from memory.imports.readers.json_values import objects, reason_of, values
from memory.imports.readers.lines import SessionReader, skip_others, storable, word
from memory.imports.readers.source import Sample, Source
from memory.imports.readers.time_order import oldest_first, weight
from memory.imports.readers.types import (
    FileMessage,
    ImportRejected,
    Limits,
    Options,
    ReaderItem,
    Remembered,
    Role,
    Skipped,
    digest,
)
from memory.imports.readers.when import TimeOfRecord, read_time
from memory.imports.readers.zips import within

_TITLE = "Replika"
_REPLIKA = re.compile(r"replika", re.I)
_DIARY = re.compile(r"diary|diaries|memories|memory", re.I)
_CHAT = re.compile(r"message|chat|conversation|history", re.I)
_DATA = (".json", ".csv")
_DIARY_LISTS = (
    "diary.item",
    "diaries.item",
    "diary.entries.item",
    "diary_entries.item",
    "memory.item",
    "memories.item",
)
_CHAT_LISTS = ("messages.item", "chat.item", "chat_history.item", "history.item", "chat.messages.item")
_TEXTS = ("text", "content.text", "content", "message", "body", "entry", "fact", "description")
_SPEAKERS = ("from", "sender", "author", "meta.nature", "nature", "role", "who", "is_user", "from_user")
_TIMES = ("timestamp", "meta.timestamp", "created_at", "createdAt", "date", "time", "sent_at", "creation_date")
_IDS = ("id", "uuid", "message_id")
_OWNERS = frozenset({"me", "user", "you", "customer", "human", "true", "1"})
_SIGNS = re.compile(
    r'"(?:from|sender|author)"\s*:\s*"(?:Rep|Replika)"|"nature"\s*:\s*"Robot"|(?:,|")Rep(?:lika)?(?:"?,)'
)


class Replika:
    name = "replika"
    label = gettext_lazy("Replika (messages and diary)")

    def resembles(self, sample: Sample) -> float:
        if sample.members:
            names = _data(sample.members)
            is_named = _REPLIKA.search(" ".join((sample.name, *names[:50]))) is not None
            chats = [name for name in names if _CHAT.search(name) or _DIARY.search(name)][:10]
            has_signs = any(_SIGNS.search(sample.inside(name).text) for name in chats)
            return 0.9 if chats and (is_named or has_signs) else 0.0
        paths = sample.paths
        both = any(f"{place.removesuffix('.item')}" in paths for place in _DIARY_LISTS)
        if both and any(place.removesuffix(".item") in paths for place in _CHAT_LISTS):
            return 0.9 if _SIGNS.search(sample.text) or _REPLIKA.search(sample.name) else 0.0
        is_diary = (
            _REPLIKA.search(sample.name) and _DIARY.search(sample.name) and sample.name.casefold().endswith(_DATA)
        )
        return 0.96 if is_diary else 0.0

    def read(self, source: Source, options: Options) -> Iterator[ReaderItem]:
        files = [name for name in _data(source.members) if _CHAT.search(_base(name)) or _DIARY.search(_base(name))]
        yield from skip_others(source, files, _DATA)
        for file in files or [""]:
            with within(file):
                sample = source.sample.inside(file) if file else source.sample
                name, limits = _base(file or source.name), options.limits
                fields = {path for path in sample.paths if "." not in path and path != "item"}
                diaries = [place for place in _DIARY_LISTS if place.partition(".")[0] in fields]
                chats = [place for place in _CHAT_LISTS if place.partition(".")[0] in fields]
                if (diaries or chats) and not sample.text.lstrip().startswith("["):
                    yield from _diary((value for _place, value in values(source, diaries, file)), limits)
                    yield from _chat((value for _place, value in values(source, chats, file)), file, limits)
                elif _DIARY.search(name):
                    yield from _diary(_records(source, file), limits)
                else:
                    yield from _chat(_records(source, file), file, limits)


def _data(members: tuple[str, ...]) -> list[str]:
    return [name for name in members if name.casefold().endswith(_DATA)]


def _base(name: str) -> str:
    return name.rpartition("/")[2]


def _records(source: Source, file: str) -> Iterator[Any]:
    sample = source.sample.inside(file) if file else source.sample
    if sample.text.lstrip()[:1] in ("[", "{"):
        yield from objects(source, file)
        return
    try:
        for row in csv.DictReader((f"{line.text}\n" for line in source.lines(file)), strict=True):
            yield {str(key).strip().casefold(): value for key, value in row.items()}
    except csv.Error as error:
        raise ImportRejected("table_broken", file) from error


def _first(record: Any, paths: tuple[str, ...]) -> Any:
    candidates = (value_at(record, path) for path in paths)
    return next((value for value in candidates if isinstance(value, str | int | float) and value != ""), None)


def _diary(entries: Iterator[Any], limits: Limits) -> Iterator[Remembered | Skipped]:
    for number, entry in enumerate(entries, start=1):
        location = _("entry %d") % number
        if not isinstance(entry, dict | str):
            yield Skipped(location, reason_of(entry))
            continue
        text = storable(words_of(entry if isinstance(entry, str) else word(_first(entry, _TEXTS)))).strip()
        title = storable(word(value_at(entry, "title"))).strip() if isinstance(entry, dict) else ""
        text = f"{title}\n\n{text}" if title and text and not text.startswith(title) else text or title
        if not text:
            yield Skipped(location, "empty")
        elif len(text.encode()) > limits.message_bytes:
            yield Skipped(location, "too_long")
        else:
            when = _when(entry)
            entry_id = storable(word(_first(entry, _IDS))) if isinstance(entry, dict) else ""
            day = when.day if when else None
            yield Remembered(text, "diary", day, None, entry_id or digest("diary", day, text), location)


def _when(record: Any) -> TimeOfRecord | None:
    value = _first(record, _TIMES)
    return read_time(value) if value is not None else None


def _chat(messages: Iterator[Any], file: str, limits: Limits) -> Iterator[ReaderItem]:
    reader, source_id = _Messages(limits), digest("replika", _base(file))
    reader.places.begin(source_id)
    ordered = oldest_first(messages, _moment, weight, limits)
    return reader.read_session(_TITLE, source_id, _TITLE, ordered)


def _moment(record: Any) -> Any:
    when = _when(record) if isinstance(record, dict) else None
    return when.as_moment() if when else None


class _Messages(SessionReader):
    def read_message(self, message: dict[str, Any], location: str) -> Iterator[FileMessage | Skipped]:
        text = word(_first(message, _TEXTS))
        if not text.strip() and value_at(message, "content.type") not in (None, "text"):
            yield Skipped(location, "media")
            return
        value = next((value for path in _SPEAKERS if (value := value_at(message, path)) not in (None, "")), "")
        name = word(value)
        is_owner = str(value).casefold() in _OWNERS or value is True
        role: Role = "user" if is_owner else "persona"
        speaker = "user" if is_owner else name if name and not name.isdecimal() else _TITLE
        yield self.line(speaker, text, _moment(message), location, word(_first(message, _IDS)), role)


FORMATS = (Replika(),)
