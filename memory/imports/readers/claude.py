"""Claude's export: conversations.json (an array, or an object a line), alone or in its zip; and memories.json.

If messages name the one they answer, those are read that led to the last one (or to the open one); replaced messages
are skipped as not chosen. A message's `text` is its content, unless it has blocks of other kinds: then `text` contains
placeholders for these, and the text blocks are read.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC
from operator import itemgetter
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memory.imports.readers.branches import messages_off_path, path_to
from memory.imports.readers.content_ids import ContentIds
from memory.imports.readers.json_values import objects, reason_of, values
from memory.imports.readers.lines import array, message_of, moment, sessions_of, storable, table, word
from memory.imports.readers.source import Sample, Source
from memory.imports.readers.types import (
    FileMessage,
    ImportRejected,
    Limits,
    Options,
    ReaderItem,
    Remembered,
    Role,
    Skipped,
    digest,
)

_CONVERSATIONS = re.compile(r"(?:^|/)conversations\.jsonl?$")
_MEMORIES = re.compile(r"(?:^|/)memories\.json$")
_PROJECTS = re.compile(r"(?:^|/)projects\.json$|(?:^|/)projects/[^/]+\.json$")
_ROLES: Mapping[str, Role] = {"human": "user", "assistant": "persona"}
_BLOCKS = {
    "thinking": "thinking", "redacted_thinking": "thinking", "tool_use": "tool", "tool_result": "tool",
    "server_tool_use": "tool", "image": "media", "document": "document", "token_budget": "settings", "flag": "notice",
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

    def read(self, source: Source, options: Options) -> Iterator[ReaderItem]:
        if not source.members:
            yield from _file(source, "", options.limits)
            return
        if not any(_CONVERSATIONS.search(name) or _MEMORIES.search(name) for name in source.members):
            raise ImportRejected("member_missing")
        for name in source.members:
            if _CONVERSATIONS.search(name) or _MEMORIES.search(name):
                yield from _file(source, name, options.limits)
            elif _PROJECTS.search(name):
                # A project's documents are no messages; each is reported as skipped.
                places = ["item.docs.item", "docs.item"]
                count = 0
                for count, _document in enumerate(values(source, [], name, dict.fromkeys(places, "document")), start=1):
                    yield Skipped(_("%(file)s, document %(number)d") % {"file": name, "number": count}, "document")
                if not count:
                    yield Skipped(name, "settings")
            else:
                yield Skipped(name, "settings")


def _file(source: Source, member: str, limits: Limits) -> Iterator[ReaderItem]:
    """Each object of the file is a conversation, or Claude's memory of the owner."""
    places = ContentIds()
    for number, conversation in enumerate(objects(source, member), start=1):
        if isinstance(conversation, dict) and "conversations_memory" in conversation:
            yield from _memory(conversation.get("conversations_memory"), "conversations_memory", "", {})
            for project, text in table(conversation.get("project_memories")).items():
                yield from _memory(text, "project_memory", project, {"project": project})
        else:
            location = _("conversation %d") % number
            if not isinstance(conversation, dict) or not isinstance(conversation.get("chat_messages"), list):
                yield Skipped(location, reason_of(conversation))
                continue
            title = word(conversation.get("name"))
            conversation_id, begun_at = word(conversation.get("uuid")), word(conversation.get("created_at"))
            places.begin(conversation_id or digest(title, begun_at))
            # By time, if every message has one; else in file order.
            messages = conversation["chat_messages"]
            times = [moment(table(message).get("created_at")) for message in messages]
            if None not in times:
                seconds = [(at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() for at in times if at]
                messages = [
                    message for _second, message in sorted(zip(seconds, messages, strict=True), key=itemgetter(0))
                ]
            # The ids of replaced messages, and of those that followed them.
            parents = {
                word(message.get("uuid")): word(message.get("parent_message_uuid"))
                for message in map(table, messages)
                if message.get("uuid") and message.get("parent_message_uuid")
            }
            if len(set(parents.values())) == len(parents):
                not_chosen = set()
            else:
                opened = word(conversation.get("current_leaf_message_uuid"))
                not_chosen = messages_off_path(
                    path_to(opened if opened in parents else list(parents)[-1], parents), parents
                )
            items = _messages(messages, not_chosen, places, location, limits)
            source_id = conversation_id or digest(number, title, begun_at)
            yield from sessions_of(title, source_id, location, items, limits)


def _messages(
    messages: list[Any], not_chosen: set[str], places: ContentIds, location: str, limits: Limits
) -> Iterator[FileMessage | Skipped]:
    message_number = _("%(talk)s, message %(number)d")
    for number, message in enumerate(messages, start=1):
        place = message_number % {"talk": location, "number": number}
        if isinstance(message, dict) and word(message.get("uuid")) in not_chosen:
            yield Skipped(place, "not_chosen")
        elif isinstance(message, dict):
            blocks = [table(block) for block in array(message.get("content"))]
            kinds = [word(block.get("type")) for block in blocks]
            reasons = [
                _BLOCKS.get(kind, "tool" if kind.endswith(("tool_use", "tool_result")) else "unknown")
                for kind in kinds
                if kind != "text"
            ]
            attached = map(table, array(message.get("attachments")))
            files = ["document" if file.get("extracted_content") else "media" for file in attached]
            left_out = [*reasons, *files, *("media" for _file in array(message.get("files")))]
            yield from (Skipped(place, reason) for reason in left_out)
            sender, text = word(message.get("sender")), word(message.get("text"))
            if reasons or not text.strip():
                texts = [word(block.get("text")) for block in blocks if block.get("type") == "text"]
                text = "\n\n".join(filter(None, texts)) or ("" if blocks else text)
            if text.strip() or not left_out:
                at = moment(message.get("created_at"))
                yield message_of(
                    sender, text, at, place, limits, places, word(message.get("uuid")), _ROLES.get(sender, "")
                )
        else:
            yield Skipped(place, "broken")


def _memory(text: Any, kind: str, project: str, rest: Mapping[str, Any]) -> Iterator[Remembered]:
    words = storable(word(text))
    if words.strip():
        yield Remembered(words, kind, None, None, digest(kind, project, words), f"{kind} {project}".strip(), rest)


FORMATS = (Claude(),)
