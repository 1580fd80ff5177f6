"""The prompts of consolidation: templates by language, with the text of people inside marked blocks."""

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from echovessel import llm
from echovessel.llm.prompts import Neutral, indent_text, lines_of, one_line, render_prompt
from echovessel.llm.request import Tier
from memory.consolidation.messages import PromptMessage
from memory.models import ConceptNode
from persona.models import Persona

MAX_NAMED = 8
_DATELESS = "????-??-??"


def render(name: str, persona: Persona, **values: Any) -> Neutral:
    """The prompt `templates/prompts/<name>.<language>.txt`."""
    return render_prompt(
        name, persona.language, persona_name=persona.name, user_name=persona.user_display_name, **values
    )


def request(
    persona: Persona,
    purpose: str,
    *,
    template: str = "",
    tier: Tier,
    max_tokens: int,
    session_uuid: UUID | None = None,
    values: dict[str, Any],
    material: dict[str, Any],
) -> llm.Request:
    """A request with this purpose. The template (by default named like the purpose) is its system prompt,
    `<template>_input` its user prompt."""
    template = template or purpose
    return llm.Request(
        system=render(template, persona),
        user=render(f"{template}_input", persona, **values),
        tier=tier,
        purpose=purpose,
        max_tokens=max_tokens,
        material={"language": persona.language, "persona_name": persona.name, "user_name": persona.user_display_name}
        | material,
        owner_id=persona.owner_id,
        persona_uuid=persona.uuid,
        session_uuid=session_uuid,
    )


def format_messages(persona: Persona, messages: Sequence[PromptMessage], *, dated: bool = True) -> Neutral:
    """The messages as "[m12] 2026-01-03 Sat 21:04 Ana: …". Further lines of a message are indented, so that none can
    look like another message. Messages of others have no id to be cited by: "[-] …"."""
    formatted = []
    for message in messages:
        key = "-" if message.by_another else f"m{message.id}"
        moment = f"{message.at.astimezone(persona.zone):%Y-%m-%d %a %H:%M}" if dated else _DATELESS
        speaker = message.speaker or (persona.user_display_name if message.by_user else persona.name)
        to = f" → {', '.join(message.to[:MAX_NAMED])}" if message.to else ""
        formatted.append(Neutral(f"[{key}] {moment} {one_line(speaker + to)}: {indent_text(message.content)}"))
    return lines_of(formatted)


def format_memories(persona: Persona, nodes: Iterable[ConceptNode]) -> Neutral:
    """The nodes as "[e7] 2026-01-03 (impact -4) …" with the day they are about, else the day they were written; facts
    as "[e8] (plans, planned, since 2027-spring) …"; open items with the day on which they are due."""
    text_lines = []
    for node in nodes:
        if node.kind == ConceptNode.Kind.FACT:
            times = [f"{word} {code}" for word, code in (("since", node.since), ("until", node.until)) if code]
            mark = f"({', '.join(filter(None, [node.domain, node.plan_state, *times]))})"
        elif node.kind in (ConceptNode.Kind.INTENTION, ConceptNode.Kind.EXPECTATION):
            due = f", due {node.event_time_end:%Y-%m-%d}" if node.event_time_end else ""
            mark = f"(open {node.kind}{due})"
        else:
            mark = f"{node.event_time_start or node.created_at.astimezone(persona.zone):%Y-%m-%d}"
            if node.event_time_start and node.event_time_start != node.event_time_end:
                mark = f"{mark} … {node.event_time_end:%Y-%m-%d}"
            mark = f"{mark} (impact {node.emotional_impact})"
        text_lines.append(Neutral(f"[e{node.pk}] {mark} {one_line(node.description)}"))
    return lines_of(text_lines)


def node_id(reference: str) -> int | None:
    """The key in "e7"."""
    return _key(reference, "e")


def message_id(reference: str) -> int | None:
    """The key in "m12"."""
    return _key(reference, "m")


def question_id(reference: str) -> int | None:
    """The key in "q3"."""
    return _key(reference, "q")


def thread_id(reference: str) -> int | None:
    """The key in "t3"."""
    return _key(reference, "t")


def _key(reference: str, letter: str) -> int | None:
    plain = reference.strip().strip("[]").lower().removeprefix(letter)
    return int(plain) if plain.isascii() and plain.isdecimal() and len(plain) < 19 else None
