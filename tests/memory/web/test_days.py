"""Days on pages: how long ago in words, and the exact day as a tooltip."""

from datetime import date, timedelta

import pytest
from django.test import Client
from django.utils import timezone, translation

from memory.web.presenters.days import format_day
from persona.models import Persona


@pytest.mark.parametrize(
    ("language", "days", "label"),
    [
        ("en", 0, ">today<"),
        ("en", 21, ">three weeks ago<"),
        ("zh-hans", 21, ">三周前<"),
        ("en", -3, ">in three days<"),
    ],
)
def test_a_day_says_how_long_ago_it_was_and_which_it_is(mira: Persona, language: str, days: int, label: str) -> None:
    day = timezone.now().astimezone(mira.zone).date() - timedelta(days=days)
    with translation.override(language):
        markup = format_day(mira, day)
    assert label in markup
    assert f'datetime="{day.isoformat()}"' in markup
    exact = f"{day.year}年{day.month}月{day.day}日" if language == "zh-hans" else f"{day.day} {day:%B} {day.year}"
    assert f'title="{exact}"' in markup


def test_days_of_a_span_are_all_in_its_title(mira: Persona) -> None:
    assert 'title="March–May 2020"' in format_day(mira, date(2020, 3, 1), date(2020, 5, 31))


def test_the_list_of_memories_shows_them(mira: Persona, client: Client, remember: object) -> None:
    remember(mira, "Ana moved.", event_time_start=date(2020, 2, 29), event_time_end=date(2020, 2, 29))  # type: ignore[operator]
    client.force_login(mira.owner)
    page = client.get(f"/memory/{mira.uuid}/").content.decode()
    assert '<time datetime="2020-02-29" title="29 February 2020">in February 2020</time>' in page
