"""Days as pages show them: how long ago, with the exact day in a tooltip."""

from datetime import date

from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import get_language

from echovessel.language.human_dates import humanize_date, write_days
from memory.models import ConceptNode
from persona.models import Persona


def format_day(persona: Persona, first: date, last: date | None = None) -> SafeString:
    """How long ago a day, or the last of several, was; in the reader's language, counted in the owner's zone."""
    language = "zh" if (get_language() or "").startswith("zh") else "en"
    today = timezone.now().astimezone(persona.zone).date()
    last = last or first
    return format_html(
        '<time datetime="{}" title="{}">{}</time>',
        first.isoformat(),
        write_days(first, last, language),
        humanize_date(last if last < today else max(first, min(last, today)), today, language),
    )


def format_day_of(persona: Persona, node: ConceptNode) -> SafeString:
    """The day of a memory: its own, else the day on which it was created."""
    if node.event_time_start:
        return format_day(persona, node.event_time_start, node.event_time_end)
    return format_day(persona, node.created_at.astimezone(persona.zone).date())
