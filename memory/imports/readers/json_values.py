"""JSON in constant memory: the values at wanted places of a file of any size, one at a time.

Places are written as in ijson: "item" is each element of an array at the top, "chats.list.item.name" a key further in.
Other values are skipped without being built. A value that is too large or too deep is not built either: `Unread`
replaces it.
"""

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import ijson
from django.utils.translation import gettext as _

from memory.imports.readers.source import Source
from memory.imports.readers.types import ImportRejected, Limits, Skipped

_STARTS = ("start_map", "start_array")
_ENDS = ("end_map", "end_array")
# The maximum number of parts of one value: a million small ones are some hundred megabytes of Python objects.
_MAX_PARTS = 1_000_000
_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"', re.S)
_NO_BRACKET = re.compile(r"[^\[\]{}]+")


@dataclass(frozen=True)
class Unread:
    """Replaces a value that was not built; `reason` is a key of reasons.SKIPS."""

    reason: str


def reason_of(value: Any) -> str:
    """Why a value that is not of the expected kind is skipped."""
    return value.reason if isinstance(value, Unread | Skipped) else "broken"


class _NotJSON(Exception):
    """The parser failed in the last text that it received."""


Event = tuple[str, Any]
_NO_EVENT: Event = ("", None)


def values(
    source: Source, paths: Collection[str], member: str = "", aside: Mapping[str, str] | None = None
) -> Iterator[tuple[str, Any]]:
    """The place and value of everything at one of `paths`, in the order of the file.

    A value at a place in `aside` is not built: `Unread` with the reason given there is yielded. If the file is no JSON,
    raises ImportRejected with line and character of the first error, after all values before it.
    """
    walk = _Walk(frozenset(paths), aside or {}, _containers_of({*paths, *(aside or ())}), source.limits)
    for events, size in _batches(source, member):
        yield from walk.take(iter(events))
        walk.weigh(size)


def loads(text: str, limits: Limits) -> Any:
    """The value of one small JSON text. Raises ValueError if it is invalid, or nested too deeply."""
    try:
        value = json.loads(text)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if _depth(text, limits.nesting) > limits.nesting:
        raise ValueError("nested too deeply")
    return value


def objects(source: Source, member: str = "") -> Iterator[Any]:
    """The elements of an array at the top, the values of JSON lines, or the single object of the file. `Unread`
    replaces an invalid line. Raises ImportRejected as `values` does."""
    if next((piece.lstrip() for piece in source.texts(member) if piece.strip()), "").startswith("["):
        yield from (value for _place, value in values(source, ["item"], member))
    elif is_one_a_line(source, member):
        yield from (_parse_line(line.text, source.limits) for line in source.lines(member) if line.text.strip())
    else:
        yield from (value for _place, value in values(source, [""], member))


def is_one_a_line(source: Source, member: str = "") -> bool:
    """Whether there are several lines and the first is a complete object, rather than the beginning of one."""
    try:
        first, *more = islice((line.text for line in source.lines(member) if line.text.strip()), 2)
    except (ImportRejected, ValueError):
        return False
    return bool(more) and isinstance(_parse_line(first, source.limits), dict)


def _parse_line(text: str, limits: Limits) -> Any:
    try:
        return loads(text, limits)
    except ValueError:
        return Unread("broken")


@dataclass
class _Walk:
    """The position in the file. `open` holds the places of the enclosing containers, `next_place` that of the next."""

    wanted: frozenset[str]
    aside: Mapping[str, str]
    # Places of containers with wanted values inside.
    around: frozenset[str]
    limits: Limits
    open: list[str] = field(default_factory=list)
    next_place: str = ""
    # The depth inside a container that is skipped.
    ignored: int = 0
    building: "_Building | None" = None

    def take(self, events: Iterator[Event]) -> Iterator[tuple[str, Any]]:
        """The wanted values that these events complete."""
        while True:
            if self.building is not None and self.building.take(events):
                built, self.building = self.building.value, None
                yield self.next_place, built
            event, value = next(events, _NO_EVENT)
            if not event:
                return
            if self.ignored:
                self.ignored += (event in _STARTS) - (event in _ENDS)
            elif event == "map_key":
                self.next_place = f"{self.open[-1]}.{value}" if self.open[-1] else value
            elif event in _ENDS:
                self.next_place = self.open.pop()
            elif self.next_place in self.wanted:
                if event in _STARTS:
                    self.building = _Building(event, self.limits)
                else:
                    yield self.next_place, value
            else:
                place = self.next_place
                if event in _STARTS:
                    self._enter(event)
                if place in self.aside:
                    yield place, Unread(self.aside[place])

    def weigh(self, size: int) -> None:
        """Count `size` further bytes."""
        if self.building is not None:
            self.building.weigh(size)

    def _enter(self, event: str) -> None:
        if self.next_place not in self.around:
            self.ignored = 1
            return
        self.open.append(self.next_place)
        if event == "start_array":
            self.next_place = f"{self.next_place}.item" if self.next_place else "item"


