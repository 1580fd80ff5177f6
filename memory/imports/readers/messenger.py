"""Messenger's and Instagram's JSON: one chat, or all chats of the zip from Meta.

    messages/inbox/<chat>/message_1.json …  {participants: [{name}], messages: [{sender_name, timestamp_ms, content}]}
    <chat>_12.json (end-to-end encrypted)   {participants: ["…"], threadName, messages: [{senderName, timestamp, text}]}

A chat of many messages has several files, the latest messages in the first, and the latest message first in each: they
are put in order. Folder names depend on the language of the account, so files are recognized by their content.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memory.imports.readers.json_values import values
from memory.imports.readers.lines import SessionReader, array, moment, skip_others, table, word
from memory.imports.readers.messenger_words import is_notice
from memory.imports.readers.mojibake import is_garbled, repair
from memory.imports.readers.source import Sample, Source
from memory.imports.readers.time_order import oldest_first, weight
from memory.imports.readers.types import FileMessage, ImportRejected, Limits, Options, ReaderItem, Role, Skipped, digest
from memory.imports.readers.zips import within

_NUMBERED = re.compile(r"(?:^|/)message_(\d{1,6})\.json$", re.I)
_SENDERS = frozenset({"messages.item.sender_name", "messages.item.senderName"})
_ENCRYPTED = "messages.item.senderName"
_EMPTY_CHATS = frozenset({"thread_path", "threadName", "is_still_participant"})
_HEAD = ("title", "threadName", "thread_path")
_PEOPLE = ("participants.item.name", "participants.item")
_MEDIA = ("photos", "videos", "audio_files", "gifs", "files", "sticker", "media", "image")
_OF_THE_NETWORK = re.compile(
    r"(?:https?://)?(?:[\w-]+\.)*(?:instagram\.com|facebook\.com|fb\.watch|fb\.com)(?:/|\Z)", re.I
)
_SUFFIX = re.compile(r"_\d+$")
# Members that are examined to find out the contents of a zip.
_MEMBERS_LOOKED_AT = 40
_MAX_PEOPLE = 1_000
# Files with the owner's profile; the rest of their paths differs between exports.
_PROFILES = ("profile_information.json", "personal_information.json")
_PROFILE_NAMES = ("profile_v2.name.full_name", "profile.name.full_name", "profile_user.item.string_map_data.Name.value")


@dataclass
class _Chat:
    """One chat, with the data of its files beside the messages. `files` are in the order of time."""

    files: list[str]
    garbled: bool = False
    title: str = ""
    thread: str = ""
    people: list[str] = field(default_factory=list)

    @property
    def source_id(self) -> str:
        return self.thread or digest("messenger", self.title, *sorted(self.people))

    @classmethod
    def read(cls, source: Source, files: list[str]) -> "_Chat":
        chat = cls(files)
        for file in files:
            with within(file):
                chat.garbled = chat.garbled or is_garbled(source.texts(file))
        known: dict[str, str] = {}
        for file in files[:1]:
            with within(file):
                for place, value in values(source, (*_HEAD, *_PEOPLE[:1], "participants"), file):
                    if place == "participants":
                        chat.people += [word(one) or word(table(one).get("name")) for one in array(value)[:_MAX_PEOPLE]]
                    else:
                        known.setdefault(place, word(value))
        chat.people = [repair(name, chat.garbled) for name in chat.people if name]
        title = known.get("title") or _SUFFIX.sub("", known.get("threadName", ""))
        chat.title = repair(title, chat.garbled)
        chat.thread = known.get("thread_path") or known.get("threadName", "")
        return chat


class Messenger:
    name = "messenger"
    label = gettext_lazy("Messenger or Instagram (JSON, or the whole zip)")
    between_people = True

    def resembles(self, sample: Sample) -> float:
        if not sample.members:
            return 0.95 if _is_chat(sample) else 0.0
        names = sorted(_json_files(sample.members), key=lambda name: not _NUMBERED.search(name))
        return 0.95 if any(_is_chat(sample.inside(name)) for name in names[:_MEMBERS_LOOKED_AT]) else 0.0

    def read(self, source: Source, options: Options) -> Iterator[ReaderItem]:
        files = [name for name in _json_files(source.members) if _is_chat(source.sample.inside(name))]
        yield from skip_others(source, files, (".json",))
        # The files of each chat, the earliest messages first: files of one folder that differ only in their number.
        groups: dict[str, list[tuple[int, str]]] = {}
        for name in files or [""]:
            numbered = _NUMBERED.search(name)
            key = name[: numbered.start()] if numbered else f"{name}\0"
            groups.setdefault(key, []).append((int(numbered[1]) if numbered else 0, name))
        chats = [_Chat.read(source, [name for _n, name in sorted(group, reverse=True)]) for group in groups.values()]
        reader = _Chats(options.limits, _owner(source, chats))
        for number, chat in enumerate(chats, start=1):
            reader.begin(chat)
            location, messages = _("chat %d") % number, reader.messages_in(source, chat)
            yield from reader.read_session(chat.title, chat.source_id, location, messages)


def _json_files(members: Iterable[str]) -> list[str]:
    return [name for name in members if name.casefold().endswith(".json")]


def _is_chat(sample: Sample) -> bool:
    """Whether it holds a chat; one without messages has other fields."""
    paths = sample.paths
    return "participants" in paths and "messages" in paths and bool(paths & (_SENDERS | _EMPTY_CHATS))


def _owner(source: Source, chats: list[_Chat]) -> str:
    """The owner of the zip: by the profile in it, else the participant of all of several chats; in a chat of two the
    person that the chat is not named after. "" if unknown."""
    people = [frozenset(chat.people) for chat in chats if len(chat.people) > 1]
    everybody = frozenset().union(*people)
    for member in source.members:
        if member.casefold().endswith(_PROFILES):
            with suppress(ImportRejected):
                profile = dict(values(source, _PROFILE_NAMES, member))
                garbled = is_garbled(source.texts(member))
                name = next((word(profile[place]) for place in _PROFILE_NAMES if word(profile.get(place))), "")
                if repair(name, garbled) in everybody:
                    return repair(name, garbled)
    counts = Counter(name for names in set(people) for name in names)
    common = [name for name, count in counts.items() if count == len(set(people)) > 1]
    if len(common) == 1:
        return common[0]
    others = {chat.title for chat in chats if len(chat.people) == 2 and chat.title in chat.people}
    rest = {name for chat in chats if len(chat.people) == 2 and chat.title in others for name in chat.people} - others
    return rest.pop() if len(rest) == 1 else ""


def _at(message: Any) -> datetime | None:
    message = table(message)
    return moment(message.get("timestamp_ms") or message.get("timestamp"))


class _Chats(SessionReader):
    def __init__(self, limits: Limits, owner: str) -> None:
        super().__init__(limits)
        self.owner, self.people = owner, frozenset[str]()

    def begin(self, chat: _Chat) -> None:
        self.people = frozenset(chat.people)
        self.places.begin(chat.source_id)

    def messages_in(self, source: Source, chat: _Chat) -> Iterator[Any]:
        for file in chat.files:
            with within(file):
                messages = (value for _place, value in values(source, ["messages.item"], file))
                # If the times do not tell, files of encrypted chats begin with the earliest message, others with the
                # latest.
                paths = (source.sample.inside(file) if file else source.sample).paths
                newest_first = _ENCRYPTED not in paths
                for message in oldest_first(messages, _at, weight, self.limits, newest_first=newest_first):
                    yield repair(message, chat.garbled)

    def read_message(self, message: dict[str, Any], location: str) -> Iterator[FileMessage | Skipped]:
        text = word(message.get("content") or message.get("text"))
        speaker = word(message.get("sender_name") or message.get("senderName"))
        if message.get("is_unsent") or message.get("isUnsent"):
            yield Skipped(location, "deleted")
            return
        role: Role = "user" if self.owner and speaker == self.owner else ""
        with_media, share = any(message.get(key) for key in _MEDIA), message.get("share")
        if with_media:
            yield Skipped(location, "media")
        if "call_duration" in message or word(message.get("type")) in ("Call", "Subscribe", "Unsubscribe", "call"):
            yield Skipped(location, "notice")
        elif text and is_notice(text, self.people | {speaker}):
            if not with_media:
                yield Skipped(location, "notice")
        elif text.strip() or not (with_media or share or message.get("type") in ("media", "placeholder")):
            yield self.line(speaker, text, _at(message), location, role=role)
        elif not with_media:
            # Only the link was written; the text below it and posts on the same network are somebody else's.
            link = word(table(share).get("link"))
            if not link or _OF_THE_NETWORK.match(link) or word(table(share).get("original_content_owner")):
                yield Skipped(location, "media")
            else:
                yield self.line(speaker, link, _at(message), location, role=role)


FORMATS = (Messenger(),)
