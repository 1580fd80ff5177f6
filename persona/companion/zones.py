"""Time zones as people look for them: by region and city, in English and Chinese, or by country. zones.txt names some
180 places; every other zone is found by its own name, such as America/Indiana/Knox."""

import re
import unicodedata
import zoneinfo
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from itertools import chain, product
from pathlib import Path
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import get_language, gettext
from django.utils.translation import gettext_lazy as _

MAX_LISTED = 8
REGIONS = {
    "Africa": _("Africa"),
    "America": _("Americas"),
    "Antarctica": _("Antarctica"),
    "Arctic": _("Arctic"),
    "Asia": _("Asia"),
    "Atlantic": _("Atlantic"),
    "Australia": _("Australia"),
    "Europe": _("Europe"),
    "Indian": _("Indian Ocean"),
    "Pacific": _("Pacific"),
}


@dataclass(frozen=True)
class Place:
    """A zone with its names by language; the first name is the one that is shown."""

    zone: str
    names: Mapping[str, tuple[str, ...]]

    def spellings(self) -> Iterator[str]:
        """All that people may write for it, in any language."""
        yield from (self.zone, self.zone.rpartition("/")[2], describe_zone(self.zone))
        yield from chain.from_iterable(self.names.values())


@cache
def machine_zones() -> frozenset[str]:
    """The zones of this machine, cached: `zoneinfo` opens 600 files to list them."""
    return frozenset(zoneinfo.available_timezones())


@cache
def places() -> Mapping[str, Place]:
    """The places of zones.txt whose zone this machine knows, by zone."""
    places_by_name = {}
    for zone_line in (Path(__file__).parent / "zones.txt").read_text(encoding="utf-8").splitlines()[1:]:
        zone, *names = (part.strip() for part in zone_line.split("|"))
        if zone in machine_zones():
            by_language = (tuple(name.strip() for name in names_of_language.split(";")) for names_of_language in names)
            places_by_name[zone] = Place(zone, dict(zip(("en", "zh"), by_language, strict=True)))
    return places_by_name


def describe_zone(zone: str) -> str:
    """A zone in the reader's language, "Europe · Lisbon"."""
    region, _slash, city = zone.partition("/")
    if place := places().get(zone):
        city = place.names["zh" if (get_language() or "").startswith("zh") else "en"][0]
    if region in REGIONS:
        return f"{REGIONS[region]} · {city.replace('_', ' ')}"
    return city if zone in places() else zone


def listed_zones(now: datetime) -> list[tuple[str, str, str]]:
    """(zone, description, UTC offset at `now` and search names), sorted by region and city."""
    rows = []
    for zone, place in places().items():
        offset = f"{now.astimezone(zoneinfo.ZoneInfo(zone)):%z}"
        names = ", ".join(name for names in place.names.values() for name in names)
        rows.append((zone, describe_zone(zone), f"UTC{offset[:3]}:{offset[3:]} · {names}"))
    return sorted(rows, key=lambda row: row[1])


def find_zones(text: str) -> list[str]:
    """The zones that `text` may mean: places of that name, else zones of that name, else zones that contain it."""
    sought = _plain(text)
    if not any(sign.isalnum() for sign in sought):
        return []
    # The sign of Etc/GMT+3 is inverted: it is three hours behind UTC. People who write "GMT+3" mean another zone.
    others = (Place(zone, {}) for zone in sorted(machine_zones() - places().keys()) if "Etc/" not in zone)
    groups = [
        [(place.zone, {*map(_plain, place.spellings())}) for place in group] for group in (places().values(), others)
    ]
    fits: Sequence[Callable[[str], bool]] = (
        sought.__eq__,
        lambda name: name.startswith(sought),
        lambda name: sought in name,
    )
    for fit, group in product(fits, groups):
        if zones := [zone for zone, names in group if any(map(fit, names))]:
            return zones
    return []


def _plain(text: str) -> str:
    """Letters and digits only, without case and accents; "-3" and "+3" stay apart."""
    decomposed = unicodedata.normalize("NFKD", text).casefold()
    return re.sub(r"[^\w+-]|_|[\u0300-\u036f]", "", decomposed)


class ZoneField(forms.CharField):
    """A place or a zone, typed or picked from the list; the value is the name of the zone."""

    def __init__(self, **options: Any) -> None:
        super().__init__(label=_("Your time zone"), max_length=100, **options)

    def prepare_value(self, value: Any) -> Any:
        return describe_zone(value) if value in machine_zones() else value

    def clean(self, value: Any) -> str:
        text = super().clean(value)
        # Names without a region, such as Japan, are deprecated links to a newer name.
        if not text or ("/" in text and text in machine_zones()):
            return text
        match find_zones(text):
            case [zone]:
                return zone
            case []:
                raise ValidationError(gettext("No such place is known here. Write a larger city near you."))
            case several:
                zone_names = gettext(", ").join(describe_zone(zone) for zone in several[:MAX_LISTED])
                raise ValidationError(
                    gettext("More than one place fits: %(places)s. Choose one of them."), params={"places": zone_names}
                )
