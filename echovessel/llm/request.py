"""What goes to a model and what comes back, as plain data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, Protocol, TypeVar
from uuid import UUID

Tier = Literal["large", "medium", "small"]
Value = TypeVar("Value")


@dataclass(frozen=True)
class Request:
    """One prompt, who pays for it and what it is about.

    `max_characters` ends a streamed reply that has more of them; 0 for none. `material` is the content of the prompt as
    data, for the provider that has no model to read prose (`echovessel.llm.offline` lists the shapes by purpose).
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
    """Tokens of one call. `tokens_in` counts the whole prompt, `tokens_cached` its part read from a cache."""

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
    """What came back of one call, unread. `whole`: the model ended by itself, not by the token limit.

    Plain data: `Reply(text, whole, Usage(**stored))` is what `dataclasses.asdict(reply.usage)` stored.
    """

    text: str
    whole: bool
    usage: Usage


@dataclass(frozen=True)
class Answer(Generic[Value]):
    """A structured answer: the validated value, the model's own words, and the tokens of all its attempts."""

    value: Value
    raw: str
    usage: Usage


@dataclass(frozen=True)
class ResponseSchema:
    """The form a structured answer must take: a name for the wire and a JSON schema (see `schema_of`)."""

    name: str
    schema: Mapping[str, Any]


@dataclass(frozen=True)
class Thought:
    """Reasoning that the server told apart from the reply; empty where it only says that there is some."""

    text: str = ""


@dataclass(frozen=True)
class Thinking:
    """The model thinks: nothing can be shown yet."""


@dataclass(frozen=True)
class CutOff:
    """The reply ends here because of a limit; the last thing of a stream."""


@dataclass(frozen=True)
class Finished:
    """The model said why it ended: the last thing a provider yields. A stream without it was cut.

    `usage` is None where the server does not count.
    """

    reason: Literal["stop", "length", "refusal"]
    usage: Usage | None = None


class ReplyStore(Protocol):
    """The replies to one structured question, stored where a repeat of it looks: it never pays for them again."""

    def load(self) -> Sequence[Reply]:
        """The replies so far, in order: they are used as they are, without asking."""
        ...

    def save(self, number: int, reply: Reply) -> None:
        """Store the `number`-th reply (from 0). Called inside the transaction that enters the call in the ledger."""
        ...
