"""What a server has refused, so that it is asked for it only once.

Servers that speak one protocol differ in what they take: JSON schemas, a JSON mode, fields of newer
versions. We ask for the best, and step down when the server says no. Steps that led to an open stream are
remembered per endpoint and model, in this process.
"""

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol, TypeVar

Mode = Literal["schema", "json", "text"]
Endpoint = tuple[str, str, str]  # provider, base URL, model
Opened = TypeVar("Opened")

# How servers say "I do not know that": 400 and 422 validation, 404 and 415 unknown, 501 not built.
REFUSALS = frozenset({400, 404, 415, 422, 501})

_agreed: dict[Endpoint, "Terms"] = {}


class TermsRefused(Protocol):
    """A status error of either SDK."""

    status_code: int
    message: str


@dataclass(frozen=True)
class Terms:
    """How to ask: the mode of structured answers, and the request fields to leave out."""

    mode: Mode
    without: frozenset[str] = frozenset()

    def after(self, error: TermsRefused, fields: Sequence[str], modes: Sequence[Mode]) -> "Terms | None":
        """The next poorer terms after a refusal, or None when it was not about terms.

        A field that the server names is left out; else the mode goes down one step. `modes` is empty for
        calls that want plain text.
        """
        if error.status_code not in REFUSALS:
            return None
        for field in fields:
            if field not in self.without and re.search(rf"\b{field}\b", error.message):
                return replace(self, without=self.without | {field})
        poorer = modes[modes.index(self.mode) + 1 :] if self.mode in modes else ()
        return replace(self, mode=poorer[0]) if poorer else None


def terms(endpoint: Endpoint) -> Terms:
    """What the endpoint is known to take; the best, if nothing is known."""
    return _agreed.get(endpoint, Terms("schema"))


async def open_stream(
    endpoint: Endpoint,
    send: Callable[[Terms], Awaitable[Opened]],
    *,
    refusal: type[Exception],
    fields: Sequence[str],
    modes: Sequence[Mode],
) -> Opened:
    """The first stream that opens, from the remembered terms downwards; the last refusal, if none does."""
    current = terms(endpoint)
    while True:
        try:
            stream = await send(current)
        except refusal as error:
            poorer = current.after(error, fields, modes)  # type: ignore[arg-type]
            if poorer is None:
                raise
            current = poorer
        else:
            _agreed[endpoint] = current
            return stream


def forget() -> None:
    """Forgets all that was learned (for tests)."""
    _agreed.clear()
