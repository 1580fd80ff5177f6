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
answer_hours = whole(
    "proactive.answer_hours",
    6,
    low=1,
    high=168,
    unit="hours",
    why="A first word with no line of the user within this time was not answered; after two of them she waits.",
    source="design: cold user",
)
spacing_hours = whole(
    "proactive.spacing_hours",
    4,
    low=0,
    high=168,
    unit="hours",
    why="Between one first word and the next, whatever there is to say.",
    source="seed 001 §10",
)
rest_minutes = whole(
    "proactive.rest_minutes",
    60,
    low=1,
    high=1_440,
    unit="minutes",
    why="Who has just talked is not spoken to anew: time to close the talk (30 minutes) and to remember it.",
)
shock_impact = whole(
    "proactive.shock_impact",
    8,
    low=1,
    high=10,
    unit="of 10",
    why="What weighs this much, well or ill, is worth coming back to.",
    source="seed 001 §10",
)
shock_hours = whole(
    "proactive.shock_hours",
    24,
    low=1,
    high=720,
    unit="hours",
    why="Counted from when it was told. Later it is no news any more.",
)
due_hour = whole(
    "proactive.due_hour",
    9,
    low=0,
    high=23,
    unit="o'clock in the owner's zone",
    why="On the day itself what is due is not spoken of before: at the stroke of seven she would be an alarm clock.",
)
due_days_late = whole(
    "proactive.due_days_late",
    1,
    low=0,
    high=30,
    unit="days",
    why="A promise that could not be kept on its day is kept on the next; then it is too late to begin with it.",
)
silence_hours = whole(
    "proactive.silence_hours",
    48,
    low=1,
    high=8_760,
    unit="hours",
    why="A silence is a reason after this; each further time twice as long must have passed.",
    source="seed 001 §10",
)
keep_considerations_days = whole(
    "proactive.keep_considerations_days",
    90,
    low=1,
    high=3_650,
    unit="days",
    why="Three months of the calendar say whether she is a nuisance.",
)

# --- outreach and push ---------------------------------------------------------------------------------------------
longest_first_word = whole(
    "proactive.longest_first_word",
    600,
    low=40,
    high=20_000,
    unit="characters",
    why="Three short sentences have 300; a longer one is asked for once more, shorter.",
)
first_word_tokens = whole(
    "proactive.first_word_tokens",
    500,
    low=50,
    high=8_000,
    unit="tokens",
    why="What a first word may take of a model, its form included; Chinese takes a token or more for a character.",
)
defer_seconds = whole(
    "proactive.defer_seconds",
    60,
    low=1,
    high=3_600,
    unit="seconds",
    why="How long a first word waits for a reply that is just being written.",
)
push_seconds = whole(
    "proactive.push_seconds",
    10,
    low=1,
    high=60,
    unit="seconds",
    why="A push service that has not answered by then has lost the notice; the message itself is in the page.",
)
push_keep_hours = whole(
    "proactive.push_keep_hours",
    24,
    low=0,
    high=672,
    unit="hours",
    why="How long a push service keeps a notice for a phone that is switched off. Later it is stale.",
)
push_failures = whole(
    "proactive.push_failures",
    5,
    low=1,
    high=100,
    unit="notices",
    why="A browser that could not be told so often in a row is struck off the list; it can put itself on it again.",
)
push_browsers = whole(
    "proactive.push_browsers",
    10,
    low=1,
    high=100,
    unit="browsers",
    why="Of one owner: phone, tablet and laptops; a new one takes the place of the one that was added first.",
)