def _containers_of(places: Iterable[str]) -> frozenset[str]:
    """The places of all containers around `places`.

    >>> sorted(_containers_of(["chats.list.item", "name"]))
    ['', 'chats', 'chats.list']
    """
    steps = [place.split(".") for place in places if place]
    return frozenset(".".join(step[:depth]) for step in steps for depth in range(len(step)))


class _Building:
    """A container that is being built. If it grows too large or too deep, it is dropped, and events are skipped up to
    its end."""

    def __init__(self, event: str, limits: Limits) -> None:
        self.value: Any = {} if event == "start_map" else []
        self._limits = limits
        # The containers around the next value; empty once this one is dropped.
        self._stack: list[Any] = [self.value]
        self._key = ""
        self._depth = 1
        self._parts = 0
        self._bytes = 0

    def take(self, events: Iterator[Event]) -> bool:
        """Whether the value is complete; no events after its end are consumed."""
        for event, value in events:
            if event == "map_key":
                self._key = value
            elif event in _ENDS:
                self._depth -= 1
                if self._stack:
                    self._stack.pop()
                if not self._depth:
                    return True
            elif event in _STARTS:
                self._depth += 1
                self._enter({} if event == "start_map" else [])
            elif self._stack:
                self._add(value)
        return False

    def weigh(self, size: int) -> None:
        self._bytes += size
        if self._bytes > self._limits.item_bytes or self._parts > _MAX_PARTS:
            self._drop("too_long")

    def _drop(self, reason: str) -> None:
        self._stack.clear()
        self.value = Unread(reason)

    def _enter(self, container: Any) -> None:
        if self._depth > self._limits.nesting and self._stack:
            self._drop("too_deep")
        if self._stack:
            self._add(container)
            self._stack.append(container)

    def _add(self, value: Any) -> None:
        self._parts += 1
        around = self._stack[-1]
        if isinstance(around, list):
            around.append(value)
        else:
            around[self._key] = value


def _batches(source: Source, member: str) -> Iterator[tuple[list[Event], int]]:
    """The parser's events for each piece of the file, and the size of the piece."""
    events, feed = _parser()
    silent = 0
    for number, piece in enumerate(source.texts(member)):
        size = len(piece)
        try:
            feed(piece.encode())
        except _NotJSON as error:
            yield events, size
            raise ImportRejected("not_json", _breaking_place(source, member, number)) from error
        silent = 0 if events else silent + size
        if silent > source.limits.item_bytes:
            raise ImportRejected("too_big")
        yield events, size
        events.clear()
    try:
        feed(b"")
    except _NotJSON as error:
        raise ImportRejected("not_json", _("the end of the file")) from error
    yield events, 0


def _parser() -> tuple[list[Event], Callable[[bytes], None]]:
    """A list that collects events, and the function that takes the text; b"" is its end."""
    events = ijson.sendable_list()
    coroutine = ijson.basic_parse_coro(events, use_float=True)

    def feed(text: bytes) -> None:
        try:
            coroutine.send(text)
        except StopIteration:
            pass
        except (ijson.JSONError, ValueError, OverflowError) as error:
            raise _NotJSON from error

    return events, feed


def _breaking_place(source: Source, member: str, number: int) -> str:
    """The position of the JSON error in piece `number`: the text is parsed again, that piece letter by letter."""
    events, feed = _parser()
    line_number, column = 1, 0
    for now, piece in enumerate(source.texts(member)):
        if now < number:
            feed(piece.encode())
            events.clear()
            line_number, column = _advance(line_number, column, piece)
            continue
        for letter in piece:
            line_number, column = _advance(line_number, column, letter)
            try:
                feed(letter.encode())
            except _NotJSON:
                return _("line %(line)d, character %(column)d") % {"line": line_number, "column": column}
        break
    return _("line %d") % line_number


def _advance(line_number: int, column: int, text: str) -> tuple[int, int]:
    breaks = text.count("\n")
    return line_number + breaks, len(text) - text.rindex("\n") - 1 if breaks else column + len(text)


def _depth(text: str, enough: int) -> int:
    """The nesting of valid JSON, counted up to `enough`."""
    depth = deepest = 0
    for bracket in _NO_BRACKET.sub("", _STRING.sub("", text)):
        depth += 1 if bracket in "[{" else -1
        deepest = max(deepest, depth)
        if deepest > enough:
            break
    return deepest
