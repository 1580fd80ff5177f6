"""A year of feelings: every day in its place, nothing of what is hidden, and the same in words."""

import re
from collections.abc import Callable
from datetime import date, timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from memory.models import ConceptNode
from memory.web.presenters.year import YearEvent, draw_year, events_of_year
from persona.models import Persona

TODAY = date(2026, 11, 23)


def test_every_day_of_a_year_has_a_square_in_the_column_of_its_week() -> None:
    drawn = draw_year([], TODAY)
    days = [cell.day for cell in drawn["cells"]]
    assert days == [days[0] + timedelta(number) for number in range(len(days))]
    assert (days[-1], days[0].weekday()) == (TODAY, 0)
    assert 365 <= len(days) <= 378
    places = [(cell.x, cell.y) for cell in drawn["cells"]]
    assert len(set(places)) == len(places)
    assert max(x for x, _ in places) < drawn["width"]
    assert [month.first for month in drawn["months"]][:2] == [date(2026, 11, 1), date(2026, 10, 1)]
    assert len(drawn["months"]) == 12


def test_a_day_has_the_colour_of_what_weighed_most_and_a_month_that_of_the_mean() -> None:
    felt = [
        YearEvent(TODAY - timedelta(40), -4, ["fear"]),
        YearEvent(TODAY - timedelta(1), 2, ["joy"]),
        YearEvent(TODAY - timedelta(1), -9, ["grief"]),
        YearEvent(TODAY, 0, []),
    ]
    drawn = draw_year(felt, TODAY)
    shades = {cell.day: cell.shade for cell in drawn["cells"]}
    assert [shades[TODAY - timedelta(days)] for days in (0, 1, 2, 40)] == ["even", "hard-3", "none", "hard-2"]
    november, october, september = drawn["months"][:3]
    assert (november.count, november.tone, november.feelings) == (3, "hard", ["joy", "grief"])
    assert (october.count, october.tone) == (1, "hard")
    assert (september.count, september.level, september.tone) == (0, 0, "even")


@pytest.mark.django_db
def test_the_year_shows_what_is_recalled_alone_and_links_to_it(
    client: Client, ana: User, ben: User, mira: Persona, otto: Persona, remember: Callable[..., ConceptNode]
) -> None:
    client.force_login(ana)
    address = f"/memory/{mira.uuid}/year/"
    assert 'data-testid="year-empty"' in client.get(address).content.decode()
    today = timezone.localdate()
    remember(
        mira, "A good day.", emotional_impact=8, emotion_tags=["joy"], event_time_start=today, event_time_end=today
    )
    remember(mira, "A hidden day.", emotional_impact=-8, emotion_tags=["grief"], status="hidden")
    old = today - timedelta(800)
    remember(mira, "Long ago.", emotional_impact=3, emotion_tags=["awe"], event_time_start=old, event_time_end=old)
    page = client.get(address).content.decode()
    assert "joy" in page
    assert "grief" not in page
    assert "awe" not in page
    [month] = re.findall(r'href="([^"]+since[^"]+)"', page)
    assert "A good day." in client.get(month.replace("&amp;", "&")).content.decode()
    client.force_login(ben)
    assert client.get(address).status_code == 404
    assert len(events_of_year(mira, today)) == 1
