"""The JSON export of the diary app Day One, alone or in the zip it comes in with its photographs."""

import re
from collections.abc import Iterator
from datetime import datetime, tzinfo
from pathlib import PurePosixPath
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memory.importers.json_values import Unread, values
from memory.importers.lines import moment, storable, word
from memory.importers.source import Sample, Source
from memory.importers.types import Entry, Found, ImportRejected, Options, Skipped, digest

# Where a photograph stands in an entry; and signs that would be Markdown, which stand behind a backslash.
_MOMENT = re.compile(r"!\[[^\]]{0,200}\]\(dayone-moment:[^)\s]{0,200}\)")
_ESCAPED = re.compile(r"\\([\\`*_{}\[\]()#+\-.!~>|&])")


class DayOne:
    name = "day_one"
    label = gettext_lazy("Day One (JSON, or the zip with its photographs)")

    def resembles(self, sample: Sample) -> float:
        inside = [sample.inside(name) for name in _journals(sample.members)] if sample.members else [sample]
        return 0.95 if any("entries.item.creationDate" in each.paths for each in inside[:3]) else 0.0

    def read(self, source: Source, options: Options) -> Iterator[Found]:
        members = _journals(source.members)
        if source.members and not members:
            raise ImportRejected("member_missing")
        yield from (Skipped(member, "media") for member in source.members if member not in members)
        for member in members or [""]:
            for number, (_place, value) in enumerate(values(source, ("entries.item",), member), 1):
                yield _entry(value, _where(member, number), options)


def _journals(members: tuple[str, ...]) -> list[str]:
    """The journals in the zip: JSON at the top, beside folders of photographs."""
    return [name for name in members if PurePosixPath(name).suffix.casefold() == ".json" and "/" not in name]


def _where(member: str, number: int) -> str:
    entry = _("entry %d") % number
    return f"{member}, {entry}" if member else entry


def _entry(value: Any, where: str, options: Options) -> Entry | Skipped:
    if isinstance(value, Unread) or not isinstance(value, dict):
        return Skipped(where, value.reason if isinstance(value, Unread) else "broken")
    text = _as_written(storable(word(value.get("text"))))
    if not text.strip():
        return Skipped(where, "media" if any(value.get(kind) for kind in ("photos", "videos", "audios")) else "empty")
    if len(text.encode()) > options.limits.message_bytes:
        return Skipped(where, "too_long")
    at = local(moment(value.get("creationDate")), zone_named(value.get("timeZone")))
    source_id = storable(word(value.get("uuid"))) or digest("entry", at, text)
    return Entry("", text, at.date() if at else None, at, source_id, where)


def _as_written(text: str) -> str:
    """`text` without the places of its photographs, and without the signs that keep others from being Markdown.

    >>> _as_written("It \\\\- snowed\\\\. ![](dayone-moment://AB12)")
    'It - snowed.'
    """
    return _ESCAPED.sub(r"\1", _MOMENT.sub("", text)).strip()


def local(at: datetime | None, zone: tzinfo | None) -> datetime | None:
    """The moment on the clock of the place it was written at, since a diary's day is the writer's."""
    return at.astimezone(zone) if at and at.tzinfo and zone else at


def zone_named(name: Any) -> tzinfo | None:
    try:
        return ZoneInfo(name) if isinstance(name, str) and name else None
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


FORMATS = (DayOne(),)
