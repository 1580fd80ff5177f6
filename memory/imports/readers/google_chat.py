"""Google Chat in a Google Takeout: a folder for each chat and space, alone or in the zip.

    Google Chat/Groups/DM abc/messages.json     {messages: [{creator: {name, email}, created_date, text, message_id}]}
    Google Chat/Groups/DM abc/group_info.json   {name?, members: [{name, email}]}
    Google Chat/Users/User 1/user_info.json     {user: {name, email}}: the owner of the account

Folder names and dates are in the language of the account: "Tuesday, May 24, 2020 at 10:14:22 AM UTC".
"""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memory.imports.readers.json_values import values
from memory.imports.readers.lines import Names, SessionReader, array, moment, skip_others, table, word
from memory.imports.readers.localized_times import moment_in
from memory.imports.readers.source import Sample, Source
from memory.imports.readers.time_order import oldest_first, weight
from memory.imports.readers.types import FileMessage, Limits, Options, ReaderItem, Role, Skipped, digest
from memory.imports.readers.whole_json import load_small_object
from memory.imports.readers.zips import within

_MESSAGES = "messages.json"
_MARKS = frozenset({"messages.item.creator", "messages.item.created_date"})
_MEMBERS_LOOKED_AT = 40
_MAX_INFO = 16 * 1024 * 1024
_MEDIA = ("attached_files", "annotations")


class GoogleChat:
    name = "google_chat"
    label = gettext_lazy("Google Chat (Google Takeout)")
    between_people = True

    def resembles(self, sample: Sample) -> float:
        inside = [sample.inside(name) for name in _files(sample.members)[:_MEMBERS_LOOKED_AT]]
        return 0.95 if any(map(_is_chat, inside if sample.members else [sample])) else 0.0

    def read(self, source: Source, options: Options) -> Iterator[ReaderItem]:
        files = [name for name in _files(source.members) if _is_chat(source.sample.inside(name))]
        yield from skip_others(source, files, (".json",))
        # The owner of the account, by address or name; "" if unknown.
        profiles = [name for name in source.members if name.casefold().endswith("user_info.json")]
        users = (table(load_small_object(source, name, _MAX_INFO).get("user")) for name in profiles)
        user = next(filter(None, users), {})
        owner = word(user.get("email")) or word(user.get("name"))
        reader = _Chats(options.limits, owner)
        for number, file in enumerate(files or [""], start=1):
            with within(file):
                folder = file.rpartition("/")[0].rpartition("/")[2]
                info = load_small_object(source, f"{file.rpartition('/')[0]}/group_info.json", _MAX_INFO)
                people = [
                    (word(person.get("email")), word(person.get("name")))
                    for person in map(table, array(info.get("members")))
                ]
                others = ", ".join(name for email, name in people if owner not in (email, name) and name)
                title = word(info.get("name")) or (others if owner else "") or folder
                source_id = folder or digest("google_chat", source.name)
                location = title or _("chat %d") % number
                reader.begin(source_id)
                messages = (value for _place, value in values(source, ["messages.item"], file))
                ordered = oldest_first(messages, _at, weight, options.limits)
                yield from reader.read_session(title, source_id, location, ordered)


def _files(members: Iterable[str]) -> list[str]:
    return [name for name in members if name.rpartition("/")[2].casefold() == _MESSAGES]


def _is_chat(sample: Sample) -> bool:
    return sample.paths >= _MARKS


def _at(message: Any) -> datetime | None:
    created_date = word(table(message).get("created_date"))
    created_at = moment_in(created_date) if created_date else None
    at = created_at.at() if created_at else moment(created_date)
    return at.replace(tzinfo=UTC) if at and at.tzinfo is None else at


class _Chats(SessionReader):
    """`owner` is the owner's address or name; equal names are distinguished within each chat."""

    def __init__(self, limits: Limits, owner: str) -> None:
        super().__init__(limits)
        self.owner, self.names = owner, Names()

    def begin(self, source_id: str) -> None:
        self.places.begin(source_id)
        self.names = Names()

    def read_message(self, message: dict[str, Any], location: str) -> Iterator[FileMessage | Skipped]:
        text = word(message.get("text"))
        with_media = any(message.get(kind) for kind in _MEDIA)
        if message.get("attached_files") or (with_media and not text.strip()):
            yield Skipped(location, "media")
        if "DELETED" in word(message.get("message_state")) or (not text.strip() and message.get("deletion_metadata")):
            yield Skipped(location, "deleted")
        elif text.strip() or not with_media:
            creator = table(message.get("creator"))
            person, name = word(creator.get("email")), word(creator.get("name"))
            role: Role = "user" if self.owner and self.owner in (person, name) else ""
            role = "other" if "bot" in word(creator.get("user_type")).casefold() else role
            speaker = self.names.of(person, name or person) if person else name
            yield self.line(speaker, text, _at(message), location, word(message.get("message_id")), role)


FORMATS = (GoogleChat(),)
