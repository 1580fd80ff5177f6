"""Discord's own data package: it contains only the owner's messages.

    messages/c123/messages.json (or .csv)   [{ID, Timestamp, Contents, Attachments}], the latest message first
    messages/c123/channel.json              {id, type, name?, guild: {id, name}?, recipients?}
    messages/index.json                     {"123": "Direct Message with ben#0"}
    account/user.json                       {id, username, global_name}

The top folders have names in the language of the account. A single messages file is read, too.
"""

import csv
import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memory.imports.readers.json_values import objects, values
from memory.imports.readers.lines import SessionReader, moment, skip_others, table, word
from memory.imports.readers.source import Sample, Source
from memory.imports.readers.table import records, shape_of
from memory.imports.readers.time_order import oldest_first, weight
from memory.imports.readers.types import FileMessage, ImportRejected, Limits, Options, ReaderItem, Skipped, digest
from memory.imports.readers.whole_json import load_small_object
from memory.imports.readers.zips import within

_MESSAGES = re.compile(r"(?:^|/)c?\d+/messages\.(?:json|csv)$|^c?\d*/?messages\.(?:json|csv)$", re.I)
_FIELDS = frozenset({"ID", "Timestamp", "Contents"})
_MEMBERS_LOOKED_AT = 40
_MAX_INDEX = 16 * 1024 * 1024
_OWNER = "me"
# "Direct Message with ben#0"; in other languages the name is last, or alone.
_WITH = re.compile(r"^direct message with (?P<name>.+?)(?:#\d{1,4})?$", re.I)
_NUMBER = re.compile(r"#0+$")


class DiscordPackage:
    name = "discord_package"
    label = gettext_lazy("Discord's own data package")
    between_people = True

    def resembles(self, sample: Sample) -> float:
        inside = [sample.inside(name) for name in _files(sample.members)[:_MEMBERS_LOOKED_AT]]
        return 0.96 if any(map(_is_messages, inside if sample.members else [sample])) else 0.0

    def read(self, source: Source, options: Options) -> Iterator[ReaderItem]:
        # A channel without messages is an empty list.
        samples = {name: source.sample.inside(name) for name in _files(source.members)}
        files = [name for name, sample in samples.items() if _is_messages(sample) or sample.text.strip() == "[]"]
        yield from skip_others(source, files, (".json", ".csv", ".txt"))
        # The package's names of channels.
        index = next((name for name in source.members if name.casefold().endswith("messages/index.json")), "")
        folder = next((name.rpartition("/c")[0] for name in _files(source.members) if "/c" in name), "")
        index_object = load_small_object(source, index or f"{folder}/index.json", _MAX_INDEX)
        names = {key: word(value) for key, value in index_object.items()}
        reader = _OwnMessages(options.limits, _owner(source))
        for number, file in enumerate(files or [""], start=1):
            with within(file):
                channel = load_small_object(source, f"{file.rpartition('/')[0]}/channel.json", _MAX_INDEX)
                channel_id = word(channel.get("id")) or (file.rpartition("/")[0].rpartition("/")[2].lstrip("cC"))
                # The server and the channel; for a chat of two the other person.
                guild = word(table(channel.get("guild")).get("name"))
                with_whom = _WITH.match(names.get(channel_id, ""))
                partner = _NUMBER.sub("", with_whom["name"] if with_whom else names.get(channel_id, ""))
                title = " / ".join(filter(None, (guild, word(channel.get("name"))))) or partner
                source_id = f"discord:{channel_id}" if channel_id else digest("discord_package", title, number)
                location = title or _("channel %d") % number
                reader.places.begin(source_id)
                ordered = oldest_first(reader.messages_in(source, file), _at, weight, options.limits, newest_first=True)
                yield from reader.read_session(title, source_id, location, ordered)


def _files(members: Iterable[str]) -> list[str]:
    return [name for name in members if _MESSAGES.search(name)]


def _is_messages(sample: Sample) -> bool:
    if sample.paths:
        return {f"item.{name}" for name in _FIELDS} <= sample.paths
    shape = shape_of(sample.text) if sample.text else None
    return shape is not None and {*shape.columns} >= _FIELDS


def _owner(source: Source) -> str:
    """The name of the owner of the package."""
    name_fields = ("global_name", "username")
    for member in source.members:
        if member.casefold().endswith("/user.json") or member == "user.json":
            try:
                name_by_field = {place: word(value) for place, value in values(source, name_fields, member)}
            except ImportRejected:
                continue
            return next((name_by_field[place] for place in name_fields if name_by_field.get(place)), _OWNER)
    return _OWNER


def _at(message: Any) -> datetime | None:
    """The time in UTC, also if the file names no zone."""
    timestamp = word(table(message).get("Timestamp"))
    at = moment(timestamp)
    return moment(f"{timestamp}Z") if at and at.tzinfo is None else at


class _OwnMessages(SessionReader):
    def __init__(self, limits: Limits, owner: str) -> None:
        super().__init__(limits)
        self.owner = owner

    def messages_in(self, source: Source, file: str) -> Iterator[Any]:
        sample = source.sample.inside(file) if file else source.sample
        if sample.paths or sample.text.lstrip().startswith("["):
            yield from objects(source, file)
            return
        if not file:
            shape = shape_of(sample.text)
            yield from (record for _where, record in records(source, shape)) if shape else ()
            return
        lines = (f"{line.text}\n" for line in source.lines(file))
        try:
            yield from csv.DictReader(lines, strict=True)
        except csv.Error as error:
            raise ImportRejected("table_broken", file) from error

    def read_message(self, message: dict[str, Any], location: str) -> Iterator[FileMessage | Skipped]:
        text, media = word(message.get("Contents")), word(message.get("Attachments")).strip()
        if media:
            yield Skipped(location, "media")
        if text.strip() or not media:
            yield self.line(self.owner, text, _at(message), location, word(message.get("ID")), "user")


FORMATS = (DiscordPackage(),)
