"""The prompt of a turn: the context sections in order, each within its budget, and the account of it (x-ray)."""

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db.models import Q
from django.utils.module_loading import import_string

from chat import knobs
from chat.budget import Purse
from chat.models import Message, Turn
from echovessel.context import ContextRequest, Section

BURST = "chat.context.what_they_just_said"


@dataclass(frozen=True)
class Prompt:
    """What is said to the model, the same as plain data, and the account of how it came about."""

    system: str
    user: str
    material: dict[str, Any] = field(default_factory=dict)
    xray: dict[str, Any] = field(default_factory=dict)


def assemble(turn: Turn, now: datetime) -> Prompt:
    """The prompt for a turn's burst. Reads only."""
    burst = list(turn.messages.filter(role=Message.Role.USER).shown_to_models())
    window = window_before(turn)
    sections = _sections(
        ContextRequest(persona=turn.persona, turns=_turns(window, burst), now=now, budget=0, window=window, burst=burst)
    )
    return Prompt(
        system=_joined(sections, "system"),
        user=_joined(sections, "user"),
        material={key: value for section in sections for key, value in section.material.items()},
        xray={section.name: dict(section.xray) for section in sections if section.xray}
        | {"tokens": {section.name: section.tokens for section in sections}},
    )


def window_before(turn: Turn) -> list[Message]:
    """The last lines of both sides across sessions, oldest first, without this turn's own and later ones."""
    earlier = Q(turn__lt=turn.pk) | Q(turn=None)
    allowed = Q(session__off_the_record=False) | Q(session=turn.session_id)
    found = Message.objects.filter(earlier, allowed, persona=turn.persona_id).shown_to_models()
    newest = found.order_by("-created_at", "-id")[: knobs.recent_window_size()]
    return list(newest)[::-1]


def _turns(window: list[Message], burst: list[Message]) -> list[str]:
    before = [line.content for line in window if line.role == Message.Role.USER]
    return [*before, "\n".join(line.content for line in burst)][-knobs.query_lines() :]


def _sections(request: ContextRequest) -> list[Section]:
    """The sections in order; the burst is paid for first, so that nothing can crowd it out."""
    paths = settings.CHAT_CONTEXT
    reserved = sum(line.token_count for line in request.burst) + 16
    purse = Purse(knobs.prompt_tokens() - reserved, [path for path in paths if path != BURST])
    made: list[Section] = []
    for path in paths:
        share = reserved if path == BURST else purse.share(path)
        section = import_string(path)(replace(request, budget=share))
        if path != BURST:
            purse.spend(path, section.tokens if section else 0)
        if section is not None:
            made.append(section)
    return made


def _joined(sections: list[Section], place: str) -> str:
    return "\n\n".join(section.text for section in sections if section.place == place and section.text)
