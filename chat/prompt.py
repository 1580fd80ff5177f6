"""The prompt of a turn: the context sections in order, each within its budget, and the account of it (x-ray)."""

from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache
from typing import Any

from django.conf import settings
from django.db.models import Q, QuerySet
from django.utils.module_loading import import_string

from chat import knobs
from chat.budget import Purse
from chat.models import Message, Turn
from echovessel.context import ContextRequest, Section
from echovessel.prepared import Query

BURST = "chat.context.what_they_just_said"

_burst: Query[Message] = Query(lambda turn: Message.objects.filter(turn=turn, role=Message.Role.USER).shown_to_models())


@dataclass(frozen=True)
class Prompt:
    """What is said to the model, the same as plain data, and the account of how it came about."""

    system: str
    user: str
    material: dict[str, Any] = field(default_factory=dict)
    xray: dict[str, Any] = field(default_factory=dict)


def assemble(turn: Turn, now: datetime) -> Prompt:
    """The prompt for a turn's burst. Reads only."""
    burst = _burst(turn.pk)
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
    return _newest_before(knobs.recent_window_size())(turn.pk, turn.session_id, turn.persona_id)[::-1]


@cache
def _newest_before(most: int) -> Query[Message]:
    def newest(turn: Any, session: Any, persona: Any) -> QuerySet[Message]:
        earlier = Q(turn__lt=turn) | Q(turn=None)
        allowed = Q(session__off_the_record=False) | Q(session=session)
        found = Message.objects.filter(earlier, allowed, persona=persona).shown_to_models()
        return found.order_by("-created_at", "-id")[:most]

    return Query(newest)


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
