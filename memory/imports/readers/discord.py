"""The JSON of DiscordChatExporter: one channel, or one chat between people."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memory.imports.readers.json_values import values
from memory.imports.readers.lines import Names, SessionReader, array, moment, table, word
from memory.imports.readers.source import Sample, Source
from memory.imports.readers.types import FileMessage, ImportRejected, Limits, Options, ReaderItem, Role, Skipped, digest
from memory.imports.readers.zips import within

_HEAD = ("guild.id", "guild.name", "channel.id", "channel.name", "channel.type")
# Kinds that the exporter has no name for are Discord's numbers; commands of bots are spoken.
_SPOKEN = ("Default", "Reply", "ChatInputCommand", "ContextMenuCommand", "0", "19", "20", "23")
_LAST_KNOWN_KIND = 46
# Members that are examined to find out the contents of a zip.
_LOOKED_AT = 20
_FILES = ("attachments", "stickers")
# A chat between people has no guild.
_NO_GUILD = "0"


@dataclass
class _Channel:
    fields: dict[str, str] = field(default_factory=dict)
    names: Names = field(default_factory=Names)

    @property
    def title(self) -> str:
        guild = self.fields.get("guild.name", "") if self.fields.get("guild.id") != _NO_GUILD else ""
        return " / ".join(filter(None, (guild, self.fields.get("channel.name"))))

    def name_of(self, author: dict[str, Any]) -> str:
        return self.names.of(word(author.get("id")), word(author.get("nickname")) or word(author.get("name")))

    def role_of(self, author: dict[str, Any]) -> Role:
        """The role of an author. In a chat of two a bot is a companion; in a channel it is one of many."""
        if not author.get("isBot"):
            return ""
        return "persona" if self.fields.get("channel.type") == "DirectTextChat" else "other"


class Discord:
    name = "discord"
    label = gettext_lazy("Discord export (DiscordChatExporter)")
    between_people = True

    def resembles(self, sample: Sample) -> float:
        if not sample.members:
            return 0.95 if _is_channel(sample) else 0.0
        return 0.95 if any(_is_channel(sample.inside(name)) for name in _files(sample.members)[:_LOOKED_AT]) else 0.0

    def read(self, source: Source, options: Options) -> Iterator[ReaderItem]:
        files = [name for name in _files(source.members) if _is_channel(source.sample.inside(name))]
        if source.members and not files:
            raise ImportRejected("member_missing")
        for name in source.members:
            if name not in files:
                yield Skipped(name, "unknown" if name.endswith(".json") else "media")
        for file in files or [""]:
            with within(file):
                channel = _Channel()

                def read_messages(file: str = file, channel: _Channel = channel) -> Iterator[Any]:
                    for place, value in values(source, [*_HEAD, "messages.item"], file):
                        if place in _HEAD:
                            channel.fields[place] = word(value)
                        else:
                            yield value

                messages = read_messages()
                # The head of the file is read before its first message.
                first = list(islice(messages, 1))
                source_id = channel.fields.get("channel.id") or digest("discord", channel.title)
                reader = _Messages(options.limits, channel)
                reader.places.begin(source_id)
                location = channel.title or _("the channel")
                yield from reader.read_session(channel.title, source_id, location, chain(first, messages))


def _files(members: tuple[str, ...]) -> list[str]:
    return [name for name in members if name.endswith(".json")]


def _is_channel(sample: Sample) -> bool:
    return sample.text.lstrip().startswith("{") and {"guild.id", "channel.id"} <= sample.paths


class _Messages(SessionReader):
    def __init__(self, limits: Limits, channel: _Channel) -> None:
        super().__init__(limits)
        self.channel = channel

    def place_of(self, session: str, number: int) -> str:
        return _("message %d") % number

    def read_message(self, message: dict[str, Any], location: str) -> Iterator[FileMessage | Skipped]:
        kind = word(message.get("type"))
        if kind not in _SPOKEN and not (kind.isdecimal() and int(kind[:9]) > _LAST_KNOWN_KIND):
            yield Skipped(location, "notice")
            return
        author, forwarded = table(message.get("author")), table(message.get("forwardedMessage"))
        at, message_id = moment(message.get("timestamp")), word(message.get("id"))
        for part in filter(None, (forwarded, message)):
            text = word(part.get("content"))
            # Embeds beside words are mostly previews of links.
            with_media = any(array(part.get(key)) for key in (_FILES if text.strip() else (*_FILES, "embeds")))
            if with_media:
                yield Skipped(location, "media")
            if part is forwarded and text.strip():
                # The export does not name the original author.
                speaker = f"{self.channel.name_of(author)} (forwarded)"
                yield self.line(speaker, text, at, location, f"{message_id}/forwarded" if message_id else "", "other")
            elif part is message and (text.strip() or not (with_media or message.get("forwardedMessage"))):
                role = self.channel.role_of(author)
                yield self.line(self.channel.name_of(author), text, at, location, message_id, role)


FORMATS = (Discord(),)
