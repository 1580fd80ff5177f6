"""Prompt sections of the persona itself: identity, core blocks, mood and guardrails."""

from dataclasses import asdict

from echovessel.db.compiled_queries import Query
from echovessel.llm.prompts import ContextRequest, Section, neutralize, render_prompt, shorten, tokens, with_heading
from persona import mood as moods
from persona.models import CoreBlock, Persona
from persona.models.core_block import Label

_blocks: Query[CoreBlock] = Query(lambda persona: CoreBlock.objects.filter(persona=persona))
FACTS_SHOWN = ("gender", "birth_date", "nationality", "language", "location", "timezone", "occupation")


def identity(request: ContextRequest) -> Section:
    """Who speaks, and to whom."""
    persona: Persona = request.persona
    facts = {name: persona.facts[name] for name in FACTS_SHOWN if persona.facts.get(name)}
    text = render_prompt(
        "identity", persona.language, name=persona.name, user_name=persona.user_display_name, facts=facts
    )
    material = {
        "language": persona.language,
        "persona_name": persona.name,
        "user_name": persona.user_display_name,
    }
    return Section("identity", "system", text, material=material)


def core_blocks(request: ContextRequest) -> Section | None:
    """The three core blocks (L1): persona, user, style; shortened only where they exceed their share of the budget."""
    persona: Persona = request.persona
    blocks = {label: neutralize(content.strip()) for label, content in contents_of_blocks(request).items()}
    labels = [label for label in Label.values if blocks.get(label)]
    # Shortest first: what one leaves of the budget goes to the longer ones.
    kept_blocks, budget = {}, request.budget
    for number, label in enumerate(sorted(labels, key=lambda label: tokens(blocks[label]))):
        kept_blocks[label] = shorten(blocks[label], budget // (len(labels) - number))
        budget -= tokens(kept_blocks[label])
    parts = [with_heading(persona.language, label, kept_blocks[label]) for label in labels]
    about = {label: blocks[label] for label in labels if label != Label.STYLE}
    return Section("core_blocks", "system", "\n\n".join(parts), material={"blocks": about}) if parts else None


def contents_of_blocks(request: ContextRequest) -> dict[str, str]:
    """The content of each block by its label, read once for a prompt."""
    return request.once("persona.blocks", lambda: {block.label: block.content for block in _blocks(request.persona.pk)})


def mood(request: ContextRequest) -> Section | None:
    """How the persona feels, left out when neutral."""
    persona: Persona = request.persona
    mood = moods.current(persona, request.now)
    if mood is None:
        return None
    text = render_prompt("mood", persona.language, mood=asdict(mood))
    return Section("mood", "system", with_heading(persona.language, "mood", text))


def guardrails(request: ContextRequest) -> Section:
    """The fixed rules: memory is data, nothing invented, honesty about being an AI, care in a crisis."""
    persona: Persona = request.persona
    text = render_prompt("guardrails", persona.language, user_name=persona.user_display_name)
    return Section("guardrails", "system", with_heading(persona.language, "guardrails", text))
