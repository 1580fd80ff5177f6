"""SillyTavern's chats: a header, then a message a line (.jsonl). Chub's are the same with `mes` as an object.

A line that cannot be read is left out, as SillyTavern does. `mes` is the swipe that was chosen; the others are told.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import chain
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memory.importers.json_values import loads
from memory.importers.lines import array, said, table, talks, word
from memory.importers.source import Sample, Source
from memory.importers.types import Found, ImportRejected, Limits, Line, Options, Role, Skipped, digest
from memory.importers.when import read_when

# What older ones wrote: "2023-6-19@14h20m30s", "2023-6-19 @14h 20m 30s 123ms".
_HOUSE = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})\s*@\s*(\d{1,2})h\s*(\d{1,2})m\s*(\d{1,2})s(?:\s*\d{1,3}ms)?")


class SillyTavern:
    name = "sillytavern"
    label = gettext_lazy("SillyTavern chat")

    def resembles(self, sample: Sample) -> float:
        if not sample.text.lstrip().startswith("{"):
            return 0.0
        return 0.95 if "is_user" in sample.paths and {"mes", "mes.message"} & sample.paths else 0.0

    def read(self, source: Source, options: Options) -> Iterator[Found]:
        lines = _objects(source, options.limits)
        number, head = next(lines, (1, None))
        if head is None:
            raise ImportRejected("not_this", _("line %d") % number, format=str(self.label))
        if "mes" in head:
            head, lines = {}, chain([(number, head)], lines)
        title = word(head.get("character_name"))
        found = _lines(lines, options.limits)
        yield from talks(title, _chat_id(head), title or _("the chat"), found, options.limits)


def send_date(value: Any) -> datetime | None:
    """The time of a message in any way in which SillyTavern has written it; naive where that says no zone.

    >>> send_date("June 19, 2023 2:20pm") == send_date("2023-6-19@14h20m00s") == datetime(2023, 6, 19, 14, 20)
    True
    """
    found = _HOUSE.fullmatch(value.strip()) if isinstance(value, str) else None
    if found is None:
        when = read_when(value)
        return when.as_moment() if when else None
    year, month, day, hour, minute, second = map(int, found.groups())
    try:
        return datetime(year, month, day, hour, minute, second)
    except ValueError:
        return None


def _objects(source: Source, limits: Limits) -> Iterator[tuple[int, dict[str, Any] | None]]:
    """The number of each line with its object, None where it holds none."""
    for line in source.lines():
        if line.text.strip():
            yield line.number, _object(line.text, limits)


def _object(text: str, limits: Limits) -> dict[str, Any] | None:
    try:
        value = loads(text, limits)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _chat_id(head: dict[str, Any]) -> str:
    integrity = word(table(head.get("chat_metadata")).get("integrity"))
    return integrity or digest("sillytavern", *(word(head.get(key)) for key in ("character_name", "create_date")))


def _lines(messages: Iterable[tuple[int, dict[str, Any] | None]], limits: Limits) -> Iterator[Line | Skipped]:
    line = _("line %d")
    for position, (number, message) in enumerate(messages, start=1):
        if message is None or "mes" not in message:
            yield Skipped(line % number, "broken")
        else:
            yield from _message(message, position, line % number, limits)


def _message(message: dict[str, Any], position: int, where: str, limits: Limits) -> Iterator[Line | Skipped]:
    others = len(array(message.get("swipes"))) - 1
    yield from (Skipped(where, "not_chosen") for _swipe in range(others))
    if message.get("is_system"):
        yield Skipped(where, "hidden")
        return
    mes = message["mes"]
    text = word(table(mes).get("message")) if isinstance(mes, dict) else word(mes)
    role: Role = "user" if message.get("is_user") else "persona"
    at = send_date(message.get("send_date"))
    yield said(word(message.get("name")), text, at, where, limits, position=position, role=role)


FORMATS = (SillyTavern(),)
