"""ChatGPT's export: conversations.json, or its newer parts conversations-000.json …, alone or in the zip they come in.

A conversation is a tree in which every edit and regeneration is a branch. What counts is the branch that ends at
`current_node`; messages of the others are told as not chosen.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memory.importers.json_values import Unread, values
from memory.importers.lines import array, moment, said, storable, table, talks, word
from memory.importers.source import Sample, Source
from memory.importers.types import Found, ImportRejected, Limits, Line, Options, Remembered, Role, Skipped, digest

_CONVERSATIONS = re.compile(r"(?:^|/)conversations(?:-\d+)?\.json$")
_ROLES: Mapping[str, Role] = {"user": "user", "assistant": "persona"}
_THOUGHTS = ("thoughts", "reasoning_recap")
_TOOLS = ("code", "execution_output", "tether_quote", "tether_browsing_display", "tether_browsing_code", "system_error")
# What the zip holds beside conversations: chat.html is the same once more, for reading.
_SAME_AGAIN = "chat.html"
_Node = dict[str, Any]


class ChatGPT:
    name = "chatgpt"
    label = gettext_lazy("ChatGPT export")

    def resembles(self, sample: Sample) -> float:
        first = next(iter(_conversation_files(sample.members)), None)
        looked_at = sample.inside(first) if first else sample
        return 0.95 if "item.mapping" in looked_at.paths else 0.0

    def read(self, source: Source, options: Options) -> Iterator[Found]:
        files = _conversation_files(source.members)
        if source.members and not files:
            raise ImportRejected("member_missing")
        yield from _beside(source.members, files)
        number = 0
        known: set[str] = set()
        for file in files or [""]:
            for _place, conversation in values(source, ["item"], file):
                number += 1
                yield from _once(_conversation(conversation, number, options.limits), known)


def _conversation_files(members: Iterable[str]) -> list[str]:
    return [name for name in members if _CONVERSATIONS.search(name)]


def _beside(members: Iterable[str], files: list[str]) -> Iterator[Skipped]:
    for name in members:
        if name in files:
            continue
        data = "settings" if name.endswith(".json") else "media"
        yield Skipped(name, "duplicate" if name.endswith(_SAME_AGAIN) else data)


def _once(found: Iterable[Found], known: set[str]) -> Iterator[Found]:
    """What the user wrote about herself stands in every conversation anew: it is handed over once."""
    for one in found:
        if isinstance(one, Remembered):
            if one.source_id in known:
                continue
            known.add(one.source_id)
        yield one


def _conversation(conversation: Any, number: int, limits: Limits) -> Iterator[Found]:
    where = _("conversation %d") % number
    if not isinstance(conversation, dict) or not isinstance(conversation.get("mapping"), dict):
        yield Skipped(where, conversation.reason if isinstance(conversation, Unread) else "broken")
        return
    mapping = conversation["mapping"]
    nodes: dict[str, _Node] = {key: node for key, node in mapping.items() if isinstance(node, dict)}
    yield from (Skipped(where, "broken") for _lost in range(len(mapping) - len(nodes)))
    branch = _branch(nodes, conversation.get("current_node"))
    found = list(_messages([nodes[key] for key in branch], where, limits))
    yield from (one for one in found if isinstance(one, Remembered))
    title = word(conversation.get("title"))
    source_id = word(conversation.get("conversation_id") or conversation.get("id")) or digest(number, title, *branch)
    spoken = (one for one in found if not isinstance(one, Remembered))
    yield from talks(title, source_id, where, spoken, limits)
    yield from _not_chosen(nodes, set(branch), where, limits)


def _messages(nodes: Iterable[_Node], where: str, limits: Limits) -> Iterator[Line | Skipped | Remembered]:
    message_number = _("%(talk)s, message %(number)d")
    for number, node in enumerate(nodes, start=1):
        place = message_number % {"talk": where, "number": number}
        yield from _message(node, number, place, limits)


def _branch(nodes: Mapping[str, _Node], current: Any) -> list[str]:
    """The keys of the nodes from the root to `current`; where that is missing, to the leaf that was written last."""
    key = current if isinstance(current, str) and current in nodes else _last_leaf(nodes)
    branch: dict[str, None] = {}
    while isinstance(key, str) and key in nodes and key not in branch:
        branch[key] = None
        key = nodes[key].get("parent")
    return list(reversed(branch))


def _last_leaf(nodes: Mapping[str, _Node]) -> str | None:
    parents = {word(node.get("parent")) for node in nodes.values()}
    leaves = [key for key in nodes if key not in parents]
    return max(leaves, key=lambda key: _written_at(nodes[key]), default=None)


def _written_at(node: _Node) -> float:
    at = moment(table(node.get("message")).get("create_time"))
    return at.timestamp() if at else 0.0


def _not_chosen(nodes: Mapping[str, _Node], branch: set[str], where: str, limits: Limits) -> Iterator[Skipped]:
    """One for each message beside the branch that would have been a line in it."""
    for key, node in nodes.items():
        if key not in branch and any(isinstance(one, Line) for one in _message(node, 0, where, limits)):
            yield Skipped(where, "not_chosen")


def _message(node: _Node, position: int, where: str, limits: Limits) -> Iterator[Line | Skipped | Remembered]:
    message = node.get("message")
    if message is None:
        return
    if not isinstance(message, dict):
        yield Skipped(where, "broken")
        return
    content = table(message.get("content"))
    if content.get("content_type") == "user_editable_context":
        yield from _about_the_user(content, where)
        return
    reason = _why_not(message, content)
    if reason:
        yield Skipped(where, reason)
        return
    author = table(message.get("author"))
    role = word(author.get("role"))
    text, others = _words(content)
    if others:
        yield Skipped(where, "media")
    if text or not others:
        at = moment(message.get("create_time"))
        yield said(
            word(author.get("name")) or role, text, at, where, limits, word(message.get("id")), position, _ROLES[role]
        )


def _why_not(message: Mapping[str, Any], content: Mapping[str, Any]) -> str:
    """Why the message is not something that one of the two said to the other; "" where it is."""
    kind = content.get("content_type")
    role = table(message.get("author")).get("role")
    if kind in _THOUGHTS:
        return "thinking"
    if kind in _TOOLS or role == "tool" or message.get("recipient", "all") != "all":
        return "tool"
    hidden = table(message.get("metadata")).get("is_visually_hidden_from_conversation")
    if hidden or message.get("weight") == 0 or role == "system":
        return "hidden"
    known = kind in ("text", "multimodal_text") and isinstance(role, str) and role in _ROLES
    return "" if known else "unknown"


def _words(content: Mapping[str, Any]) -> tuple[str, bool]:
    """The words of a message, spoken ones too, and whether there was more to it."""
    parts = array(content.get("parts"))
    words = [part if isinstance(part, str) else _transcription(part) for part in parts]
    wordless = any(not isinstance(part, str) and not _transcription(part) for part in parts)
    return "\n".join(filter(None, words)), wordless


def _transcription(part: Any) -> str:
    found = table(part)
    return word(found.get("text")) if found.get("content_type") == "audio_transcription" else ""


def _about_the_user(content: Mapping[str, Any], where: str) -> Iterator[Remembered]:
    for kind in ("user_profile", "user_instructions"):
        text = storable(word(content.get(kind)))
        if text.strip():
            yield Remembered(text, kind, None, None, digest(kind, text), where)


FORMATS = (ChatGPT(),)
