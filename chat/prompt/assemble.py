"""The prompt of a turn, or of a first message: the context sections in order, each within its budget, and its x-ray.

A prompt's tokens are shared by weight, in order: tokens that one section leaves are available to those after it.

The prompt names the addressees of the owner's messages in imported chats between people: "your birthday present",
written to Tom, would be read as addressed to the persona. The persona is not addressed in an imported session in which
other people speak and the persona does not; nor in one in which only the owner speaks, if the whole import is such a
chat: a new session begins after some hours, and nobody may have answered in it.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cache, cached_property
from typing import Any

from django.conf import settings
from django.db import connection
from django.db.models import Q, QuerySet
from django.utils.module_loading import import_string

from chat import knobs
from chat.models import Message, Turn
from echovessel.db.compiled_queries import Query
from echovessel.llm.prompts import ContextRequest, Neutral, Section, one_line
from persona.models import Persona

# After a longer pause a conversation begins anew.
LONGEST_PAUSE = timedelta(days=1)
_asked_name: Query[Any] = Query(lambda persona: Persona.objects.filter(pk=persona).values_list("asked_name"))
_new_messages: Query[Message] = Query(
    lambda turn: Message.objects.filter(turn=turn, role=Message.Role.USER).shown_to_models().select_related("session")
)


@dataclass(frozen=True)
class Prompt:
    """The prompt as texts, the same as plain data, and the sections it is made of."""

    system: str
    user: str
    material: dict[str, Any] = field(default_factory=dict)
    sections: Sequence[Section] = ()

    @cached_property
    def xray(self) -> dict[str, Any]:
        """The x-ray of the prompt. Read it once the reply has begun: it takes milliseconds, and reads the database."""
        accounts = {section.name: dict(account) for section in self.sections if (account := section.account)}
        return accounts | {"tokens": {section.name: section.tokens for section in self.sections}}


def assemble(turn: Turn, now: datetime) -> Prompt:
    """The prompt for the new messages of a turn; for another answer, that of the original turn. Reads only."""
    # "Call me Sam" is stored after the turn has been claimed, and applies to this reply already.
    for (name,) in _asked_name(turn.persona_id):
        turn.persona.asked_name = name
    burst = _new_messages(turn.original_id or turn.pk)
    window = window_before(turn)
    return _compose(
        settings.CHAT_CONTEXT,
        ContextRequest(
            persona=turn.persona,
            turns=[
                *_texts_of_owner(messages_of_this_conversation(window, turn, burst[0].created_at if burst else now)),
                "\n".join(message.content for message in burst),
            ][-knobs.query_lines() :],
            now=now,
            budget=0,
            window=window,
            burst=burst,
        ),
    )


def assemble_first_word(persona: Persona, occasion: Any, brings_to_mind: str, now: datetime) -> Prompt:
    """The prompt for a first message, made of the sections in `settings.PROACTIVE_CONTEXT`. The query for recall is
    `brings_to_mind`; if that is empty, the owner's last messages. Reads only."""
    messages = Message.objects.filter(persona=persona).on_record().shown_to_models()
    window = list(messages.order_by("-created_at", "-id")[: knobs.recent_window_size()])[::-1]
    turns = [brings_to_mind] if brings_to_mind else _texts_of_owner(window)
    return _compose(
        settings.PROACTIVE_CONTEXT,
        ContextRequest(persona=persona, turns=turns, now=now, budget=0, window=window, occasion=occasion),
    )


def messages_of_this_conversation(window: Sequence[Message], turn: Turn, at: datetime) -> list[Message]:
    """Those messages before a turn (oldest first) that belong to the conversation `at` that time: of the same session,
    or written shortly before. A session left open while the server was down is cut at its pause."""
    shortly_before = at - timedelta(minutes=knobs.query_minutes())
    messages_in_window: list[Message] = []
    next_at = at
    for message in reversed(window):
        goes_on = message.session_id == turn.session_id and next_at - message.created_at <= LONGEST_PAUSE
        if goes_on or message.created_at >= shortly_before:
            messages_in_window.append(message)
            next_at = message.created_at
    return messages_in_window[::-1]


def window_before(turn: Turn) -> list[Message]:
    """The last messages of both sides across sessions, oldest first, before this turn."""
    return _newest_before(knobs.recent_window_size())(turn.original_id or turn.pk, turn.session_id, turn.persona_id)[
        ::-1
    ]


@cache
def _newest_before(limit: int) -> Query[Message]:
    def newest(turn: Any, session: Any, persona: Any) -> QuerySet[Message]:
        earlier = Q(turn__lt=turn) | Q(turn=None)
        allowed = Q(session__off_the_record=False) | Q(session=session)
        messages = Message.objects.filter(earlier, allowed, persona=persona).shown_to_models()
        return messages.order_by("-created_at", "-id")[:limit]

    return Query(newest)


def _texts_of_owner(window: Sequence[Message]) -> list[str]:
    return [message.content for message in window if message.role == Message.Role.USER][-knobs.query_lines() :]


def _compose(paths: Sequence[str], request: ContextRequest) -> Prompt:
    # Essential sections are paid for first, so that nothing can crowd them out.
    essential = {path: _make_section(path, request, knobs.prompt_tokens()) for path in paths if path in ESSENTIAL}
    reserved = sum(section.tokens for section in essential.values() if section)
    budget = TokenBudget(knobs.prompt_tokens() - reserved, [path for path in paths if path not in essential])
    sections: list[Section] = []
    for path in paths:
        section = essential[path] if path in essential else _make_section(path, request, budget.share(path))
        if path not in essential:
            budget.consume(path, section.tokens if section else 0)
        if section is not None:
            sections.append(section)
    texts = {
        place: "\n\n".join(section.text for section in sections if section.place == place and section.text)
        for place in ("system", "user")
    }
    return Prompt(
        **texts,
        material={key: value for section in sections for key, value in section.material.items()},
        sections=sections,
    )


