"""Knobs of reaching out."""

from echovessel.knobs import whole

quiet_hours_start = whole(
    "proactive.quiet_hours_start",
    23,
    low=0,
    high=23,
    unit="o'clock in the owner's zone",
    why="Nobody is spoken to in her sleep.",
    source="seed 001 §10",
)
quiet_hours_end = whole(
    "proactive.quiet_hours_end",
    7,
    low=0,
    high=23,
    unit="o'clock in the owner's zone",
    why="Nobody is spoken to in her sleep.",
    source="seed 001 §10",
)
max_per_24h = whole(
    "proactive.max_per_24h",
    3,
    low=0,
    high=24,
    unit="messages",
    why="A companion, never a nuisance.",
    source="seed 001 §10",
)
