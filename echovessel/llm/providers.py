"""Which provider answers, which of its models serves which tier, and what this process has learned of each endpoint.

Providers are built like django.core.mail's backends: a dotted path, a base class with one method, small subclasses.

Servers of one protocol differ in what they accept: JSON schemas, a JSON mode, fields of newer versions. We ask for the
best, and step down when the server refuses. The terms of the last stream that opened are remembered per endpoint and
model.

How a model thinks is guessed from its name, then learned from its replies. It decides two things that cannot be seen
from a reply that has only begun: whether text is held back until its reasoning has ended, and how many tokens reasoning
needs besides the reply.
"""

import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol, TypeVar

from django.conf import settings
from django.utils.module_loading import import_string

from echovessel.llm import connection
from echovessel.llm.connection import Connection
from echovessel.llm.request import Request, ResponseSchema, StreamEnd, Thought, Tier
from echovessel.process.threads import in_thread


@dataclass(frozen=True)
class Models:
    """The models of a provider when the settings name none."""

    large: str
    medium: str
    small: str


# Current, not deprecated, and named in the SDKs we pin (anthropic 2.11.0, openai 3.52.0; read 2026-11-21).
ANTHROPIC = Models(large="claude-sonnet-5-5", medium="claude-sonnet-5-5", small="claude-haiku-5-5")
OPENAI = Models(large="gpt-6.1-terra", medium="gpt-6.1-terra", small="gpt-6-luna")
OFFLINE = Models(large="offline", medium="offline", small="offline")
# By the name of the provider, for those who only show them: to import an SDK takes 1 to 2 s of a core (2026-11).
DEFAULTS = {"openai": OPENAI, "anthropic": ANTHROPIC, "offline": OFFLINE}


class Provider:
    """Access to the models at one connection. Subclasses define `name`, `defaults` and `stream`."""

    name: str
    defaults: Models

    def __init__(self, own_connection: Connection | None = None) -> None:
        self.connection = own_connection or connection.of_environment() or Connection(self.name)

    def model(self, tier: Tier) -> str:
        """The model that serves `tier`: the chosen one, else the provider's default."""
        return self.connection.model(tier) or str(getattr(self.defaults, tier))

    def price(self, model: str) -> Mapping[str, float] | None:
        """The price in US dollars per million tokens as {"in", "cached", "out"}, or None if LLM_PRICES has none."""
        return settings.LLM_PRICES.get(model)

    def stream(
        self, request: Request, shape: ResponseSchema | None = None
    ) -> AsyncGenerator[str | Thought | StreamEnd, None]:
        """Yield the reply in pieces and then one `StreamEnd`; with a `shape` the pieces join to JSON of that shape.
        Reasoning that the server separates from the reply is yielded as `Thought`.

        Raises only `LLMError`, whatever the server does. The caller sets the deadline.
        """
        raise NotImplementedError


PROVIDERS = {
    "offline": "echovessel.llm.offline.OfflineProvider",
    "openai": "echovessel.llm.openai_provider.OpenAIProvider",
    "anthropic": "echovessel.llm.anthropic_provider.AnthropicProvider",
}


def provider_name() -> str:
    """ "offline", "openai" or "anthropic" (or a dotted path, where the settings name a provider class)."""
    return connection.current().provider


def provider_of(connection: Connection) -> Provider:
    provider: Provider = import_string(PROVIDERS.get(connection.provider, connection.provider))(connection)
    return provider


def chosen_provider() -> Provider:
    """The provider in force now, created for each call: its connection is its only state."""
    return provider_of(connection.current())


async def achosen_provider() -> Provider:
    """`chosen_provider` for a thread with a running event loop. The database is read only if the environment sets no
    model."""
    environment_connection = connection.of_environment()
    return provider_of(environment_connection) if environment_connection else await in_thread(chosen_provider)


# --- terms that a server accepts ---
Mode = Literal["schema", "json", "text"]
Endpoint = tuple[str, str, str]  # provider, base URL, model
Stream = TypeVar("Stream")

