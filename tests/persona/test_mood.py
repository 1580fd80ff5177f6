"""L6: how the persona feels, and for how long."""

from datetime import timedelta

import pytest
from django.utils import timezone

from echovessel.outbox.models import OutboxEvent
from persona import mood
from persona.models import Persona
from persona.mood import Mood

pytestmark = pytest.mark.django_db


def test_a_mood_lasts_twelve_hours_and_reading_stores_nothing(mira: Persona) -> None:
    now = timezone.now()
    mood.change(mira, Mood("warm", 6, "shared a fond detail"), None, now)
    assert mood.current(mira, now + timedelta(hours=11)) == Mood("warm", 6, "shared a fond detail")
    assert mood.current(mira, now + timedelta(hours=12)) is None
    mira.refresh_from_db()
    assert mira.episodic_state["mood"] == "warm"


@pytest.mark.parametrize("word", ["neutral", "Neutral", "平静", "", "listening", "在听"])
def test_neutral_renders_nothing(mira: Persona, word: str) -> None:
    mood.change(mira, Mood(word, 5), None, timezone.now())
    assert mood.current(mira, timezone.now()) is None


def test_a_change_is_kept_and_published(mira: Persona) -> None:
    mood.change(mira, Mood("warm", 6), None, timezone.now())
    mood.change(mira, Mood("low", 2), None, timezone.now())
    assert [change.mood for change in mira.mood_changes.all()] == ["low", "warm"]
    assert [event.data["mood"] for event in OutboxEvent.objects.filter(name="chat.mood.update")] == ["warm", "low"]


@pytest.mark.parametrize(
    ("given", "valid"),
    [
        (("x" * 60, 99, " " * 5), Mood("x" * 40, 10, None)),
        (("  two  words ", -3, "y" * 100), Mood("two words", 0, "y" * 80)),
    ],
)
def test_a_mood_out_of_range_is_brought_into_it(given: tuple[str, int, str], valid: Mood) -> None:
    assert Mood.clamped(*given) == valid
