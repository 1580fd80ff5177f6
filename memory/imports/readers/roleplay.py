"""Chats of role-play programs whose files are one JSON document: those that SillyTavern, too, reads.

Ooba (text-generation-webui)  {data_visible: [[user, bot], …]}, since 2023 {internal: [[user, bot], …], visible: …}
Agnai                         {name, messages: [{_id, userId?, msg, createdAt?}]}
CAI Tools (Character.AI)      {histories: {histories: [{msgs: [{src: {is_human, name?}, text, created?}]}]}}
Kobold Lite                   {savedsettings: {chatname, chatopponent}, prompt, actions: []}
RisuAI                        {data: {message: [{role, name?, time, data}]}}
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memory.imports.readers.content_ids import ContentIds
from memory.imports.readers.json_values import Unread, values
from memory.imports.readers.lines import array, message_of, moment, sessions_of, table, word
from memory.imports.readers.source import Sample, Source
from memory.imports.readers.types import Found, Limits, Line, Options, Role, Skipped, digest

_USER, _CHARACTER = "user", "character"
_ROLES: Mapping[str, Role] = {_USER: "user", _CHARACTER: "persona"}
# What Ooba puts in place of the words that were not there before a greeting.
_BEFORE_GREETING = "<|BEGIN-VISIBLE-CHAT|>"
# Its newer files begin so; what is visible is the same with HTML in it, and stands behind.
_INTERNAL = re.compile(r'\s*\{\s*"internal"\s*:\s*\[\s*\[')
_TURN = re.compile(r"\n?\{\{\[(INPUT|OUTPUT)\]\}\}\n?")
# Kobold Lite's separator of several opponents.
_SEVERAL = "||$||"

Values = Iterator[tuple[str, Any]]


@dataclass(frozen=True)
class _Turn:
    """What one side said; or, with a reason, why that is left out."""

    side: str
    text: str = ""
    name: str = ""
    at: Any = None
    source_id: str = ""
    reason: str = ""


@dataclass(frozen=True)
class _Chat:
    title: str
    source_id: str
    turns: Iterable[_Turn]


@dataclass(frozen=True)
class Roleplay:
    """`marks` are places that its files have and others have not; `chats` reads what stands at the `wanted` ones."""

    name: str
    label: str | Promise
    marks: frozenset[str]
    wanted: tuple[str, ...]
    chats: Callable[[Values], Iterator[_Chat]]

    def resembles(self, sample: Sample) -> float:
        return 0.9 if self.marks <= sample.paths else 0.0

    def read(self, source: Source, options: Options) -> Iterator[Found]:
        places = ContentIds()
        for number, chat in enumerate(self.chats(values(source, self.wanted)), start=1):
            where = _("conversation %d") % number
            source_id = chat.source_id or digest(self.name, number, chat.title)
            name = digest(source.name, chat.title)
            turns = places.begun(chat.source_id, name, chat.turns, lambda turn: turn.text)
            yield from sessions_of(
                chat.title, source_id, where, _lines(turns, places, where, options.limits), options.limits
            )


class _Webui(Roleplay):
    def resembles(self, sample: Sample) -> float:
        return 0.9 if _INTERNAL.match(sample.text) else super().resembles(sample)


def _lines(turns: Iterable[_Turn], places: ContentIds, where: str, limits: Limits) -> Iterator[Line | Skipped]:
    message_number = _("%(talk)s, message %(number)d")
    for number, turn in enumerate(turns, start=1):
        place = message_number % {"talk": where, "number": number}
        if turn.reason:
            yield Skipped(place, turn.reason)
        else:
            role, name = _ROLES[turn.side], turn.name or turn.side
            yield message_of(name, turn.text, moment(turn.at), place, limits, places, turn.source_id, role)


def _ooba(found: Values) -> Iterator[_Chat]:
    """Pairs, of which the first one's user has mostly said nothing: the character greets."""
    for _place, value in found:
        yield _Chat("", "", (turn for pair in array(value) for turn in _pair(array(pair))))


def _pair(pair: list[Any]) -> Iterator[_Turn]:
    for side, text in zip((_USER, _CHARACTER), pair, strict=False):
        if text != _BEFORE_GREETING and word(text):
            yield _Turn(side, word(text))


