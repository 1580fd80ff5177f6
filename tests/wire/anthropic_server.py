"""Messages as Anthropic streams them."""

from collections.abc import Iterator

from tests.wire.scripted_server import Body, Says, ScriptedServer, sse

REASONS = {"stop": "end_turn", "length": "max_tokens"}


class AnthropicServer(ScriptedServer):
    """Answers `/v1/messages`."""

    def events(self, reply: Says, body: Body) -> Iterator[bytes]:
        """The frame of a message around the pieces, then what the ending asks for."""
        yield _event({"type": "message_start", "message": self._message(reply, body)})
        if reply.thoughts:
            yield from self._thoughts(reply.thoughts)
        yield _event({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}})
        yield _event({"type": "ping"})
        for part in reply.parts():
            delta = {"type": "text_delta", "text": part}
            yield _event({"type": "content_block_delta", "index": 0, "delta": delta})
        if reply.ending == "garbage":
            yield b"event: content_block_delta\ndata: {this is not json\n\n"
        if reply.ending == "error":
            yield _event({"type": "error", "error": {"type": reply.error, "message": "scripted trouble"}})
        if reply.ending == "whole":
            yield _event({"type": "content_block_stop", "index": 0})
            yield _event(self._stop(reply))
            yield _event({"type": "message_stop"})

    def failure(self, message: str, kind: str) -> Body:
        """As Anthropic words an error."""
        return {"type": "error", "error": {"type": kind, "message": message}}

    def _thoughts(self, thoughts: str) -> Iterator[bytes]:
        block = {"type": "thinking", "thinking": "", "signature": ""}
        yield _event({"type": "content_block_start", "index": 0, "content_block": block})
        for delta in ({"type": "thinking_delta", "thinking": thoughts}, {"type": "signature_delta", "signature": "x"}):
            yield _event({"type": "content_block_delta", "index": 0, "delta": delta})
        yield _event({"type": "content_block_stop", "index": 0})

    def _message(self, reply: Says, body: Body) -> Body:
        usage = {
            "input_tokens": (reply.tokens_in or 0) - reply.tokens_cached,
            "cache_read_input_tokens": reply.tokens_cached,
            "cache_creation_input_tokens": 0,
            "output_tokens": 1,
        }
        return {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": usage,
        }

    def _stop(self, reply: Says) -> Body:
        delta = {"stop_reason": REASONS.get(reply.reason, reply.reason), "stop_sequence": None}
        return {"type": "message_delta", "delta": delta, "usage": {"output_tokens": reply.tokens_out}}


def _event(data: Body) -> bytes:
    return sse(data, data["type"])
