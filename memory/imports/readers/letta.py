"""Letta's agent files (.af): an agent's memory of the person and of itself, its archive, and its messages.

    since 2025-07   {agents: [{name, block_ids, messages, …}], blocks: [{id, label, value}], files, …}
    before          {name, agent_type, core_memory: [{label, value}], messages: [{role, content, tool_calls}], …}

The block "human" becomes a draft for the user block, "persona" one for the persona block; other blocks and each passage
of the archive become memories. An agent speaks through its tool `send_message`; its other text is its thoughts.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memory.imports.readers.json_values import loads
from memory.imports.readers.lines import SessionReader, array, moment, storable, table, word
from memory.imports.readers.source import Sample, Source
from memory.imports.readers.types import (
    FileMessage,
    ImportRejected,
    Limits,
    Options,
    ReaderItem,
    Remembered,
    Skipped,
    digest,
)
from memory.imports.readers.whole_json import load_json

_MARKS = ("agents.item.block_ids", "agents.item.agent_type", "agents.item.core_memory", "core_memory.item.label")
# Some tools write the file as a JSON string inside JSON.
_WITHIN_TEXT = ('"{\\"agents\\"', '"{\\n', '"{ ')
_MAX_CHARACTERS = 32 * 1024 * 1024
_KINDS = {"human": "user_profile", "user": "user_profile", "persona": "companion"}
_PASSAGES = ("passages", "archival_memory", "archival_passages", "archival", "archival_memories")
_SPEAKS = "send_message"
_SILENT = {"system": "hidden", "developer": "hidden", "tool": "tool", "function": "tool", "approval": "tool"}
_USER, _AGENT = "user", "assistant"


class Letta:
    name = "letta"
    label = gettext_lazy("Letta agent (.af)")

    def resembles(self, sample: Sample) -> float:
        if sample.members:
            return 0.0
        begins = sample.text.lstrip()[:40].replace(" ", "")
        within = (
            begins.startswith(tuple(mark.replace(" ", "") for mark in _WITHIN_TEXT))
            and '\\"agent_type\\"' in sample.text
        )
        return 0.95 if within or any(mark in sample.paths for mark in _MARKS) else 0.0

    def read(self, source: Source, options: Options) -> Iterator[ReaderItem]:
        document = load_json(source.texts(), options.limits, _MAX_CHARACTERS)
        if isinstance(document, str):
            try:
                document = loads(document, options.limits)
            except ValueError as error:
                raise ImportRejected("not_json") from error
        if not isinstance(document, dict):
            raise ImportRejected("not_this", format=str(self.label))
        reader = _AgentMessages(options.limits)
        yield from _blocks(document, options.limits)
        agents = [table(agent) for agent in array(document.get("agents"))] or [document]
        for number, agent in enumerate(agents, start=1):
            if agent is not document:
                yield from _blocks(agent, options.limits)
            location = _("conversation %d") % number
            name = word(agent.get("name")) or _AGENT
            source_id = word(agent.get("id")) or digest("letta", name, number)
            reader.name = name
            reader.places.begin(source_id)
            yield from reader.read_session(name, source_id, location, array(agent.get("messages")))
        for file in array(document.get("files")):
            yield Skipped(word(table(file).get("file_name")), "document")


def _blocks(holder: Mapping[str, Any], limits: Limits) -> Iterator[Remembered | Skipped]:
    blocks = [*array(holder.get("blocks")), *array(holder.get("core_memory")), *array(holder.get("memory_blocks"))]
    for block in map(table, blocks):
        label = word(block.get("label")) or "memory"
        location = _("memory block “%s”") % label
        text = storable(word(block.get("value")))
        yield _remembered(text, _KINDS.get(label, label), "", None, location, limits)
    number, place = 0, _("memory %d")
    for passage_field in _PASSAGES:
        for passage in array(holder.get(passage_field)):
            number += 1
            passage_table = table(passage)
            text = (
                passage
                if isinstance(passage, str)
                else word(passage_table.get("text")) or word(passage_table.get("content"))
            )
            at = word(passage_table.get("created_at")) or word(passage_table.get("timestamp"))
            yield _remembered(storable(text), "memory", word(passage_table.get("id")), at, place % number, limits)


def _remembered(text: str, kind: str, source_id: str, at: Any, location: str, limits: Limits) -> Remembered | Skipped:
    if not text.strip():
        return Skipped(location, "empty")
    if len(text.encode()) > limits.message_bytes:
        return Skipped(location, "too_long")
    when = moment(at)
    return Remembered(text, kind, when.date() if when else None, None, source_id or digest(kind, text), location)


class _AgentMessages(SessionReader):
    name = _AGENT  # the agent whose messages are being read

    def read_message(self, message: dict[str, Any], location: str) -> Iterator[FileMessage | Skipped]:
        role = word(message.get("role")) or word(message.get("message_type")).removesuffix("_message")
        message_id, at = word(message.get("id")), moment(message.get("created_at") or message.get("date"))
        if role in _SILENT:
            yield Skipped(location, _SILENT[role])
        elif role == _USER:
            # The text inside the event that wraps it, unless the program sent that.
            text = _text(message)
            event = _event(text)
            kind = word(event.get("type"))
            if kind == "user_message":
                text = word(event.get("message"))
            elif kind and ("time" in event or "reason" in event):
                yield Skipped(location, "notice")
                return
            yield self.line(_USER, text, at, location, message_id, "user")
        elif role == _AGENT:
            # The agent's messages to the owner are calls of one tool; its other text is a thought.
            calls = [table(table(call).get("function")) for call in array(message.get("tool_calls"))]
            said = [word(call.get("arguments")) for call in calls if call.get("name") == _SPEAKS]
            texts = [word(_event(arguments).get("message")) for arguments in said] if calls else [_text(message)]
            if calls and _text(message).strip():
                yield Skipped(location, "thinking")
            yield from (Skipped(location, "tool") for call in calls if call.get("name") != _SPEAKS)
            for text in texts:
                yield self.line(self.name, text, at, location, message_id if len(texts) == 1 else "", "persona")
        else:
            yield Skipped(location, "unknown")


def _text(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if content is None:
        content = message.get("text")
    if not isinstance(content, list):
        return word(content)
    parts = [table(part) for part in content]
    return "\n\n".join(filter(None, (word(part.get("text")) for part in parts if part.get("type", "text") == "text")))


def _event(text: str) -> dict[str, Any]:
    if not text.lstrip().startswith("{"):
        return {}
    try:
        return table(json.loads(text))
    except (ValueError, RecursionError):
        return {}


FORMATS = (Letta(),)
