"""The JSON of DiscordChatExporter: one channel, or one talk between people."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memory.importers.json_values import Unread, values
from memory.importers.lines import Names, array, moment, said, table, talks, word
from memory.importers.source import Sample, Source
from memory.importers.types import Found, ImportRejected, Limits, Line, Options, Role, Skipped, digest

_HEAD = ("guild.id", "guild.name", "channel.id", "channel.name", "channel.type")
_SPOKEN = ("Default", "Reply", "ChatInputCommand", "ContextMenuCommand")
_FILES = ("attachments", "stickers")
# A talk between people has no guild.
_NO_GUILD = "0"


@dataclass
class _Channel:
    known: dict[str, str] = field(default_factory=dict)
    names: Names = field(default_factory=Names)

    @property
    def title(self) -> str:
        guild = self.known.get("guild.name", "") if self.known.get("guild.id") != _NO_GUILD else ""
        return " / ".join(filter(None, (guild, self.known.get("channel.name"))))

    def role_of(self, author: dict[str, Any]) -> Role:
        """In a talk of two a bot is a companion; in a channel it is one of many."""
        if not author.get("isBot"):
            return ""
        return "persona" if self.known.get("channel.type") == "DirectTextChat" else "other"


class Discord:
    name = "discord"
    label = gettext_lazy("Discord export (DiscordChatExporter)")

    def resembles(self, sample: Sample) -> float:
        files = _files(sample.members)
        paths = (sample.inside(files[0]) if files else sample).paths
        return 0.95 if {"guild.id", "channel.id"} <= paths else 0.0

    def read(self, source: Source, options: Options) -> Iterator[Found]:
        files = _files(source.members)
        if source.members and not files:
            raise ImportRejected("member_missing")
        yield from (Skipped(name, "media") for name in source.members if name not in files)
        for file in files or [""]:
            yield from _channel(source, file, options.limits)


def _files(members: tuple[str, ...]) -> list[str]:
    return [name for name in members if name.endswith(".json")]


def _channel(source: Source, file: str, limits: Limits) -> Iterator[Found]:
    channel = _Channel()
    messages = _messages(source, file, channel)
    # The head of the file is read on the way to its first message.
    first = list(islice(messages, 1))
    source_id = channel.known.get("channel.id") or digest("discord", channel.title)
    found = _lines(channel, chain(first, messages), limits)
    yield from talks(channel.title, source_id, channel.title or _("the channel"), found, limits)


def _messages(source: Source, file: str, channel: _Channel) -> Iterator[Any]:
    for place, value in values(source, [*_HEAD, "messages.item"], file):
        if place in _HEAD:
            channel.known[place] = word(value)
        else:
            yield value


def _lines(channel: _Channel, messages: Iterable[Any], limits: Limits) -> Iterator[Line | Skipped]:
    where = _("message %d")
    for number, message in enumerate(messages, start=1):
        yield from _message(channel, message, number, where % number, limits)


def _message(channel: _Channel, message: Any, number: int, where: str, limits: Limits) -> Iterator[Line | Skipped]:
    if not isinstance(message, dict):
        yield Skipped(where, message.reason if isinstance(message, Unread) else "broken")
        return
    kind = word(message.get("type"))
    # Kinds that the exporter has no name for are numbers.
    if kind not in _SPOKEN and not kind.isdecimal():
        yield Skipped(where, "notice")
        return
    text = word(message.get("content"))
    # What is embedded beside words is mostly a link's preview.
    with_media = any(array(message.get(key)) for key in (_FILES if text.strip() else (*_FILES, "embeds")))
    if with_media:
        yield Skipped(where, "media")
    if text.strip() or not with_media:
        author = table(message.get("author"))
        speaker = channel.names.of(word(author.get("id")), word(author.get("nickname")) or word(author.get("name")))
        at, source_id = moment(message.get("timestamp")), word(message.get("id"))
        yield said(speaker, text, at, where, limits, source_id, number, channel.role_of(author))


FORMATS = (Discord(),)
