"""Chats of role-play programs whose files are one JSON document: the ones that SillyTavern reads, too.

Ooba (text-generation-webui)  {data_visible: [[user, bot], …]}, since 2023 {internal: [[user, bot], …], visible: …}
Agnai                         {name, messages: [{_id, userId?, msg, createdAt?}]}
CAI Tools (Character.AI)      {histories: {histories: [{msgs: [{src: {is_human, name?}, text, created?}]}]}}
Kobold Lite                   {savedsettings: {chatname, chatopponent}, prompt, actions: []}
RisuAI                        {data: {message: [{role, name?, time, data}]}}
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memory.imports.readers.content_ids import ContentIds
from memory.imports.readers.json_values import Unread, values
from memory.imports.readers.lines import array, message_of, moment, place_messages, sessions_of, table, word
from memory.imports.readers.source import Sample, Source
from memory.imports.readers.types import FileMessage, Options, ReaderItem, Role, Skipped, digest

_USER, _CHARACTER = "user", "character"
_ROLES: Mapping[str, Role] = {_USER: "user", _CHARACTER: "persona"}
# Ooba's placeholder for the missing user message before a greeting.
_BEFORE_GREETING = "<|BEGIN-VISIBLE-CHAT|>"
# Its newer files begin like this; `visible` follows, with the same content as HTML.
_INTERNAL = re.compile(r'\s*\{\s*"internal"\s*:\s*\[\s*\[')
_TURN = re.compile(r"\n?\{\{\[(INPUT|OUTPUT)\]\}\}\n?")
# Kobold Lite's separator of several opponents.
_SEVERAL = "||$||"

Values = Iterator[tuple[str, Any]]


@dataclass(frozen=True)
class _Turn:
    """A message of one side; or, with a reason, why it is left out."""

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


class Roleplay:
    """A program's files: `marks` are places that only they have; `chats` reads the values at the `wanted` places."""

    name: str
    label: str | Promise
    marks: frozenset[str]
    wanted: tuple[str, ...]

    def chats(self, records: Values) -> Iterator[_Chat]:
        raise NotImplementedError

    def resembles(self, sample: Sample) -> float:
        return 0.9 if self.marks <= sample.paths else 0.0

    def read(self, source: Source, options: Options) -> Iterator[ReaderItem]:
        places = ContentIds()
        for number, chat in enumerate(self.chats(values(source, self.wanted)), start=1):
            location = _("conversation %d") % number
            source_id = chat.source_id or digest(self.name, number, chat.title)
            name = digest(source.name, chat.title)
            turns = places.begin_with(chat.source_id, name, chat.turns, lambda turn: turn.text)
            messages: list[FileMessage | Skipped] = []
            for place, turn in place_messages(turns, location):
                if turn.reason:
                    messages.append(Skipped(place, turn.reason))
                    continue
                at, role = moment(turn.at), _ROLES[turn.side]
                speaker = turn.name or turn.side
                messages.append(message_of(speaker, turn.text, at, place, options.limits, places, turn.source_id, role))
            yield from sessions_of(chat.title, source_id, location, messages, options.limits)


class Ooba(Roleplay):
    """Pairs of messages. In the first pair the user's is mostly empty, because the character greets."""

    name, label = "ooba", gettext_lazy("Ooba chat")
    marks, wanted = frozenset({"data_visible"}), ("data_visible", "internal")

    def resembles(self, sample: Sample) -> float:
        return 0.9 if _INTERNAL.match(sample.text) else super().resembles(sample)

    def chats(self, records: Values) -> Iterator[_Chat]:
        for _place, pairs in records:
            turns = (
                _Turn(side, word(text))
                for pair in array(pairs)
                for side, text in zip((_USER, _CHARACTER), array(pair), strict=False)
                if text != _BEFORE_GREETING and word(text)
            )
            yield _Chat("", "", turns)