def _make_section(path: str, request: ContextRequest, budget: int) -> Section | None:
    section: Section | None = import_string(path)(replace(request, budget=budget))
    return section


# --- the budget ---
# Each section's weight when the remaining tokens are shared. Sections not named here weigh 1. Blocks and recollections
# weigh most: they make this persona different from any other.
WEIGHTS: Mapping[str, float] = {
    "persona.context.core_blocks": 24,
    "memory.context.recollections": 10,
    "chat.context.recent_conversation": 10,
    "persona.context.guardrails": 4,
    "memory.context.about_them": 2,
    "memory.context.lessons": 3,
    "memory.context.always_known": 4,
}
# Sections that the rest exists for: built and paid first, and never cut, wherever they are in the prompt.
ESSENTIAL = ("chat.context.what_they_just_said", "chat.context.crisis", "proactive.context.why_you_write")


class TokenBudget:
    """The remaining tokens, and the sections that have not had their share.

    >>> budget = TokenBudget(100, ["a", "b"])
    >>> budget.share("a")
    50
    >>> budget.consume("a", 10)
    >>> budget.share("b")
    90
    """

    def __init__(self, total: int, sections: Sequence[str]) -> None:
        self.left = max(0, total)
        self.waiting = list(sections)

    def share(self, section: str) -> int:
        weights = {name: WEIGHTS.get(name, 1.0) for name in self.waiting}
        return int(self.left * weights[section] / sum(weights.values()))

    def consume(self, section: str, cost: int) -> None:
        self.waiting.remove(section)
        self.left = max(0, self.left - cost)


# --- addressees of messages in imported chats ---
NAMED_LIMIT = 2
UNKNOWN = "?"  # the speaker of a message whose file does not name one
NOBODY_NAMED = {"en": "somebody else", "zh": "别人"}

# Indexes are named because the planner does not know how few messages are by others, and would read whole sessions.
_SQL = """
WITH wanted AS (SELECT value ->> 0 AS session, value ->> 1 AS import FROM json_each(%s)),
talked AS (SELECT w.session, NOT EXISTS (SELECT 1 FROM chat_message p INDEXED BY message_by_import
        WHERE p.import_uuid = w.import AND p.role = 'persona') AS between_people,
    EXISTS (SELECT 1 FROM chat_message o INDEXED BY message_by_import
        WHERE o.import_uuid = w.import AND o.role = 'system') AS has_others
    FROM wanted w CROSS JOIN chat_session s ON s.id = w.session
    WHERE s.close_reason = 'import' AND s.channel <> 'journal')
SELECT t.session, m.speaker, min(m.id), min(m.withheld), m.id IS NOT NULL OR t.between_people
FROM talked t LEFT JOIN chat_message m INDEXED BY message_speakers ON m.session_id = t.session AND m.speaker > ''
WHERE t.has_others AND (t.between_people OR NOT EXISTS (
    SELECT 1 FROM chat_message p WHERE p.session_id = t.session AND p.role = 'persona'))
GROUP BY t.session, m.speaker ORDER BY t.session, 3
"""


def find_addressees(sessions: Iterable[tuple[int, str]]) -> dict[int, tuple[str, ...]]:
    """The addressees' names by session, in the order in which they first spoke; empty if the names are unknown or
    withheld. Sessions in which the persona may be addressed are left out. `sessions` are pairs of a session's key and
    the hex uuid of the import of its messages. One statement."""
    with connection.cursor() as cursor:
        cursor.execute(_SQL, [json.dumps(sorted(set(sessions)))])
        rows = cursor.fetchall()
    names: dict[int, list[str]] = {}
    for session, speaker, _first, withheld, is_for_others in rows:
        if is_for_others:
            session_names = names.setdefault(session, [])
            if speaker and speaker != UNKNOWN and not withheld:
                session_names.append(speaker)
    return {session: tuple(session_names) for session, session_names in names.items()}


def addressees_of(messages: Iterable[Message]) -> dict[int, tuple[str, ...]]:
    """`find_addressees` for the owner's imported messages among `messages`. No statement if there are none."""
    pairs = {
        (message.session_id, message.import_uuid.hex)
        for message in messages
        if message.import_uuid and message.role == Message.Role.USER
    }
    return find_addressees(pairs) if pairs else {}


def format_addressees(names: Sequence[str], language: str) -> Neutral:
    """The text after the speaker's name in a prompt.

    >>> format_addressees(["Tom", "Eva", "Jo"], "en"), format_addressees(["Tom"], "zh"), format_addressees([], "en")
    (' (to Tom, Eva, …)', '（对Tom说）', ' (to somebody else)')
    """
    shown_names: list[str] = [one_line(name) for name in names[:NAMED_LIMIT]] or [NOBODY_NAMED[language]]
    more = len(names) > NAMED_LIMIT
    if language == "zh":
        return Neutral(f"（对{'、'.join(shown_names)}{'…' if more else ''}说）")
    return Neutral(f" (to {', '.join([*shown_names, *(['…'] if more else [])])})")
