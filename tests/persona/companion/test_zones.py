"""Zones are found by the places that people name, in both languages, and never by signs that mean the opposite."""

import zoneinfo
from datetime import UTC, datetime

import pytest
from django.core.exceptions import ValidationError
from django.utils.translation import override

from persona.companion.zones import ZoneField, describe_zone, find_zones, listed_zones, places
from tests.table import each_row, in_samples


@each_row(
    ("text", "zone"),
    [
        ("Lisbon", "Europe/Lisbon"),
        ("  são  PAULO ", "America/Sao_Paulo"),
        ("Zürich", "Europe/Zurich"),
        ("北京", "Asia/Shanghai"),
        ("伦敦", "Europe/London"),
        ("Mumbai", "Asia/Kolkata"),
        ("Calcutta", "Asia/Kolkata"),
        ("Kiev", "Europe/Kyiv"),
        ("new york", "America/New_York"),
        ("Portugal", "Europe/Lisbon"),
        ("Europe · Lisbon", "Europe/Lisbon"),
        ("Indiana/Knox", "America/Indiana/Knox"),
        ("america/indiana/knox", "America/Indiana/Knox"),
        ("utc", "UTC"),
        ("Reykjav", "Atlantic/Reykjavik"),
        ("EST", "EST"),
    ],
)
def test_a_place_leads_to_its_zone(text: str, zone: str) -> None:
    assert find_zones(text) == [zone]
    assert ZoneField().clean(text) == zone


@each_row("text", ["GMT+3", "Etc", "Atlantis", "+", "…", "x" * 101, "../etc/passwd", "New", "San"])
def test_what_is_no_single_place_is_refused_with_words(text: str) -> None:
    with pytest.raises(ValidationError) as refusal:
        ZoneField().clean(text)
    assert refusal.value.messages[0]


@in_samples
def test_every_listed_zone_is_one_and_is_found_by_what_is_shown_in_either_language(every: int) -> None:
    assert places().keys() <= zoneinfo.available_timezones()
    for language in ("en", "zh-hans"):
        with override(language):
            rows = listed_zones(datetime(2026, 7, 1, tzinfo=UTC))
            assert len(rows) == len({shown for _zone, shown, _names in rows}) > 150
            assert [zone for zone, shown, _names in rows[::every] if ZoneField().clean(shown) != zone] == []
    assert (
        "Europe/Lisbon",
        "Europe · Lisbon",
        "UTC+01:00 · Lisbon, Porto, Portugal, 里斯本, 波尔图, 葡萄牙",
    ) in listed_zones(datetime(2026, 7, 1, tzinfo=UTC))
    for odd in ("Etc/GMT+3", "US/Pacific", "EST"):  # set by a program: the page shows and saves them as they are
        assert ZoneField().clean(ZoneField().prepare_value(odd)) == odd
    assert (describe_zone("America/Indiana/Knox"), describe_zone("EST")) == ("Americas · Indiana/Knox", "EST")
