"""Knobs of the event log."""

from django.utils.translation import gettext_lazy as _

from echovessel.knobs import knob, whole

keep_days = whole(
    "outbox.keep_days",
    7,
    low=1,
    high=365,
    unit=_("days"),
    why=_("A page that was offline longer than this reloads instead of replaying events."),
    source="design/turn.md",
)
poll_seconds = knob(
    "outbox.poll_seconds",
    0.2,
    low=0.02,
    high=5,
    unit=_("seconds"),
    why=_("How soon a page sees what the job worker, another process, has written."),
    source="design/turn.md: at most 0.5",
)
queue_length = whole(
    "outbox.queue_length",
    256,
    low=16,
    high=10_000,
    unit=_("events"),
    why=_("A page that reads slower than this many events gets a snapshot instead, so memory stays bounded."),
    source="design/platform.md 4",
)
