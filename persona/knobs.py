"""Knobs of the persona."""

from echovessel.knobs import whole

mood_decay_hours = whole(
    "persona.mood_decay_hours",
    12,
    low=1,
    high=240,
    unit="hours",
    why="A long silence must not open the next talk under a stale mood.",
    source="seed 001 §7",
)
