"""The prompt section that takes the place of the owner's message when the persona speaks first: why it writes."""

from echovessel.language.human_dates import humanize_date
from echovessel.llm.prompts import ContextRequest, Section, fence, with_heading
from memory.consolidation.prompt import render
from persona.models import Persona
from proactive.policy.outreach_context import OutreachContext


def why_you_write(request: ContextRequest) -> Section:
    """The trigger, the memory it is about, and how to write such a message."""
    persona: Persona = request.persona
    occasion: OutreachContext = request.occasion
    today = request.now.astimezone(persona.zone).date()
    text = render(
        "first_word",
        persona,
        trigger=occasion.trigger,
        about=fence("memory", occasion.words) if occasion.words else "",
        day=humanize_date(occasion.day, today, persona.language) if occasion.day else "",
    )
    about = str(occasion.about.uuid) if occasion.about else None
    account = {"trigger": occasion.trigger, "about": about, "since": occasion.since.isoformat()}
    material = {
        "trigger": occasion.trigger,
        "about": occasion.words,
        "about_day": occasion.day.isoformat() if occasion.day else None,
        "today": today.isoformat(),
    }
    return Section("why_now", "user", with_heading(persona.language, "first_word", text), account, material)
