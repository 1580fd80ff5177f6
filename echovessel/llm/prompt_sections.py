"""What a prompt is made of: each section is asked with plain things and answers with text, cost and x-ray.

Sections are listed by dotted path in `settings.CHAT_CONTEXT`, as Django lists context processors, so that chat
can be told what memory knows without importing it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, TypeVar, cast

Found = TypeVar("Found")


@dataclass(frozen=True)
class ContextRequest:
    """What a section may know: who speaks, the user's recent lines (oldest first, the last one current),
    the time, the tokens it may spend, the lines the prompt shows anyway, and what other sections have found out.

    Where nobody has said anything and she speaks first there is no burst, but an `occasion`."""

    persona: Any
    turns: Sequence[str]
    now: datetime
    budget: int
    window: Sequence[Any] = ()
    burst: Sequence[Any] = ()
    occasion: Any = None
    known: dict[str, Any] = field(default_factory=dict)

    def once(self, name: str, find: Callable[[], Found]) -> Found:
        """What `find` returns, found once for a prompt, however many sections ask."""
        if name not in self.known:
            self.known[name] = find()
        return cast(Found, self.known[name])


@dataclass(frozen=True)
class Section:
    """One part of a prompt."""

    name: str
    place: Literal["system", "user"]
    text: str
    xray: Mapping[str, Any] = field(default_factory=dict)
    material: Mapping[str, Any] = field(default_factory=dict)

    @property
    def tokens(self) -> int:
        return tokens(self.text)


def tokens(text: str) -> int:
    """The estimated cost of `text`: a quarter of its UTF-8 bytes, rounded up (design/recall.md)."""
    return -(-len(text.encode()) // 4)


def shorten(text: str, budget: int) -> str:
    """`text`, cut at its end to at most `budget` tokens and marked with an ellipsis where it was cut."""
    if tokens(text) <= budget:
        return text
    kept = text.encode()[: max(0, budget * 4 - 3)].decode(errors="ignore")
    return kept.rstrip() + "…"
