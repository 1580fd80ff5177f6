"""Chat completions as OpenAI, Ollama, llama.cpp and vLLM stream them."""

from collections.abc import Iterator
from typing import Any

from tests.wire.scripted_server import Body, Says, ScriptedServer, sse

REASONS = {"refusal": "content_filter", "refusal field": "stop"}


class OpenAIServer(ScriptedServer):
    """Answers `/v1/chat/completions`."""

    path = "/v1"

    def events(self, reply: Says, body: Body) -> Iterator[bytes]:
        """The pieces, then what the ending asks for."""
        yield self._chunk(body, {"role": "assistant", "content": ""})
        if reply.thoughts:
            yield self._chunk(
                body, self._thoughts(reply) | ({} if reply.thoughts_field == "parts" else {"content": ""})
            )
        for part in reply.parts():
            yield self._chunk(body, {"refusal" if reply.reason == "refusal field" else "content": part})
        if reply.ending == "garbage":
            yield b"data: {this is not json\n\n"
        if reply.ending == "error":
            yield sse(self.failure("scripted trouble", reply.error))
        if reply.ending == "whole":
            yield self._chunk(body, {}, REASONS.get(reply.reason, reply.reason))
            yield from self._count(reply, body)
            yield b"data: [DONE]\n\n"

    def failure(self, message: str, kind: str) -> Body:
        """As OpenAI words an error."""
        return {"error": {"message": message, "type": kind, "param": None, "code": kind}}

    def _thoughts(self, reply: Says) -> Body:
        match reply.thoughts_field:
            case "parts":
                thinking = {"type": "thinking", "thinking": [{"type": "text", "text": reply.thoughts}]}
                return {"content": [thinking, {"type": "text", "text": ""}]}
            case "reasoning_details":
                return {"reasoning_details": [{"type": "reasoning.text", "text": reply.thoughts}]}
            case name:
                return {name: reply.thoughts}

    def _chunk(self, body: Body, delta: Body, reason: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return sse(self._frame(body) | {"choices": [choice]})

    def _count(self, reply: Says, body: Body) -> Iterator[bytes]:
        if reply.tokens_in is None or not body.get("stream_options", {}).get("include_usage"):
            return
        usage = {
            "prompt_tokens": reply.tokens_in,
            "completion_tokens": reply.tokens_out,
            "total_tokens": reply.tokens_in + reply.tokens_out,
            "prompt_tokens_details": {"cached_tokens": reply.tokens_cached},
        }
        yield sse(self._frame(body) | {"choices": [], "usage": usage})

    def _frame(self, body: Body) -> dict[str, Any]:
        return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": body["model"]}
