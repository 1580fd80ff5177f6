"""Messages with roles, as programs send them to a language model and store them.

    OpenAI      [{role, content}], {messages: [{role, content}]}, one of either a line, or an array of them
    ShareGPT    [{conversations: [{from, value}]}], or one a line
    Extensions  {metadata: {title}, messages: [{role: "Prompt" | "Response", say}]}

`content` is a text, or parts, of which texts are read. Content for the model or for tools is skipped and counted.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memory.imports.readers.json_values import objects
from memory.imports.readers.lines import SessionReader, moment, role_named, table, word
from memory.imports.readers.source import Sample, Source
from memory.imports.readers.types import FileMessage, Options, ReaderItem, Role, Skipped, digest

# The places of a conversation's messages, and the names of their fields.
_HELD = ("messages", "conversations", "conversation")
_SPEAKER = ("role", "from", "role")
_TEXT = ("content", "value", "say")
_TIMES = ("created_at", "createdAt", "timestamp", "create_time", "time", "date")
_TITLES = ("title", "name")
_ROLES: Mapping[str, Role] = {
    "user": "user",
    "human": "user",
    "assistant": "persona",
    "gpt": "persona",
    "model": "persona",
    "Prompt": "user",
    "Response": "persona",
}
_SILENT = {"system": "hidden", "developer": "hidden", "tool": "tool", "function": "tool", "function_call": "tool"}
_PARTS = {"text": "", "input_text": "", "output_text": "", "thinking": "thinking", "reasoning": "thinking"}
_SHAPES = ("", "item.", "item.item.", *(f"{start}{field}.item." for start in ("", "item.") for field in _HELD))


class RoleMessages:
    name = "role_messages"
    label = gettext_lazy("Messages with roles (OpenAI, ShareGPT)")

    def resembles(self, sample: Sample) -> float:
        if sample.members:
            return 0.0
        pairs = tuple(zip(_SPEAKER, _TEXT, strict=True))
        at_home = any({shape + role, shape + text} <= sample.paths for shape in _SHAPES for role, text in pairs)
        mentions_role = (f'"{role}"' in sample.text for role in (*_ROLES, "system"))
        return 0.8 if at_home and any(mentions_role) else 0.0

    def read(self, source: Source, options: Options) -> Iterator[ReaderItem]:
        """The sessions of the file. Messages without a conversation, in an array or one a line, are one session."""
        number, reader = 0, _Conversations(options.limits)
        for several, group in groupby(
            objects(source), lambda value: isinstance(value, list) or _first(table(value), _HELD) is not None
        ):
            for record in group if several else [group]:
                number += 1
                # An item holds messages, or is a list of them, or yields them.
                location = _("conversation %d") % number
                messages = _first(record, _HELD) if isinstance(record, dict) else record
                if isinstance(messages, str) or not isinstance(messages, Iterable):
                    yield Skipped(location, "broken")
                    continue
                title = word(_first(table(record), _TITLES))
                chat_id = word(table(record).get("id"))
                begun = reader.places.begin_with(
                    chat_id,
                    title or source.name,
                    messages,
                    lambda message: _words(_first(table(message), _TEXT))[0],
                )
                source_id = chat_id or digest("role_messages", number, title)
                yield from reader.read_session(title, source_id, location, begun)


def _first(record: Mapping[str, Any], keys: Iterable[str]) -> Any:
    """The first existing value of the `keys`."""
    return next((record[key] for key in keys if record.get(key) is not None), None)


class _Conversations(SessionReader):
    def read_message(self, message: dict[str, Any], location: str) -> Iterator[FileMessage | Skipped]:
        side = word(_first(message, _SPEAKER))
        if side in _SILENT:
            yield Skipped(location, _SILENT[side])
            return
        text, left_out = _words(_first(message, _TEXT))
        yield from (Skipped(location, reason) for reason in left_out)
        if text or not (left_out or message.get("tool_calls")):
            at, speaker = moment(_first(message, _TIMES)), word(message.get("name")) or side
            role = _ROLES.get(side) or role_named(side)
            yield self.line(speaker, text, at, location, word(message.get("id")), role)
        elif message.get("tool_calls"):
            yield Skipped(location, "tool")


def _words(content: Any) -> tuple[str, list[str]]:
    """The text of a message, and why other parts of it are left out."""
    if not isinstance(content, list):
        return word(content), []
    parts = [table(part) if isinstance(part, dict) else {"type": "text", "text": part} for part in content]
    kinds = [word(part.get("type")) for part in parts]
    part_texts = (part.get("text") for part, kind in zip(parts, kinds, strict=True) if _PARTS.get(kind) == "")
    # In threads the text of a part is a record itself: {value, annotations}.
    texts = (word(text.get("value") if isinstance(text, dict) else text) for text in part_texts)
    return "\n\n".join(filter(None, texts)), [
        _PARTS.get(kind) or ("tool" if "tool" in kind else "media") for kind in kinds if _PARTS.get(kind) != ""
    ]


FORMATS = (RoleMessages(),)
