"""Knobs of the job engine. They are named after the first job that used them, since operators have set them."""

from django.utils.translation import gettext_lazy as _

from echovessel.knobs import whole

lease_seconds = whole(
    "consolidate.lease_seconds",
    600,
    low=2,
    high=7_200,
    unit=_("seconds"),
    why=_("Longer than one step may take (two model calls of 120 s and the embedding); renewed with each step."),
)
attempts = whole(
    "consolidate.attempts",
    5,
    low=1,
    high=50,
    unit=_("attempts"),
    why=_(
        "With the pauses below they span about an hour; then the job fails visibly, and a "
        "session waits for a person's decision."
    ),
    source="design/consolidation.md",
)
backoff_seconds = whole(
    "consolidate.backoff_seconds",
    60,
    low=0,
    high=3_600,
    unit=_("seconds"),
    why=_("The first pause after a temporary failure; each further one is four times as long."),
    source="design/consolidation.md",
)
backoff_longest_seconds = whole(
    "consolidate.backoff_longest_seconds",
    2_400,
    low=0,
    high=86_400,
    unit=_("seconds"),
    why=_("The longest such pause: 1 + 4 + 16 + 40 minutes make five attempts in about an hour."),
    source="design/consolidation.md",
)
queue_room = whole(
    "consolidate.queue_room",
    20,
    low=1,
    high=10_000,
    unit=_("jobs"),
    why=_(
        "Unfinished work fills the queue only up to this length; otherwise each minute would add the same rows again."
    ),
)