def _agnai(found: Values) -> Iterator[_Chat]:
    title = ""
    for place, value in found:
        if place == "name":
            title = word(value)
        else:
            yield _Chat(title, "", map(_agnai_turn, array(value)))


def _agnai_turn(value: Any) -> _Turn:
    message = table(value)
    side = _USER if message.get("userId") else _CHARACTER
    return _Turn(
        side, word(message.get("msg")), word(message.get("handle")), message.get("createdAt"), word(message.get("_id"))
    )


def _cai_tools(found: Values) -> Iterator[_Chat]:
    for _place, value in found:
        if isinstance(value, Unread):
            yield _Chat("", "", [_Turn(_USER, reason=value.reason)])
        else:
            history = table(value)
            yield _Chat("", word(history.get("external_id")), map(_cai_turn, array(history.get("msgs"))))


def _cai_turn(value: Any) -> _Turn:
    message = table(value)
    source = table(message.get("src"))
    side = _USER if source.get("is_human") else _CHARACTER
    if message.get("is_alternative") is True:
        return _Turn(side, reason="not_chosen")
    return _Turn(
        side, word(message.get("text")), word(source.get("name")), message.get("created"), word(message.get("uuid"))
    )


def _kobold_lite(found: Values) -> Iterator[_Chat]:
    """One text in pieces, in which marks or names at the beginning of lines say who speaks."""
    known = dict(found)
    text = word(known.get("prompt")) + "".join(map(word, array(known.get("actions"))))
    user = word(known.get("savedsettings.chatname")) or _USER
    characters = word(known.get("savedsettings.chatopponent")).split(_SEVERAL)
    if _TURN.search(text):
        yield _Chat(characters[0], "", _marked_turns(text, user, characters[0]))
    else:
        yield _Chat(characters[0], "", _named_turns(text, user, [name for name in characters if name]))


def _marked_turns(text: str, user: str, character: str) -> Iterator[_Turn]:
    before, *rest = _TURN.split(text)
    if before.strip():
        yield _Turn(_CHARACTER, before, character)
    for mark, words in zip(rest[::2], rest[1::2], strict=True):
        if words.strip():
            yield _Turn(_USER, words, user) if mark == "INPUT" else _Turn(_CHARACTER, words, character)


def _named_turns(text: str, user: str, characters: list[str]) -> Iterator[_Turn]:
    """What stands before the first name is a story's beginning that nobody said."""
    names = "|".join(map(re.escape, [user, *characters]))
    before, *rest = re.split(rf"(?:^|\n)({names}): ?", text)
    if before.strip():
        yield _Turn(_CHARACTER, reason="document")
    for name, words in zip(rest[::2], rest[1::2], strict=True):
        yield _Turn(_USER if name == user else _CHARACTER, words, name)


def _risu(found: Values) -> Iterator[_Chat]:
    title = ""
    for place, value in found:
        if place == "data.name":
            title = word(value)
        else:
            yield _Chat(title, "", map(_risu_turn, array(value)))


def _risu_turn(value: Any) -> _Turn:
    message = table(value)
    side = _USER if message.get("role") == "user" else _CHARACTER
    return _Turn(
        side, word(message.get("data")), word(message.get("name")), message.get("time"), word(message.get("chatId"))
    )


FORMATS = (
    _Webui("ooba", gettext_lazy("Ooba chat"), frozenset({"data_visible"}), ("data_visible", "internal"), _ooba),
    Roleplay("agnai", gettext_lazy("Agnai chat"), frozenset({"messages.item.msg"}), ("name", "messages"), _agnai),
    Roleplay(
        "cai_tools", gettext_lazy("Character.AI chats (CAI Tools)"), frozenset({"histories.histories"}),
        ("histories.histories.item",), _cai_tools,
    ),
    Roleplay(
        "kobold_lite", gettext_lazy("Kobold Lite story"), frozenset({"prompt", "actions"}),
        ("prompt", "actions", "savedsettings.chatname", "savedsettings.chatopponent"), _kobold_lite,
    ),
    Roleplay("risu", gettext_lazy("RisuAI chat"), frozenset({"data.message"}), ("data.message", "data.name"), _risu),
)  # fmt: skip
