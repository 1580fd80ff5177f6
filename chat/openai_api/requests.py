"""Parse a request for a completion, as far as it can be honoured.

Ignored: system and developer messages (people write core blocks, programs do not), the history up to the last assistant
message (the persona has its own), sampling parameters and limits, and unknown fields. Refused: whatever would be
answered wrongly if it were ignored (several choices, a forced tool, a format, pictures and sound).
"""

import json
from dataclasses import dataclass, replace
from typing import Any, Literal

from pydantic import BaseModel, Field, ValidationError

from chat.models.message import MAX_CHARACTERS
from chat.openai_api import errands
from chat.openai_api.errors import CompletionRefused, not_talk
from echovessel.language.plain_text import storable, without_nul

MAX_LINES = 20


class Part(BaseModel):
    type: str
    text: str | None = None


class RequestMessage(BaseModel):
    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[Part] | None = None

    def text(self) -> str:
        parts = self.content if isinstance(self.content, list) else [Part(type="text", text=self.content or "")]
        return "\n".join(part.text or "" for part in parts if part.type == "text")

    def other_parts(self) -> list[str]:
        return [part.type for part in self.content if part.type != "text"] if isinstance(self.content, list) else []


class StreamOptions(BaseModel):
    include_usage: bool | None = None


class Body(BaseModel):
    model: str = Field(min_length=1, max_length=300)
    messages: list[RequestMessage] = Field(min_length=1)
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    n: int | None = None
    tool_choice: Any = None
    function_call: Any = None
    response_format: dict[str, Any] | None = None
    logprobs: bool | None = None
    modalities: list[str] | None = None


@dataclass(frozen=True)
class CompletionRequest:
    """A request for a reply: the new messages, and the client's last assistant text. `errand` is the whole text of a
    request that no person made, or ""."""

    model: str
    lines: tuple[str, ...]
    last_reply: str
    stream: bool
    include_usage: bool
    errand: str = ""
    is_alone: bool = False  # one message of the user, and nothing beside it

    def as_errand(self) -> "CompletionRequest":
        return replace(self, errand=self.errand or "\n\n".join(self.lines))


def parse_request(body: bytes) -> CompletionRequest:
    """Parse `body`. Raises CompletionRefused."""
    parsed = _parse_body(body)
    _refuse_unsupported(parsed)
    last = max((at for at, message in enumerate(parsed.messages) if message.role == "assistant"), default=-1)
    # All texts of a client that asks in its own name and not for a person.
    users = [message.text() for message in parsed.messages if message.role == "user"]
    by_system = any(errands.is_errand_system_prompt(m.text()) for m in parsed.messages if m.role == "system")
    is_errand = by_system or (users and all(map(errands.is_errand_prompt, users)))
    errand = "\n\n".join(message.text() for message in parsed.messages) if is_errand else ""
    texts = _new_lines(parsed.messages[last + 1 :])
    if not errand:
        if not texts:
            raise CompletionRefused(
                400, "nothing_new", "Nothing was said since the assistant's last message.", param="messages"
            )
        if len(texts) > MAX_LINES:
            message = f"At most {MAX_LINES} messages may follow the assistant's last; these are {len(texts)}."
            raise CompletionRefused(400, "too_many_lines", message, param="messages")
        if (longest := max(map(len, texts))) > MAX_CHARACTERS:
            message = f"A message has at most {MAX_CHARACTERS:,} characters; one has {longest:,}."
            raise CompletionRefused(400, "string_above_max_length", message, param="messages")
        if any(map(errands.is_errand_prompt, texts)):
            raise not_talk()
        if any(map(errands.has_documents, texts)):
            message = (
                "This message wraps documents or search results around what was said, and a persona is told words only."
                " Send it without files, knowledge and web search."
            )
            raise CompletionRefused(400, "unsupported_content", message, param="messages")
    return CompletionRequest(
        model=parsed.model,
        lines=texts,
        last_reply=parsed.messages[last].text() if last >= 0 else "",
        stream=bool(parsed.stream),
        include_usage=bool(parsed.stream_options and parsed.stream_options.include_usage),
        errand=errand,
        is_alone=len(parsed.messages) == 1,
    )


def _parse_body(body: bytes) -> Body:
    try:
        text = json.dumps(json.loads(body), ensure_ascii=False)
        return Body.model_validate(without_nul(json.loads(storable(text))))
    except ValidationError as error:
        # The place of the first fault in the client's terms, without the alternatives that pydantic tried there.
        error_path = [str(part) for part in error.errors()[0]["loc"]]
        where = ".".join(part for part in error_path if part != "str" and not part.startswith("list["))
        raise CompletionRefused(
            400, "invalid_type", f"Missing or wrong in this request: {where}.", param=where
        ) from error
    except (ValueError, RecursionError) as error:
        raise CompletionRefused(400, "invalid_json", "The body of this request is not JSON.") from error


def _refuse_unsupported(body: Body) -> None:
    refused = {
        "n": body.n not in (None, 1),
        "tool_choice": body.tool_choice not in (None, "none", "auto"),
        "function_call": body.function_call not in (None, "none", "auto"),
        "response_format": (body.response_format or {}).get("type", "text") != "text",
        "logprobs": bool(body.logprobs),
        "modalities": "audio" in (body.modalities or ()),
    }
    for name, is_refused in refused.items():
        if is_refused:
            raise CompletionRefused(
                400, "unsupported_value", f"A persona cannot honour this value of {name}.", param=name
            )


def _new_lines(messages: list[RequestMessage]) -> tuple[str, ...]:
    """The user messages after the last assistant message."""
    if any(message.role in ("tool", "function") for message in messages):
        raise CompletionRefused(400, "unsupported_value", "A persona uses no tools.", param="messages")
    new = [message for message in messages if message.role == "user"]
    if other := [part for message in new for part in message.other_parts()]:
        message = f"A persona can be told words only; this message holds {', '.join(sorted(set(other)))}."
        raise CompletionRefused(400, "unsupported_content", message, param="messages")
    return tuple(message.text() for message in new if message.text())
