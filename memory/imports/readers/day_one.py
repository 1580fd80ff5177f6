"""The diary app Day One: its JSON, alone or in its zip with photographs; and the entries of Day One Classic, each a
property list (`Journal.dayone/entries/*.doentry`), alone or in a zip."""

import json
import plistlib
import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, tzinfo
from pathlib import PurePosixPath
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memory.imports.readers.json_values import Unread, reason_of, values
from memory.imports.readers.lines import array, moment, skip_others, storable, table, word
from memory.imports.readers.source import Sample, Source
from memory.imports.readers.types import Entry, Options, ReaderItem, Skipped, digest
from memory.imports.readers.zips import within

# The place of a photograph in an entry; and Markdown characters that are escaped with a backslash.
_MOMENT = re.compile(r"!\[[^\]]{0,200}\]\(dayone-moment:[^)\s]{0,200}\)")
_ESCAPED = re.compile(r"\\([\\`*_{}\[\]()#+\-.!~>|&])")
_CLASSIC = ".doentry"
_CLASSIC_KEY = "<key>Entry Text</key>"
_MAX_CLASSIC_BYTES = 1024 * 1024
_MEMBERS_LOOKED_AT = 20


class DayOne:
    name = "day_one"
    label = gettext_lazy("Day One (JSON, or the zip with its photographs)")

    def resembles(self, sample: Sample) -> float:
        if not sample.members:
            is_classic = "<plist" in sample.text[:2_000] and _CLASSIC_KEY in sample.text
            return 0.95 if is_classic or _is_journal(sample) else 0.0
        inside = [sample.inside(name) for name in _journals(sample.members)[:_MEMBERS_LOOKED_AT]]
        return 0.95 if any(map(_is_journal, inside)) or _classic(sample.members) else 0.0

    def read(self, source: Source, options: Options) -> Iterator[ReaderItem]:
        classic = _classic(source.members)
        journals = [name for name in _journals(source.members) if _is_journal(source.sample.inside(name))]
        if not journals and not classic:
            # A journal that is damaged from its beginning is still the file that people chose.
            journals = [name for name in _journals(source.members) if "/" not in name]
        yield from skip_others(source, {*journals, *classic})
        if not source.members and _CLASSIC_KEY in source.sample.text:
            yield _classic_entry(source, "", options)
            return
        for member in classic:
            with within(member):
                yield _classic_entry(source, member, options)
        for member in journals or ([] if source.members else [""]):
            for number, (_place, value) in enumerate(values(source, ("entries.item",), member), 1):
                entry = _("entry %d") % number
                yield _entry(value, f"{member}, {entry}" if member else entry, options)


def _journals(members: tuple[str, ...]) -> list[str]:
    """Possible journals in the zip: JSON at the top or in a folder, beside folders of photographs."""
    return [name for name in members if PurePosixPath(name).suffix.casefold() == ".json"]


def _is_journal(sample: Sample) -> bool:
    return "entries.item.creationDate" in sample.paths


def _classic(members: tuple[str, ...]) -> list[str]:
    return [name for name in members if name.casefold().endswith(_CLASSIC)]


def _classic_entry(source: Source, member: str, options: Options) -> Entry | Skipped:
    location = member or source.name
    with source.open(member) as stream:
        data = stream.read(_MAX_CLASSIC_BYTES + 1)
    if len(data) > _MAX_CLASSIC_BYTES:
        return Skipped(location, "too_long")
    try:
        plist = plistlib.loads(data, fmt=plistlib.FMT_XML)
    except Exception:  # noqa: BLE001 the parser raises whatever its parts raise
        return Skipped(location, "broken")
    entry = table(plist)
    at = entry.get("Creation Date")
    # Times in a property list are UTC, without saying so.
    at = at.replace(tzinfo=UTC) if isinstance(at, datetime) else None
    value = {"text": entry.get("Entry Text"), "uuid": entry.get("UUID"), "timeZone": entry.get("Time Zone")}
    return _entry(value | {"creationDate": at.isoformat() if at else None}, location, options)


def _entry(value: Any, location: str, options: Options) -> Entry | Skipped:
    if isinstance(value, Unread) or not isinstance(value, dict):
        return Skipped(location, reason_of(value))
    text, rich = word(value.get("text")), word(value.get("richText"))
    if rich and not text:
        # Some entries have their text only in the layout: as JSON within a string.
        with suppress(ValueError, RecursionError):
            pieces = array(table(json.loads(rich)).get("contents"))
            text = "".join(word(table(piece).get("text")) for piece in pieces)
    text = _strip_markup(storable(text))
    if not text.strip():
        return Skipped(
            location, "media" if any(value.get(kind) for kind in ("photos", "videos", "audios")) else "empty"
        )
    if len(text.encode()) > options.limits.message_bytes:
        return Skipped(location, "too_long")
    at = local(moment(value.get("creationDate")), zone_named(value.get("timeZone")))
    source_id = storable(word(value.get("uuid"))) or digest("entry", at, text)
    return Entry("", text, at.date() if at else None, at, source_id, location)


def _strip_markup(text: str) -> str:
    """`text` without the places of its photographs, and without escaping backslashes.

    >>> _strip_markup("It \\\\- snowed\\\\. ![](dayone-moment://AB12)")
    'It - snowed.'
    """
    return _ESCAPED.sub(r"\1", _MOMENT.sub("", text)).strip()


def local(at: datetime | None, zone: tzinfo | None) -> datetime | None:
    """The moment in the zone where it was written, because a diary's day is the writer's."""
    return at.astimezone(zone) if at and at.tzinfo and zone else at


def zone_named(name: Any) -> tzinfo | None:
    try:
        return ZoneInfo(name) if isinstance(name, str) and name else None
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


FORMATS = (DayOne(),)
