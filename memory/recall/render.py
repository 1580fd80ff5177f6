"""Recollections as the prompt shows them: nodes with human dates, messages quoted with their speaker."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import cache, lru_cache
from typing import NamedTuple

from django.conf import settings

from chat.models import Message
from echovessel.language.human_dates import humanize_date
from echovessel.llm.prompt_sections import shorten, tokens
from echovessel.llm.prompt_text import one_line
from memory.models import ConceptNode
from persona.models import Persona

# A longer message is cut: its words can be looked up, the budget is fixed.
MAX_MESSAGE_TOKENS = 250
NEXT_LINE = "\n  "
_humanized = lru_cache(maxsize=4_096)(humanize_date)


class RenderedMessage(NamedTuple):
    """A message as recall shows it; `created_at` in UTC, naive. `to` follows the speaker's name where the owner
    spoke to others than the persona."""

    id: int
    uuid_hex: str
    external_id: str | None
    role: str
    content: str
    created_at: datetime
    session_id: int
    import_hex: str | None
    to: str = ""
    is_unsure: bool = False


class RenderedNode(NamedTuple):
    """A node as recall shows it; `created_at` in UTC, naive."""

    id: int
    uuid_hex: str
    external_id: str | None
    kind: str
    description: str
    event_day: date | None
    created_at: datetime
    outcome: str
    is_unsure: bool = False

    @property
    def layer(self) -> str:
        return "L3" if self.kind == ConceptNode.Kind.EVENT else "L4"


@dataclass(frozen=True)
class Renderer:
    """The language and names of a persona, and the moment from which dates are read."""

    language: str
    names: dict[str, str]
    now: datetime

    @classmethod
    def of(cls, persona: Persona, now: datetime) -> "Renderer":
        both = {Message.Role.USER.value: persona.called, Message.Role.PERSONA.value: persona.name}
        names: dict[str, str] = {role: one_line(name) for role, name in both.items()}
        return cls(persona.language, names, now.astimezone(persona.zone))

    def node(self, node: RenderedNode) -> str:
        """A node's line; a thought has no day, and a promise or expectation ends with its outcome."""
        description: str = one_line(node.description)
        if outcome := _words(self.language).get(node.kind, {}).get(node.outcome):
            description += f"（{outcome}）" if self.language == "zh" else f" ({outcome})"
        if node.is_unsure:
            description += not_sure(self.language)
        if node.kind == ConceptNode.Kind.THOUGHT:
            return f"- {description}"
        day = node.event_day or self._day(node.created_at)
        return f"- {_humanized(day, self.now.date(), self.language)}{self._colon}{description}"

    def passage(self, messages: Sequence[RenderedMessage]) -> str:
        """Messages in the order they were written; the first one bears the day."""
        quotes = [self._quote(message) for message in messages]
        return NEXT_LINE.join([self._dated(messages[0], quotes[0]), *quotes[1:]])

    def costs(self, message: RenderedMessage) -> tuple[int, int]:
        """The tokens of a message as the first of a passage, and as a further one."""
        quote = self._quote(message)
        return tokens(self._dated(message, quote)), tokens(f"{NEXT_LINE}{quote}")

    def _dated(self, message: RenderedMessage, quote: str) -> str:
        comma = "，" if self.language == "zh" else ", "
        return f"- {_humanized(self._day(message.created_at), self.now.date(), self.language)}{comma}{quote}"

    def _day(self, moment: datetime) -> date:
        return moment.replace(tzinfo=UTC).astimezone(self.now.tzinfo).date()

    @property
    def _colon(self) -> str:
        return "：" if self.language == "zh" else ": "

    def _quote(self, message: RenderedMessage) -> str:
        words = shorten(one_line(message.content), MAX_MESSAGE_TOKENS)
        doubt = not_sure(self.language) if message.is_unsure else ""
        return f'{self.names.get(message.role, message.role)}{message.to}{self._colon}"{words}"{doubt}'


def not_sure(language: str) -> str:
    """What follows the words of a memory that is unsure, and of a message that it rests on."""
    doubt = _words(language)["doubt"]["unsure"]
    return f"（{doubt}）" if language == "zh" else f" ({doubt})"


@cache
def _words(language: str) -> Mapping[str, Mapping[str, str]]:
    """The words for the outcomes of promises and expectations, by kind and outcome, and for doubt."""
    path = settings.BASE_DIR / "templates" / "prompts" / f"outcomes.{language}.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))


def format_uuid(uuid_hex: str) -> str:
    """A UUID as it is written, from its form in the database.

    >>> format_uuid("0123456789abcdef0123456789abcdef")
    '01234567-89ab-cdef-0123-456789abcdef'
    """
    return f"{uuid_hex[:8]}-{uuid_hex[8:12]}-{uuid_hex[12:16]}-{uuid_hex[16:20]}-{uuid_hex[20:]}"
