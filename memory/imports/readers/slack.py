"""Slack's export: a zip with a folder for each channel, in it a file for each day; or one such file.

    users.json                   [{id, name, real_name, profile: {display_name, real_name}, is_bot}]
    channels.json, groups.json   [{id, name, members}], dms.json, mpims.json [{id, members}]
    general/2024-01-05.json      [{type: "message", subtype?, user, text, ts, thread_ts?, files?}]

Texts have marks for people, channels and links, and escape three signs: <@U2>, <#C1|general>, <https://…|words>, &lt;.
"""

import html
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memory.imports.readers.json_values import objects
from memory.imports.readers.lines import Names, SessionReader, array, moment, table, word
from memory.imports.readers.source import Sample, Source
from memory.imports.readers.time_order import oldest_first, weight
from memory.imports.readers.types import FileMessage, ImportRejected, Limits, Options, ReaderItem, Role, Skipped, digest
from memory.imports.readers.zips import within

_DAY = re.compile(r"(?P<folder>(?:.*/)?(?P<channel>[^/]+))/\d{4}-\d\d-\d\d\.json$")
_LISTS = ("channels", "groups", "dms", "mpims")
_MARKS = frozenset({"item.type", "item.ts", "item.text"})
_MEMBERS_LOOKED_AT = 20
_MAX_PEOPLE = 100_000
# Subtypes of people's messages; all others are Slack's own.
_SPOKEN = ("", "thread_broadcast", "file_share", "me_message", "reply_broadcast", "file_comment")
_BOTS = ("bot_message",)
_DELETED = ("tombstone", "message_deleted")
_MARK = re.compile(r"<(?P<sign>[@#!]?)(?P<what>[^<>|\n]{1,2000})(?:\|(?P<words>[^<>\n]{0,2000}))?>")
_MAIL = re.compile(r"^mailto:|^tel:")


@dataclass
class _Workspace:
    people: dict[str, str] = field(default_factory=dict)
    bots: set[str] = field(default_factory=set)
    channels: dict[str, str] = field(default_factory=dict)
    # By folder name: the channel's id, and its members.
    folders: dict[str, tuple[str, list[str]]] = field(default_factory=dict)
    names: Names = field(default_factory=Names)

    def take(self, kind: str, entry: Mapping[str, Any]) -> None:
        """Note a person or a channel of one of the lists beside the days."""
        source_id, name = word(entry.get("id")), word(entry.get("name"))
        if kind == "users":
            profile = table(entry.get("profile"))
            real = word(entry.get("real_name")) or word(profile.get("real_name"))
            self.people[source_id] = real or word(profile.get("display_name")) or name
            self.bots |= {source_id} if entry.get("is_bot") else set()
            return
        members = [word(person) for person in array(entry.get("members"))]
        if name and kind in ("channels", "groups"):
            self.channels[source_id] = name
        # The folder of a chat of two has its id as name, all others their own.
        self.folders[name or source_id] = self.folders[source_id] = (source_id, members)

    def name_of(self, person: str, otherwise: str = "") -> str:
        return self.names.of(person or otherwise, self.people.get(person) or otherwise or person)

    def title_of(self, folder: str) -> str:
        """The name of the channel; for a chat without a name, its members."""
        channel_id, members = self.folders.get(folder, ("", []))
        channel_name = self.channels.get(channel_id)
        return channel_name or ", ".join(self.people.get(person, person) for person in members[:8]) or folder


class Slack:
    name = "slack"
    label = gettext_lazy("Slack export (the whole zip)")
    between_people = True

    def resembles(self, sample: Sample) -> float:
        if not sample.members:
            return 0.9 if _is_day(sample) else 0.0
        days = [name for name in sample.members if _DAY.search(name)]
        lists = {name.rpartition("/")[2] for name in sample.members} & {"users.json", "channels.json", "dms.json"}
        if not days or not (lists or any(_is_day(sample.inside(name)) for name in days[:_MEMBERS_LOOKED_AT])):
            return 0.0
        if any(_is_day(sample.inside(name)) for name in days[:_MEMBERS_LOOKED_AT]):
            return 0.95
        # Lists of people and channels beside the days are enough, even if the examined days are damaged or empty.
        return 0.8 if len(lists) > 1 else 0.3

    def read(self, source: Source, options: Options) -> Iterator[ReaderItem]:
        channels: dict[str, list[str]] = defaultdict(list)
        for name in source.members:
            day = _DAY.search(name)
            if day:
                channels[day["folder"]].append(name)
            else:
                yield Skipped(name, "settings" if name.casefold().endswith(".json") else "media")
        if source.members and not channels:
            raise ImportRejected("member_missing")
        workspace = _Workspace()
        reader = _Channels(options.limits, workspace)
        for member in source.members:
            kind = member.rpartition("/")[2].casefold().removesuffix(".json")
            if _DAY.search(member) or kind not in (*_LISTS, "users"):
                continue
            with within(member):
                for entry in objects(source, member):
                    if isinstance(entry, dict) and len(workspace.people) < _MAX_PEOPLE:
                        workspace.take(kind, entry)
        for folder, files in (channels or {"": [""]}).items():
            channel = folder.rpartition("/")[2]
            title = workspace.title_of(channel)
            source_id = workspace.folders.get(channel, (channel, []))[0] or digest("slack", channel or source.name)
            reader.begin(source_id)
            messages = reader.messages_in(source, sorted(files))
            yield from reader.read_session(title, source_id, title or _("channel"), messages)