# Statuses by which servers reject an unknown field or mode: 400 and 422 validation, 404 and 415 unknown, 501 not built.
REFUSALS = frozenset({400, 404, 415, 422, 501})

_accepted_terms: dict[Endpoint, "Terms"] = {}


class TermsRefused(Protocol):
    """A status error of either SDK."""

    status_code: int
    message: str


@dataclass(frozen=True)
class Terms:
    """How a request is sent: the mode of structured answers, and the fields to leave out."""

    mode: Mode
    without: frozenset[str] = frozenset()

    def after(self, error: TermsRefused, fields: Sequence[str], modes: Sequence[Mode]) -> "Terms | None":
        """The next lower terms after a refusal, or None if the refusal was not about terms.

        A field that the server names is left out; otherwise the mode goes down one step. `modes` is empty for calls
        that want plain text.
        """
        if error.status_code not in REFUSALS:
            return None
        for field in fields:
            if field not in self.without and re.search(rf"\b{field}\b", error.message):
                return replace(self, without=self.without | {field})
        lower_modes = modes[modes.index(self.mode) + 1 :] if self.mode in modes else ()
        return replace(self, mode=lower_modes[0]) if lower_modes else None


def terms(endpoint: Endpoint) -> Terms:
    """The terms that the endpoint last accepted; the best terms if it is unknown."""
    return _accepted_terms.get(endpoint, Terms("schema"))


async def open_stream(
    endpoint: Endpoint,
    send: Callable[[Terms], Awaitable[Stream]],
    *,
    refusal: type[Exception],
    fields: Sequence[str],
    modes: Sequence[Mode],
) -> Stream:
    """Return the first stream that opens, starting from the remembered terms; raise the last refusal if none does."""
    current = terms(endpoint)
    while True:
        try:
            stream = await send(current)
        except refusal as error:
            lower_terms = current.after(error, fields, modes)  # type: ignore[arg-type]
            if lower_terms is None:
                raise
            current = lower_terms
        else:
            _accepted_terms[endpoint] = current
            return stream


# --- how a model thinks ---
# Families of models that think before they answer, as servers and files name them.
_THINKERS = re.compile(
    r"(?:^|[^a-z])(?:r1|qwq|qwen-?3|magistral|gpt-oss|glm-?(?:4\.[5-9]|[5-9]|z1)|minimax-?m|nemotron|seed-oss|smollm3"
    r"|deepseek-(?:r|v3\.[1-9]|v[4-9])|phi-?4.*reasoning|exaone|cogito|hunyuan|step-?3|kimi-k2|gemma-?4)"
    r"|think|reason",
    re.IGNORECASE,
)
_PLAIN = re.compile(r"instruct|non-?(?:think|reason)|no-?think|-chat\b", re.IGNORECASE)

_thinks: dict[Endpoint, bool] = {}
_opens_in_prompt: dict[Endpoint, bool] = {}


def endpoint_of(provider: Provider, tier: Tier) -> Endpoint:
    """The endpoint that serves this tier."""
    return provider.name, provider.connection.base_url, provider.model(tier)


def thinks(endpoint: Endpoint) -> bool:
    """Whether its replies need room for reasoning. A model that thought once may do so again."""
    return _thinks.get(endpoint) or _sounds_thoughtful(endpoint)


def opens_in_prompt(endpoint: Endpoint) -> bool:
    """Whether its reasoning may begin without an opening mark. The last reply decides, else the model's name."""
    return _opens_in_prompt.get(endpoint, _sounds_thoughtful(endpoint))


def learn_habits(endpoint: Endpoint, *, thought: bool, was_unopened: bool) -> None:
    """Learn from one whole reply."""
    if thought:
        _thinks[endpoint] = True
    _opens_in_prompt[endpoint] = was_unopened


def forget_endpoints() -> None:
    """Forget all that was learned (for tests)."""
    _accepted_terms.clear()
    _thinks.clear()
    _opens_in_prompt.clear()


def _sounds_thoughtful(endpoint: Endpoint) -> bool:
    model = endpoint[2]
    return bool(_THINKERS.search(model)) and not _PLAIN.search(model)
