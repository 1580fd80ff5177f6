"""Requests to models and their replies, as plain data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, Protocol, TypeVar
from uuid import UUID

Tier = Literal["large", "medium", "small"]
Value = TypeVar("Value")


@dataclass(frozen=True)
class Request:
    """One prompt, who pays for it and what it is about.

    `max_characters` limits the length of a streamed reply; 0 is the general limit. `material` is the content of the
    prompt as data for the offline provider, which cannot read prose (`echovessel.llm.offline` lists the shapes by
    purpose).
    """

    system: str
    user: str
    tier: Tier
    purpose: str
    max_tokens: int
    max_characters: int = 0
    material: Mapping[str, Any] = field(default_factory=dict)
    owner_id: int | None = None
    persona_uuid: UUID | None = None
    session_uuid: UUID | None = None
    turn_uuid: UUID | None = None


@dataclass(frozen=True)
class Usage:
    """Tokens of one call. `tokens_in` counts the whole prompt, `tokens_cached` its part that was read from a cache."""

    tokens_in: int = 0
    tokens_cached: int = 0
    tokens_out: int = 0
    estimated: bool = False

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.tokens_in + other.tokens_in,
            self.tokens_cached + other.tokens_cached,
            self.tokens_out + other.tokens_out,
            self.estimated or other.estimated,
        )


@dataclass(frozen=True)
class Reply:
    """The reply of one call, not yet parsed. `whole`: the model ended by itself, not by the token limit.

    Plain data: `Reply(text, whole, Usage(**stored))` restores what `dataclasses.asdict(reply.usage)` stored.
    """

    text: str
    whole: bool
    usage: Usage


@dataclass(frozen=True)
class Answer(Generic[Value]):
    """A structured answer: the validated value, the model's raw text, and the tokens of all attempts."""

    value: Value
    raw: str
    usage: Usage


@dataclass(frozen=True)
class ResponseSchema:
    """The schema of a structured answer: a name for the provider and a JSON schema (see `schema_of`)."""

    name: str
    schema: Mapping[str, Any]


@dataclass(frozen=True)
class Thought:
    """Reasoning that the server separated from the reply; empty if the server only reports that there is some."""

    text: str = ""


@dataclass(frozen=True)
class Thinking:
    """The model is thinking: nothing can be shown yet."""


@dataclass(frozen=True)
class CutOff:
    """A limit ended the reply; the last item of a stream."""


@dataclass(frozen=True)
class StreamEnd:
    """The model's reason for ending: the last item a provider yields. A stream without it was cut off.

    `usage` is None if the server does not count tokens.
    """

    reason: Literal["stop", "length", "refusal"]
    usage: Usage | None = None


class ReplyStore(Protocol):
    """Stored replies to one structured question, so that a retry does not pay for them again."""

    def load(self) -> Sequence[Reply]:
        """The replies so far, in order; they are used in place of calls."""
        ...

    def save(self, number: int, reply: Reply) -> None:
        """Store reply `number` (from 0). Called in the transaction that adds the call to the ledger."""
        ...