class Agnai(Roleplay):
    name, label = "agnai", gettext_lazy("Agnai chat")
    marks, wanted = frozenset({"messages.item.msg"}), ("name", "messages")

    def chats(self, records: Values) -> Iterator[_Chat]:
        title = ""
        for place, value in records:
            if place == "name":
                title = word(value)
                continue
            turns = (
                _Turn(
                    _USER if message.get("userId") else _CHARACTER,
                    word(message.get("msg")),
                    word(message.get("handle")),
                    message.get("createdAt"),
                    word(message.get("_id")),
                )
                for message in map(table, array(value))
            )
            yield _Chat(title, "", turns)


class CaiTools(Roleplay):
    name, label = "cai_tools", gettext_lazy("Character.AI chats (CAI Tools)")
    marks, wanted = frozenset({"histories.histories"}), ("histories.histories.item",)

    def chats(self, records: Values) -> Iterator[_Chat]:
        for _place, value in records:
            if isinstance(value, Unread):
                yield _Chat("", "", [_Turn(_USER, reason=value.reason)])
                continue
            history = table(value)
            turns: list[_Turn] = []
            for message in map(table, array(history.get("msgs"))):
                source = table(message.get("src"))
                side = _USER if source.get("is_human") else _CHARACTER
                name, at, source_id = word(source.get("name")), message.get("created"), word(message.get("uuid"))
                if message.get("is_alternative") is True:
                    turns.append(_Turn(side, reason="not_chosen"))
                else:
                    turns.append(_Turn(side, word(message.get("text")), name, at, source_id))
            yield _Chat("", word(history.get("external_id")), turns)


class KoboldLite(Roleplay):
    """One text in pieces, in which marks or names at the beginning of lines name the speaker."""

    name, label = "kobold_lite", gettext_lazy("Kobold Lite story")
    marks = frozenset({"prompt", "actions"})
    wanted = ("prompt", "actions", "savedsettings.chatname", "savedsettings.chatopponent")

    def chats(self, records: Values) -> Iterator[_Chat]:
        record = dict(records)
        text = word(record.get("prompt")) + "".join(map(word, array(record.get("actions"))))
        user = word(record.get("savedsettings.chatname")) or _USER
        characters = word(record.get("savedsettings.chatopponent")).split(_SEVERAL)
        turns: list[_Turn] = []
        if _TURN.search(text):
            before, *rest = _TURN.split(text)
            if before.strip():
                turns.append(_Turn(_CHARACTER, before, characters[0]))
            for mark, words in zip(rest[::2], rest[1::2], strict=True):
                side, name = (_USER, user) if mark == "INPUT" else (_CHARACTER, characters[0])
                if words.strip():
                    turns.append(_Turn(side, words, name))
        else:
            # The text before the first name is the beginning of a story, and no message.
            names = "|".join(map(re.escape, [user, *(name for name in characters if name)]))
            before, *rest = re.split(rf"(?:^|\n)({names}): ?", text)
            if before.strip():
                turns.append(_Turn(_CHARACTER, reason="document"))
            for name, words in zip(rest[::2], rest[1::2], strict=True):
                turns.append(_Turn(_USER if name == user else _CHARACTER, words, name))
        yield _Chat(characters[0], "", turns)


class Risu(Roleplay):
    name, label = "risu", gettext_lazy("RisuAI chat")
    marks, wanted = frozenset({"data.message"}), ("data.message", "data.name")

    def chats(self, records: Values) -> Iterator[_Chat]:
        title = ""
        for place, value in records:
            if place == "data.name":
                title = word(value)
                continue
            turns = (
                _Turn(
                    _USER if message.get("role") == "user" else _CHARACTER,
                    word(message.get("data")),
                    word(message.get("name")),
                    message.get("time"),
                    word(message.get("chatId")),
                )
                for message in map(table, array(value))
            )
            yield _Chat(title, "", turns)


FORMATS = (Ooba(), Agnai(), CaiTools(), KoboldLite(), Risu())
