"""Telegram Desktop's result.json: one chat, or all chats of an account.

A forwarded message belongs to its original author. The items of a list are text; a poll is skipped, as in exports of
other messengers, which only note that there was one.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memory.imports.readers.json_values import values
from memory.imports.readers.lines import Names, SessionReader, array, moment, skip_others, table, word
from memory.imports.readers.source import Sample, Source
from memory.imports.readers.types import FileMessage, Options, ReaderItem, Role, Skipped, digest
from memory.imports.readers.zips import within

_SINGLE = ("name", "type", "id")
_CHATS = ("chats.list.item", "left_chats.list.item")
_ME = "personal_information.user_id"
_WANTED = (
    *_SINGLE, "messages.item", _ME,
    *(f"{chat}.{key}" for chat in _CHATS for key in (*_SINGLE, "messages.item")),
)  # fmt: skip
_SPEAKERS = (
    *_SINGLE, "messages.item.from", "messages.item.from_id", _ME,
    *(f"{chat}.{key}" for chat in _CHATS for key in (*_SINGLE, "messages.item.from", "messages.item.from_id")),
)  # fmt: skip
_MAX_SPEAKERS = 3
_MAX_CHATS = 100_000
_ASIDE = dict.fromkeys(
    (
        "contacts", "frequent_contacts", "sessions", "web_sessions", "other_data", "stories",
        "profile_pictures", "ips",
    ),
    "settings",
)  # fmt: skip
_MEDIA = (
    "photo", "file", "media_type", "sticker_emoji", "location_information", "contact_information",
    "game_title", "invoice_information", "place_name", "poll",
)  # fmt: skip


_FILE = re.compile(r"result( ?\(\d+\))?\.json")
_ASKED = {"todo_list": ("title", "answers")}
_NOBODY = "unknown"
# Telegram's label for deleted accounts; their name is empty in the file.
_GONE = "Deleted Account"


@dataclass(eq=False)
class _Chat:
    """The known fields of a chat when its first message comes: the export lists them before its messages."""

    number: int
    me: str
    # The speakers of each chat, by id with their names; only useful in chats of two people.
    speakers: Sequence[dict[str, str]] = ()
    fields: dict[str, str] = field(default_factory=dict)
    names: Names = field(default_factory=Names)
    begun: bool = False

    @property
    def title(self) -> str:
        return self.fields.get("name", "")

    @property
    def source_id(self) -> str:
        return self.fields.get("id") or digest("telegram", self.title)

    def role_of(self, person: str) -> Role:
        """The role of a person. A chat of two has the id, or at least the name, of the other person; if that does not
        tell and the owner is unknown, the role is "". A bot is the persona only in its own chat."""
        kind, partner = self.fields.get("type"), self.fields.get("id")
        if person == self.me or kind == "saved_messages":
            return "user"
        if kind == "bot_chat":
            return "persona" if person == partner else "user"
        if self.me or kind != "personal_chat" or self.number > len(self.speakers):
            return ""
        others = {other for other in self.speakers[self.number - 1] if other != partner}
        if len(others) > 1:
            others = {other for other, name in self.speakers[self.number - 1].items() if name != self.title}
        return "user" if others == {person} else ""


class Telegram:
    name = "telegram"
    label = gettext_lazy("Telegram export")
    between_people = True

    def resembles(self, sample: Sample) -> float:
        files = _files(sample.members)
        paths = (sample.inside(files[0]) if files else sample).paths
        whole = {"chats.about", "chats.list", "personal_information.user_id"} & paths
        return 0.95 if whole or {"messages.item.date", "messages.item.type", "type"} <= paths else 0.0

    def read(self, source: Source, options: Options) -> Iterator[ReaderItem]:
        files = _files(source.members)
        yield from skip_others(source, files)
        for file in files or [""]:
            with within(file):
                reader = _Chats(options.limits)
                for chat, group in groupby(_messages(source, file), key=lambda pair: pair[0]):
                    reader.begin(chat)
                    messages = (message for _chat, message in group)
                    location = _("chat %d") % chat.number
                    yield from (
                        reader.read_session(chat.title, chat.source_id, location, messages) if chat.number else messages
                    )


def _files(members: tuple[str, ...]) -> list[str]:
    return [name for name in members if _FILE.fullmatch(name.rpartition("/")[2])]


def _speakers(source: Source, file: str) -> tuple[str, list[dict[str, str]]]:
    """The owner of the export, "" if unknown; and the speakers of each chat."""
    chats: list[dict[str, str]] = [{}]
    names: set[str] = set()
    personal: Counter[str] = Counter()
    name = kind = ""
    begun = False
    for place, value in values(source, _SPEAKERS, file):
        key = place.rpartition(".")[2]
        if place == _ME:
            return word(value), []
        if key in _SINGLE:
            if begun or key in names:
                chats += [{}] if len(chats) < _MAX_CHATS else []
                names, kind, begun = set(), "", False
            names.add(key)
            kind = word(value) if key == "type" else kind
            continue
        begun = True
        if key == "from":
            name = word(value)
        elif (person := _person(value) or name) not in chats[-1] and len(chats[-1]) < _MAX_SPEAKERS:
            chats[-1][person] = name
            personal[person] += kind == "personal_chat"
    everywhere = [person for person, count in personal.items() if count > 1]
    return everywhere[0] if len(everywhere) == 1 else "", chats


def _messages(source: Source, file: str) -> Iterator[tuple["_Chat", Any]]:
    """Each message with its chat; other content as `Skipped`, without a chat."""
    me, speakers = _speakers(source, file)
    aside, chat = _Chat(0, ""), _Chat(1, me, speakers)
    for place, value in values(source, _WANTED, file, _ASIDE):
        key = place.rpartition(".")[2]
        if place in _ASIDE:
            yield aside, Skipped(place, value.reason)
        elif place == _ME:
            chat.me = word(value)
        elif key in _SINGLE:
            if chat.begun or key in chat.fields:
                chat = _Chat(chat.number + 1, chat.me, speakers)
            chat.fields[key] = word(value)
        else:
            chat.begun = True
            yield chat, value


class _Chats(SessionReader):
    chat: _Chat

    def begin(self, chat: _Chat) -> None:
        self.chat = chat
        self.places.begin(chat.source_id)

    def read_message(self, message: dict[str, Any], location: str) -> Iterator[FileMessage | Skipped]:
        if message.get("type") != "message":
            yield Skipped(location, "notice" if message.get("type") == "service" else "unknown")
            return
        # Plain text, or pieces, of which some are links, bold and the like; or the items of a list.
        text = _join_pieces(message.get("text") or message.get("text_entities"))
        for kind, (question, answers) in _ASKED.items():
            asking = table(message.get(kind))
            choices = [_join_pieces(table(answer).get("text")) for answer in array(asking.get(answers))]
            text = "\n".join(filter(None, (text, _join_pieces(asking.get(question)), *choices)))
        with_media = any(message.get(key) for key in _MEDIA)
        if with_media:
            yield Skipped(location, "media")
        if text.strip() or not with_media:
            # A forwarded message of a person who hides or has left names nobody.
            if "forwarded_from" in message or "forwarded_from_id" in message:
                original = _person(message.get("forwarded_from_id"))
                speaker = word(message.get("forwarded_from")) or original or _NOBODY
                role: Role = "user" if original and original == self.chat.me else "other"
            else:
                person = _person(message.get("from_id")) or word(message.get("from"))
                name = word(message.get("from")) or (_GONE if "from" in message else "")
                speaker, role = self.chat.names.of(person, name), self.chat.role_of(person)
            source_id = f"{self.chat.source_id}/{message['id']}" if word(message.get("id")) else ""
            # Seconds since 1970; older exports have only the local time.
            at = moment(message.get("date_unixtime")) or moment(message.get("date"))
            yield self.line(speaker, text, at, location, source_id, role)


def _person(known_as: Any) -> str:
    return word(known_as).removeprefix("user")


def _join_pieces(text: Any) -> str:
    if isinstance(text, str):
        return text
    return "".join(piece if isinstance(piece, str) else word(table(piece).get("text")) for piece in array(text))


FORMATS = (Telegram(),)
