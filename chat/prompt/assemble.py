"""The prompt of a turn, or of a first word: the context sections in order, each within its budget, and the account of
it (x-ray)."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cache
from typing import Any

from django.conf import settings
from django.db.models import Q, QuerySet
from django.utils.module_loading import import_string

from chat import knobs
from chat.models import Message, Turn
from chat.prompt.budget import ESSENTIAL, TokenBudget
from echovessel.db.compiled_queries import Query
from echovessel.llm.prompts import ContextRequest, Section
from persona.models import Persona

# Nobody goes on with a conversation after this without beginning anew.
LONGEST_PAUSE = timedelta(days=1)
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
    return _composed(
        settings.CHAT_CONTEXT,
        ContextRequest(
            persona=turn.persona,
            turns=[
                *_by_user(messages_of_this_conversation(window, turn, burst[0].created_at if burst else now)),
                "\n".join(line.content for line in burst),
            ][-knobs.query_lines() :],
            now=now,
            budget=0,
            window=window,
            burst=burst,
        ),
    )


def assemble_first_word(persona: Persona, occasion: Any, brings_to_mind: str, now: datetime) -> Prompt:
    """The prompt for a word of hers that answers nothing: the sections of `settings.PROACTIVE_CONTEXT`. Recall is asked
    with what the occasion brings to mind; where that is nothing, with what was talked about last. Reads only."""
    window = _newest_on_record(knobs.recent_window_size())(persona.pk)[::-1]
    turns = [brings_to_mind] if brings_to_mind else _by_user(window)
    return _composed(
        settings.PROACTIVE_CONTEXT,
        ContextRequest(persona=persona, turns=turns, now=now, budget=0, window=window, occasion=occasion),
    )


def messages_of_this_conversation(window: Sequence[Message], turn: Turn, at: datetime) -> list[Message]:
    """Of the messages before a turn (oldest first) those that belong with what was said `at`: of the same session, or
    written shortly before. A session that was left open while the server was down ends at its pause."""
    shortly_before = at - timedelta(minutes=knobs.query_minutes())
    kept: list[Message] = []
    next_at = at
    for message in reversed(window):
        goes_on = message.session_id == turn.session_id and next_at - message.created_at <= LONGEST_PAUSE
        if goes_on or message.created_at >= shortly_before:
            kept.append(message)
            next_at = message.created_at
    return kept[::-1]


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


@cache
def _newest_on_record(most: int) -> Query[Message]:
    def newest(persona: Any) -> QuerySet[Message]:
        found = Message.objects.filter(persona=persona).on_record().shown_to_models()
        return found.order_by("-created_at", "-id")[:most]

    return Query(newest)


def _by_user(window: Sequence[Message]) -> list[str]:
    return [line.content for line in window if line.role == Message.Role.USER][-knobs.query_lines() :]


def _composed(paths: Sequence[str], request: ContextRequest) -> Prompt:
    # The sections in order; the essential ones are paid for first, so that nothing can crowd them out.
    essential = {path: _made(path, request, knobs.prompt_tokens()) for path in paths if path in ESSENTIAL}
    reserved = sum(section.tokens for section in essential.values() if section)
    purse = TokenBudget(knobs.prompt_tokens() - reserved, [path for path in paths if path not in essential])
    made = [essential[path] if path in essential else _bought(path, request, purse) for path in paths]
    sections = [section for section in made if section is not None]
    return Prompt(
        system=_joined(sections, "system"),
        user=_joined(sections, "user"),
        material={key: value for section in sections for key, value in section.material.items()},
        xray={section.name: dict(section.xray) for section in sections if section.xray}
        | {"tokens": {section.name: section.tokens for section in sections}},
    )


def _bought(path: str, request: ContextRequest, purse: TokenBudget) -> Section | None:
    section = _made(path, request, purse.share(path))
    purse.spend(path, section.tokens if section else 0)
    return section


def _made(path: str, request: ContextRequest, budget: int) -> Section | None:
    section: Section | None = import_string(path)(replace(request, budget=budget))
    return section


def _joined(sections: list[Section], place: str) -> str:
    return "\n\n".join(section.text for section in sections if section.place == place and section.text)