def _is_day(sample: Sample) -> bool:
    return sample.paths >= _MARKS and bool(sample.paths & {"item.user", "item.bot_id", "item.user_profile"})


def _at(message: Any) -> datetime | None:
    return moment(table(message).get("ts"))


class _Channels(SessionReader):
    def __init__(self, limits: Limits, workspace: _Workspace) -> None:
        super().__init__(limits)
        self.workspace, self.source_id = workspace, ""

    def begin(self, source_id: str) -> None:
        self.source_id = source_id
        self.places.begin(source_id)

    def messages_in(self, source: Source, files: list[str]) -> Iterator[Any]:
        for file in files:
            with within(file):
                yield from oldest_first(objects(source, file), _at, weight, self.limits)

    def read_message(self, message: dict[str, Any], location: str) -> Iterator[FileMessage | Skipped]:
        subtype = word(message.get("subtype"))
        if subtype in _DELETED or message.get("hidden"):
            yield Skipped(location, "deleted")
            return
        if message.get("type") != "message" or subtype not in (*_SPOKEN, *_BOTS):
            yield Skipped(location, "notice" if message.get("type") == "message" else "unknown")
            return
        text = readable(word(message.get("text")), self.workspace.people, self.workspace.channels)
        with_media = bool(message.get("files") or message.get("file") or message.get("attachments"))
        if with_media and (message.get("files") or message.get("file") or not text.strip()):
            yield Skipped(location, "media")
        if text.strip() or not with_media:
            # By real name; a bot of Slack is no persona.
            person = word(message.get("user"))
            profile = table(message.get("user_profile"))
            named = word(profile.get("real_name")) or word(profile.get("display_name"))
            is_bot = subtype in _BOTS or person in self.workspace.bots or bool(message.get("bot_id") and not person)
            bot = (
                word(message.get("username"))
                or word(table(message.get("bot_profile")).get("name"))
                or word(message.get("bot_id"))
            )
            speaker = self.workspace.name_of(person or word(message.get("bot_id")), named or (bot if is_bot else ""))
            role: Role = "other" if is_bot else ""
            sent_at, author = word(message.get("ts")), word(message.get("user") or message.get("bot_id"))
            source_id = f"{self.source_id}/{sent_at}/{author}" if sent_at else ""
            yield self.line(speaker, text, _at(message), location, source_id, role)


def readable(text: str, people: Mapping[str, str], channels: Mapping[str, str]) -> str:
    """`text` as it was shown: names in place of ids, links by their words, and nothing escaped.

    >>> readable("&lt;3 <@U2> in <#C1|general>: <https://a.example/?a=1&amp;b=2|the plan>", {"U2": "Ben"}, {})
    '<3 @Ben in #general: the plan (https://a.example/?a=1&b=2)'
    """
    return html.unescape(_MARK.sub(lambda mark: _format_mark(mark, people, channels), text))


def _format_mark(mark: re.Match[str], people: Mapping[str, str], channels: Mapping[str, str]) -> str:
    sign, what, words = mark["sign"], mark["what"], mark["words"] or ""
    if sign == "@":
        return f"@{people.get(what) or words or what}"
    if sign == "#":
        return f"#{words or channels.get(what) or what}"
    if sign == "!":
        command, _sign, rest = what.partition("^")
        return words or rest or f"@{command}"
    bare = _MAIL.sub("", what)
    return f"{words} ({what})" if words and words != bare and words != what else words or bare


FORMATS = (Slack(),)
