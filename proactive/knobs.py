"""Knobs of reaching out."""

from django.utils.translation import gettext_lazy as _

from echovessel.knobs import whole

quiet_hours_start = whole(
    "proactive.quiet_hours_start",
    23,
    low=0,
    high=23,
    unit=_("o'clock in the owner's zone"),
    why=_("Nobody is written to in their sleep."),
    source="seed 001 §10",
)
quiet_hours_end = whole(
    "proactive.quiet_hours_end",
    7,
    low=0,
    high=23,
    unit=_("o'clock in the owner's zone"),
    why=_("Nobody is written to in their sleep."),
    source="seed 001 §10",
)
max_per_24h = whole(
    "proactive.max_per_24h",
    3,
    low=0,
    high=24,
    unit=_("messages"),
    why=_("A companion, never a nuisance."),
    source="seed 001 §10",
)
answer_hours = whole(
    "proactive.answer_hours",
    6,
    low=1,
    high=168,
    unit=_("hours"),
    why=_("With no message of the user within this time it was not answered; after two such the companion waits."),
    source="design: cold user",
)
spacing_hours = whole(
    "proactive.spacing_hours",
    4,
    low=0,
    high=168,
    unit=_("hours"),
    why=_("Between one first word and the next, whatever there is to say."),
    source="seed 001 §10",
)
rest_minutes = whole(
    "proactive.rest_minutes",
    60,
    low=1,
    high=1_440,
    unit=_("minutes"),
    why=_("Whoever has just talked is left alone: time to close the conversation (30 minutes) and to remember it."),
)
shock_impact = whole(
    "proactive.shock_impact",
    8,
    low=1,
    high=10,
    unit=_("of 10"),
    why=_("What weighs this much, well or ill, is worth coming back to."),
    source="seed 001 §10",
)
shock_hours = whole(
    "proactive.shock_hours",
    24,
    low=1,
    high=720,
    unit=_("hours"),
    why=_("Counted from when it was told. Later it is no news any more."),
)
due_hour = whole(
    "proactive.due_hour",
    9,
    low=0,
    high=23,
    unit=_("o'clock in the owner's zone"),
    why=_("On the day itself what is due is not spoken of before: at seven the companion would be an alarm clock."),
)
due_days_late = whole(
    "proactive.due_days_late",
    1,
    low=0,
    high=30,
    unit=_("days"),
    why=_("A promise that could not be kept on its day is kept on the next; then it is too late to begin with it."),
)
silence_hours = whole(
    "proactive.silence_hours",
    48,
    low=1,
    high=8_760,
    unit=_("hours"),
    why=_("A silence is a reason after this; each further time twice as long must have passed."),
    source="seed 001 §10",
)
keep_considerations_days = whole(
    "proactive.keep_considerations_days",
    90,
    low=1,
    high=3_650,
    unit=_("days"),
    why=_("Three months of the calendar say whether the companion is a nuisance."),
)

# --- outreach and push ---------------------------------------------------------------------------------------------
longest_first_word = whole(
    "proactive.longest_first_word",
    600,
    low=40,
    high=20_000,
    unit=_("characters"),
    why=_("Three short sentences have 300; a longer one is asked for once more, shorter."),
)
first_word_tokens = whole(
    "proactive.first_word_tokens",
    500,
    low=50,
    high=8_000,
    unit=_("tokens"),
    why=_("What a first word may take of a model, its form included; Chinese takes a token or more for a character."),
)
defer_seconds = whole(
    "proactive.defer_seconds",
    60,
    low=1,
    high=3_600,
    unit=_("seconds"),
    why=_("How long a first word waits for a reply that is just being written."),
)
push_seconds = whole(
    "proactive.push_seconds",
    10,
    low=1,
    high=60,
    unit=_("seconds"),
    why=_("A push service that has not answered by then has lost the notice; the message itself is in the page."),
)
push_keep_hours = whole(
    "proactive.push_keep_hours",
    24,
    low=0,
    high=672,
    unit=_("hours"),
    why=_("How long a push service keeps a notice for a phone that is switched off. Later it is stale."),
)
push_failures = whole(
    "proactive.push_failures",
    5,
    low=1,
    high=100,
    unit=_("notices"),
    why=_("A browser that could not be told so often in a row is struck off the list; it can put itself on it again."),
)
push_browsers = whole(
    "proactive.push_browsers",
    10,
    low=1,
    high=100,
    unit=_("browsers"),
    why=_("Of one owner: phone, tablet and laptops; a new one takes the place of the one that was added first."),
)
