"""How a recollection stands in the prompt: nodes with human dates, lines quoted with their speaker."""

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

# A longer line is cut: what it says can be looked up, the budget cannot.
LONGEST_LINE_TOKENS = 250
NEXT_LINE = "\n  "
_told = lru_cache(maxsize=4_096)(humanize_date)


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

    @property
    def layer(self) -> str:
        return "L3" if self.kind == ConceptNode.Kind.EVENT else "L4"


@dataclass(frozen=True)
class Renderer:
    """Whose memories they are, and when they are told."""

    language: str
    names: dict[str, str]
    now: datetime

    @classmethod
    def of(cls, persona: Persona, now: datetime) -> "Renderer":
        both = {Message.Role.USER.value: persona.called, Message.Role.PERSONA.value: persona.name}
        names: dict[str, str] = {role: one_line(name) for role, name in both.items()}
        return cls(persona.language, names, now.astimezone(persona.zone))

    def node(self, node: RenderedNode) -> str:
        """A node's line; a thought is of no day, and what was promised or expected is told with how it ended."""
        description = one_line(node.description) + self._ended(node)
        if node.kind == ConceptNode.Kind.THOUGHT:
            return f"- {description}"
        day = node.event_day or self._day(node.created_at)
        return f"- {_told(day, self.now.date(), self.language)}{self._colon}{description}"

    def _ended(self, node: RenderedNode) -> str:
        ended = _outcomes(self.language).get(node.kind, {}).get(node.outcome)
        brackets = "（{}）" if self.language == "zh" else " ({})"
        return brackets.format(ended) if ended else ""

    def opening(self, line: RenderedMessage) -> str:
        """The first line of a passage."""
        return self._dated(line, self._said(line))

    def further(self, line: RenderedMessage) -> str:
        """A line of a passage after its first."""
        return f"{NEXT_LINE}{self._said(line)}"

    def passage(self, lines: Sequence[RenderedMessage]) -> str:
        """Lines in the order they were said."""
        return self.opening(lines[0]) + "".join(self.further(line) for line in lines[1:])

    def costs(self, line: RenderedMessage) -> tuple[int, int]:
        """The tokens of a line as the first of a passage, and as a further one."""
        said = self._said(line)
        return tokens(self._dated(line, said)), tokens(f"{NEXT_LINE}{said}")

    def _dated(self, line: RenderedMessage, said: str) -> str:
        comma = "，" if self.language == "zh" else ", "
        return f"- {_told(self._day(line.created_at), self.now.date(), self.language)}{comma}{said}"

    def _day(self, moment: datetime) -> date:
        return moment.replace(tzinfo=UTC).astimezone(self.now.tzinfo).date()

    @property
    def _colon(self) -> str:
        return "：" if self.language == "zh" else ": "

    def _said(self, line: RenderedMessage) -> str:
        words = shorten(one_line(line.content), LONGEST_LINE_TOKENS)
        return f'{self.names.get(line.role, line.role)}{line.to}{self._colon}"{words}"'


@cache
def _outcomes(language: str) -> Mapping[str, Mapping[str, str]]:
    """How what was awaited ended, by its kind and outcome."""
    path = settings.BASE_DIR / "templates" / "prompts" / f"outcomes.{language}.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))


def format_uuid(uuid_hex: str) -> str:
    """A UUID as it is written, from how the database holds it.

    >>> dashed("0123456789abcdef0123456789abcdef")
    '01234567-89ab-cdef-0123-456789abcdef'
    """
    return f"{uuid_hex[:8]}-{uuid_hex[8:12]}-{uuid_hex[12:16]}-{uuid_hex[16:20]}-{uuid_hex[20:]}"
