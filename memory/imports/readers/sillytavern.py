"""SillyTavern's chats: a header, then a message a line (.jsonl), alone or many in a zip. Chub's have the same format,
with `mes` as an object.

A line that cannot be read is left out, as in SillyTavern. `mes` is the chosen swipe; the others are skipped as not
chosen.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import chain
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memory.imports.readers.content_ids import ContentIds
from memory.imports.readers.json_values import loads
from memory.imports.readers.lines import array, message_of, sessions_of, table, word
from memory.imports.readers.source import Sample, Source
from memory.imports.readers.types import FileMessage, ImportRejected, Limits, Options, ReaderItem, Role, Skipped, digest
from memory.imports.readers.when import read_time
from memory.imports.readers.zips import within

# The time format of older files: "2023-6-19@14h20m30s", "2023-6-19 @14h 20m 30s 123ms".
_NARRATOR = "narrator"
# The value in place of names in the header of a group chat.
_NO_NAME = "unused"
# Members that are examined to find out the contents of a zip.
_LOOKED_AT = 20
_HOUSE = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})\s*@\s*(\d{1,2})h\s*(\d{1,2})m\s*(\d{1,2})s(?:\s*\d{1,3}ms)?")


class SillyTavern:
    name = "sillytavern"
    label = gettext_lazy("SillyTavern chat")

    def resembles(self, sample: Sample) -> float:
        if not sample.members:
            return 0.95 if _is_chat(sample) else 0.0
        return 0.9 if any(_is_chat(sample.inside(name)) for name in _files(sample.members)[:_LOOKED_AT]) else 0.0

    def read(self, source: Source, options: Options) -> Iterator[ReaderItem]:
        files = [name for name in _files(source.members) if _is_chat(source.sample.inside(name))]
        if source.members and not files:
            raise ImportRejected("member_missing")
        for name in source.members:
            if name not in files:
                # Chats without messages are skipped and counted as such, like other content of a backup.
                sample = source.sample.inside(name)
                if sample.name.endswith(".jsonl"):
                    why_not = "empty" if "user_name" in sample.paths else "unknown"
                elif sample.name.endswith(".json"):
                    why_not = "settings"
                else:
                    why_not = "document" if sample.name.endswith((".txt", ".md")) else "media"
                yield Skipped(name, why_not)
        for file in files or [""]:
            with within(file):
                limits = options.limits
                records = _objects(source, file, limits)
                number, head = next(records, (1, None))
                if head is None:
                    raise ImportRejected("not_this", _("line %d") % number, format=str(SillyTavern.label))
                if "mes" in head:
                    head, records = {}, chain([(number, head)], records)
                name, begun_at = word(head.get("character_name")), word(head.get("create_date"))
                ids = (name, begun_at) if begun_at else (name, "", file or source.name)
                chat_id = word(table(head.get("chat_metadata")).get("integrity")) or digest("sillytavern", *ids)
                title = "" if name == _NO_NAME else name
                # One for each chat: many chats are copies of others up to a point.
                places = ContentIds()
                places.begin(chat_id)
                yield from sessions_of(
                    title, chat_id, title or _("the chat"), _read_messages(records, places, limits), limits
                )


def _files(members: tuple[str, ...]) -> list[str]:
    return [name for name in members if name.endswith(".jsonl")]


def _is_chat(sample: Sample) -> bool:
    return (
        sample.text.lstrip().startswith("{")
        and "is_user" in sample.paths
        and bool({"mes", "mes.message"} & sample.paths)
    )


def send_date(value: Any) -> datetime | None:
    """The time of a message in any format of SillyTavern; naive if it has no zone.

    >>> send_date("June 19, 2023 2:20pm") == send_date("2023-6-19@14h20m00s") == datetime(2023, 6, 19, 14, 20)
    True
    """
    match = _HOUSE.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None:
        when = read_time(value)
        return when.as_moment() if when else None
    year, month, day, hour, minute, second = map(int, match.groups())
    try:
        return datetime(year, month, day, hour, minute, second)
    except ValueError:
        return None


def _objects(source: Source, file: str, limits: Limits) -> Iterator[tuple[int, dict[str, Any] | None]]:
    """The number of each line with its object, None if it holds none."""
    for line in source.lines(file):
        if line.text.strip():
            try:
                value = loads(line.text, limits)
            except ValueError:
                value = None
            yield line.number, value if isinstance(value, dict) else None


def _read_messages(
    messages: Iterable[tuple[int, dict[str, Any] | None]], places: ContentIds, limits: Limits
) -> Iterator[FileMessage | Skipped]:
    position = _("line %d")
    for number, message in messages:
        if message is None or "mes" not in message:
            yield Skipped(position % number, "broken")
        else:
            location = position % number
            others = len(array(message.get("swipes"))) - 1
            yield from (Skipped(location, "not_chosen") for _swipe in range(others))
            if message.get("is_system"):
                yield Skipped(location, "hidden")
                continue
            mes = message["mes"]
            text = word(table(mes).get("message")) if isinstance(mes, dict) else word(mes)
            role: Role = "user" if message.get("is_user") else "persona"
            if table(message.get("extra")).get("type") == _NARRATOR:
                role = "other"
            at = send_date(message.get("send_date"))
            yield message_of(word(message.get("name")) or role, text, at, location, limits, places, role=role)


FORMATS = (SillyTavern(),)
