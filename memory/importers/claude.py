"""Claude's export: conversations.json (an array, or an object a line), alone or in its zip; and memories.json.

Conversations are linear. A message's `text` is what was said, unless it has blocks of other kinds as well: then `text`
holds stand-ins for those, and the blocks that are text are taken.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memory.importers.json_values import Unread, loads, values
from memory.importers.lines import array, moment, said, storable, table, talks, word
from memory.importers.source import Sample, Source
from memory.importers.types import Found, ImportRejected, Limits, Line, Options, Remembered, Role, Skipped, digest

_CONVERSATIONS = re.compile(r"(?:^|/)conversations\.jsonl?$")
_MEMORIES = re.compile(r"(?:^|/)memories\.json$")
_PROJECTS = re.compile(r"(?:^|/)projects\.json$|(?:^|/)projects/[^/]+\.json$")
_ROLES: Mapping[str, Role] = {"human": "user", "assistant": "persona"}
_BLOCKS = {
    "thinking": "thinking", "redacted_thinking": "thinking", "tool_use": "tool", "tool_result": "tool",
    "server_tool_use": "tool", "image": "media", "document": "document",
}  # fmt: skip


class Claude:
    name = "claude"
    label = gettext_lazy("Claude export")

    def resembles(self, sample: Sample) -> float:
        paths = sample.paths
        for name in filter(_CONVERSATIONS.search, sample.members):
            paths = sample.inside(name).paths
        if {"item.chat_messages", "chat_messages"} & paths:
            return 0.95
        return 0.9 if {"item.conversations_memory", "conversations_memory"} & paths else 0.0

    def read(self, source: Source, options: Options) -> Iterator[Found]:
        if not source.members:
            yield from _file(source, "", options.limits)
            return
        if not any(_CONVERSATIONS.search(name) or _MEMORIES.search(name) for name in source.members):
            raise ImportRejected("member_missing")
        for name in source.members:
            yield from _member(source, name, options.limits)


def _member(source: Source, name: str, limits: Limits) -> Iterator[Found]:
    if _CONVERSATIONS.search(name) or _MEMORIES.search(name):
        yield from _file(source, name, limits)
    elif _PROJECTS.search(name):
        yield from _project_documents(source, name)
    else:
        yield Skipped(name, "settings")


def _file(source: Source, member: str, limits: Limits) -> Iterator[Found]:
    """Each object of the file is a conversation, or what Claude remembers."""
    for number, one in enumerate(_objects(source, member, limits), start=1):
        if isinstance(one, dict) and "conversations_memory" in one:
            yield from _memories(one)
        else:
            yield from _conversation(one, number, limits)


def _objects(source: Source, member: str, limits: Limits) -> Iterator[Any]:
    """The elements of an array, or the objects of lines; a line that is none is `Unread`."""
    if _begins_with_array(source, member):
        yield from (value for _place, value in values(source, ["item"], member))
        return
    if not _is_one_a_line(source, member):
        yield from (value for _place, value in values(source, [""], member))
        return
    for line in source.lines(member):
        if line.text.strip():
            try:
                yield loads(line.text, limits)
            except ValueError:
                yield Unread("broken")


def _begins_with_array(source: Source, member: str) -> bool:
    return _first_text(source, member).startswith("[")


def _is_one_a_line(source: Source, member: str) -> bool:
    """Objects in lines: an object that is laid out over several lines ends its first one early."""
    first = _first_text(source, member).split("\n", 1)[0].strip()
    return first.startswith("{") and first != "{"


def _first_text(source: Source, member: str) -> str:
    return next((piece.lstrip() for piece in source.texts(member) if piece.strip()), "")


def _conversation(conversation: Any, number: int, limits: Limits) -> Iterator[Found]:
    where = _("conversation %d") % number
    if not isinstance(conversation, dict) or not isinstance(conversation.get("chat_messages"), list):
        yield Skipped(where, conversation.reason if isinstance(conversation, Unread) else "broken")
        return
    title = word(conversation.get("name"))
    source_id = word(conversation.get("uuid")) or digest(number, title, word(conversation.get("created_at")))
    found = _messages(conversation["chat_messages"], where, limits)
    yield from talks(title, source_id, where, found, limits)


def _messages(messages: list[Any], where: str, limits: Limits) -> Iterator[Line | Skipped]:
    message_number = _("%(talk)s, message %(number)d")
    for number, message in enumerate(_in_order(messages), start=1):
        place = message_number % {"talk": where, "number": number}
        if isinstance(message, dict):
            yield from _message(message, number, place, limits)
        else:
            yield Skipped(place, "broken")


def _in_order(messages: list[Any]) -> list[Any]:
    """By time, where every message has one; else as they stand."""
    times = [moment(table(message).get("created_at")) for message in messages]
    if None in times:
        return messages
    return sorted(messages, key=_seconds)


def _seconds(message: Mapping[str, Any]) -> float:
    at = moment(message["created_at"])
    return (at if at and at.tzinfo else at.replace(tzinfo=UTC)).timestamp() if at else 0.0


def _message(message: Mapping[str, Any], number: int, where: str, limits: Limits) -> Iterator[Line | Skipped]:
    blocks = [table(block) for block in array(message.get("content"))]
    left_out = [*_left_out(blocks), *_attached(message)]
    yield from (Skipped(where, reason) for reason in left_out)
    sender, text = word(message.get("sender")), _words(message, blocks)
    if text.strip() or not left_out:
        at = moment(message.get("created_at"))
        yield said(sender, text, at, where, limits, word(message.get("uuid")), number, _ROLES.get(sender, ""))


def _words(message: Mapping[str, Any], blocks: list[dict[str, Any]]) -> str:
    texts = [word(block.get("text")) for block in blocks if block.get("type") == "text"]
    text = word(message.get("text"))
    if text.strip() and len(texts) == len(blocks):
        return text
    return "\n\n".join(filter(None, texts)) or ("" if blocks else text)


def _left_out(blocks: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for block in blocks:
        kind = word(block.get("type"))
        if kind != "text":
            yield _BLOCKS.get(kind, "unknown")


def _attached(message: Mapping[str, Any]) -> Iterator[str]:
    for attachment in array(message.get("attachments")):
        yield "document" if table(attachment).get("extracted_content") else "media"
    yield from ("media" for _file in array(message.get("files")))


def _memories(memories: Mapping[str, Any]) -> Iterator[Remembered]:
    yield from _memory(memories.get("conversations_memory"), "conversations_memory", "", {})
    for project, text in table(memories.get("project_memories")).items():
        yield from _memory(text, "project_memory", project, {"project": project})


def _memory(text: Any, kind: str, project: str, rest: Mapping[str, Any]) -> Iterator[Remembered]:
    words = storable(word(text))
    if words.strip():
        yield Remembered(words, kind, None, None, digest(kind, project, words), f"{kind} {project}".strip(), rest)


def _project_documents(source: Source, member: str) -> Iterator[Skipped]:
    """A project's documents are not what anybody said; each is told."""
    places = ["item.docs.item", "docs.item"]
    count = 0
    for count, _document in enumerate(values(source, [], member, dict.fromkeys(places, "document")), start=1):
        yield Skipped(_("%(file)s, document %(number)d") % {"file": member, "number": count}, "document")
    if not count:
        yield Skipped(member, "settings")


FORMATS = (Claude(),)
