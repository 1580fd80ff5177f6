"""ChatGPT's export: conversations.json, or its newer parts conversations-000.json …, alone or in their zip. Files of
tools are read, too: one conversation, one a line, or the data of a shared link.

A conversation is a tree in which every edit and regeneration is a branch. The branch that ends at `current_node` is
read; messages of the others are skipped as not chosen. If a tool left out the links, all messages are read, in the
order of `linear_conversation`, else of their times. Marks at which the program shows a source or a card are removed,
except for the names in them.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from itertools import islice
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memory.imports.readers.branches import path_to
from memory.imports.readers.content_ids import ContentIds
from memory.imports.readers.json_values import objects, reason_of, values
from memory.imports.readers.lines import array, message_of, moment, place_messages, sessions_of, storable, table, word
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

_CONVERSATIONS = re.compile(r"(?:^|/)conversations(?:-\d+)?\.json$")
# Places of the keys in files with many conversations, with a single one, and with one a line.
_AROUND = ("item", "", "conversations.item", "data", "serverResponse.data", "props.pageProps.serverResponse.data")
_HOLDERS = ("mapping", "linear_conversation", "messages")
_NODES = re.compile(r"(?:mapping\.[^.]+|linear_conversation\.item)\.message\.(?:author|content)$")
# Messages or nodes at the top of a file, and messages in a list.
_FLAT = re.compile(r"(?:messages\.)?item\.(?:message\.)?content\.(?P<what>content_type|parts)$")
_AUTHOR = re.compile(r"(?:messages\.)?item\.(?:message\.)?author\.role$")
# The number of nodes without a conversation that are kept in memory: they are one conversation.
_MAX_FLAT = 50_000
_ROLES: Mapping[str, Role] = {"user": "user", "assistant": "persona"}
_THOUGHTS = ("thoughts", "reasoning_recap")
_TOOLS = (
    "code", "execution_output", "tether_quote", "tether_browsing_display", "tether_browsing_code", "system_error",
    "computer_output", "sonic_webpage", "citable_code_output",
)  # fmt: skip
# The channel of a model's own thoughts.
_ASIDE = "analysis"
# Marks of sources: 【12†source】, 【oaicite:0】, and newer ones between private-use signs. Some of these are shown as a
# name: entity ["city","Berlin"], url Berlin https://…
_OLD_MARK = re.compile(r"【(?:\d+(?::\d+)?†[^】\n]{0,200}|oaicite:\d+)】|:contentReference\[oaicite:\d+\]\{index=\d+\}")
_NEW_MARK = re.compile(r"\ue200(?P<kind>[a-z_]+)(?P<rest>[^\ue200\ue201]*)\ue201")
_SIGNS = re.compile(r"[\ue200-\ue206]")
_NAMED_BY = {
    "entity": re.compile(r'\ue202\["[^"]*","(?P<name>[^"]+)"'),
    "url": re.compile(r"\ue202(?P<name>[^\ue202]+)"),
}
# Memories about the user: "1. [2024-05-01]. Likes tea."
_KEPT = re.compile(r"^\s*\d+\.\s+\[(?P<day>\d{4}-\d\d-\d\d)\]\.?\s*", re.MULTILINE)
# The zip also holds chat.html, the same conversations as a page.
_SAME_AGAIN = "chat.html"
# The first nodes identify conversations without an id; a single one is the same in many.
_FIRST_NODES = 3
_Node = dict[str, Any]


class ChatGPT:
    name = "chatgpt"
    label = gettext_lazy("ChatGPT export")

    def resembles(self, sample: Sample) -> float:
        first = next(iter(_conversation_files(sample.members)), None)
        paths = (sample.inside(first) if first else sample).paths
        around = _conversations_path(paths)
        if around is None:
            return 0.95 if _is_flat(paths) else 0.0
        inside = [path.removeprefix(f"{around}.") for path in paths]
        if any(map(_NODES.match, inside)) or _is_flat(inside):
            return 0.95
        return 0.5 if {"mapping", "linear_conversation"} & {*inside} else 0.0

    def read(self, source: Source, options: Options) -> Iterator[ReaderItem]:
        files = _conversation_files(source.members)
        if source.members and not files:
            raise ImportRejected("member_missing")
        for name in source.members:
            if name in files:
                continue
            data = "settings" if name.endswith(".json") else "media"
            yield Skipped(name, "duplicate" if name.endswith(_SAME_AGAIN) else data)
        number, places = 0, ContentIds()
        known_ids: set[str] = set()
        for file in files or [""]:
            paths = source.sample.inside(file).paths if file else source.sample.paths
            around = _conversations_path(paths)
            conversations: Iterable[Any]
            if around is None and _is_flat(paths):
                conversations = [{"messages": list(islice(objects(source, file), _MAX_FLAT))}]
            elif around in ("item", "", None):
                conversations = objects(source, file)
            else:
                conversations = (value for _place, value in values(source, [around], file))
            for conversation in conversations:
                number += 1
                # Every conversation repeats what is known of the user: it is yielded once.
                items = _conversation(conversation, number, places, options.limits)
                for item in items:
                    if isinstance(item, Remembered):
                        if item.source_id in known_ids:
                            continue
                        known_ids.add(item.source_id)
                    yield item


def _conversations_path(paths: frozenset[str]) -> str | None:
    """The place of the conversations in a file; None if it is unknown."""
    paths_around = (around for around in _AROUND if any(_place(around, holder) in paths for holder in _HOLDERS))
    return next(paths_around, None)


def _place(around: str, key: str) -> str:
    return f"{around}.{key}" if around else key


def _is_flat(paths: Iterable[str]) -> bool:
    """Whether there is a list of messages or nodes: with authors, or at least with ChatGPT's kinds of content."""
    path_list = list(paths)
    fields = {match["what"] for match in map(_FLAT.match, path_list) if match}
    return "content_type" in fields or (bool(fields) and any(map(_AUTHOR.match, path_list)))


def _conversation_files(members: Iterable[str]) -> list[str]:
    return [name for name in members if _CONVERSATIONS.search(name)]


def _conversation(conversation: Any, number: int, places: ContentIds, limits: Limits) -> Iterator[ReaderItem]:
    location = _("conversation %d") % number
    nodes, lost_count = _nodes(conversation) if isinstance(conversation, dict) else (None, 0)
    if nodes is None:
        yield Skipped(location, reason_of(conversation))
        return
    yield from (Skipped(location, "broken") for _lost in range(lost_count))
    parents = _parents(nodes)
    # The keys of the nodes from the root to `current`; if that is missing, to the newest leaf. All nodes if nothing
    # links them.
    current = conversation.get("current_node")
    if not _is_linked(nodes):
        branch = list(nodes)
    else:
        inner = set(parents.values())
        leaves = [key for key in nodes if key not in inner]
        latest = max(leaves, key=lambda key: _written_at(nodes[key]), default="")
        last = current if isinstance(current, str) and current in nodes else latest
        branch = path_to(last, parents)
    title = word(conversation.get("title"))
    conversation_id = word(conversation.get("conversation_id") or conversation.get("id"))
    places.begin(conversation_id or digest(title, *branch[:_FIRST_NODES]))
    items: list[FileMessage | Skipped | Remembered] = []
    for place, key in place_messages(branch, location):
        items.extend(_message(nodes[key], places, place, limits))
    yield from (item for item in items if isinstance(item, Remembered))
    source_id = conversation_id or digest(number, title, *branch)
    spoken = (item for item in items if not isinstance(item, Remembered))
    yield from sessions_of(title, source_id, location, spoken, limits)
    # One for each message outside the branch that would otherwise be read.
    for key in nodes.keys() - set(branch):
        if any(isinstance(message, FileMessage) for message in _message(nodes[key], ContentIds(), location, limits)):
            yield Skipped(location, "not_chosen")


def _nodes(conversation: Mapping[str, Any]) -> tuple[dict[str, _Node] | None, int]:
    """The nodes by key, in the order of the file, and the number of invalid ones; None if there are no nodes. Nodes
    without links are ordered by their list, or by their times."""
    linear, mapping = conversation.get("linear_conversation"), conversation.get("mapping")
    node_values = mapping if isinstance(mapping, dict | list) else None
    if isinstance(node_values, dict) and _is_linked(
        {key: node for key, node in node_values.items() if isinstance(node, dict)}
    ):
        return {key: node for key, node in node_values.items() if isinstance(node, dict)}, _others(node_values.values())
    node_list = next(
        (some for some in (linear, node_values, conversation.get("messages")) if isinstance(some, dict | list)), None
    )
    if node_list is None:
        return None, 0
    pairs = list(node_list.items()) if isinstance(node_list, dict) else [("", node) for node in node_list]
    nodes: dict[str, _Node] = {}
    for number, (key, node) in enumerate(pairs):
        if isinstance(node, dict):
            # A single message is a node without links.
            nodes[_key(key or word(node.get("id")), number, nodes)] = (
                node if "message" in node else {"message": node} if "content" in node else node
            )
    if not _is_linked(nodes) and node_list is not linear:
        # By time; a node without a time follows the one before it.
        last, times = 0.0, {}
        for key, node in nodes.items():
            last = _written_at(node) or last
            times[key] = last
        nodes = dict(sorted(nodes.items(), key=lambda pair: times[pair[0]]))
    return nodes, _others(value for _key, value in pairs)


def _others(values: Iterable[Any]) -> int:
    return sum(not isinstance(value, dict) for value in values)


def _key(source_id: str, number: int, nodes: Mapping[str, _Node]) -> str:
    return source_id if source_id and source_id not in nodes else f"#{number}"


def _parents(nodes: Mapping[str, _Node]) -> dict[str, str]:
    """The parent of each node: as it says itself, else as another node lists it among its children."""
    children = {word(child): key for key, node in nodes.items() for child in array(node.get("children"))}
    parent_of = {key: word(node.get("parent")) for key, node in nodes.items()}
    return {key: parent if parent in nodes else children.get(key, "") for key, parent in parent_of.items()}


def _is_linked(nodes: Mapping[str, _Node]) -> bool:
    return any(_parents(nodes).values()) or sum(node.get("message") is not None for node in nodes.values()) < 2


def _written_at(node: _Node) -> float:
    at = moment(table(node.get("message")).get("create_time"))
    return at.timestamp() if at else 0.0


def _message(
    node: _Node, places: ContentIds, location: str, limits: Limits
) -> Iterator[FileMessage | Skipped | Remembered]:
    message = node.get("message")
    if message is None:
        return
    if not isinstance(message, dict):
        yield Skipped(location, "broken")
        return
    content = table(message.get("content"))
    remembered = list(_about_the_user(message, content, location))
    if remembered:
        yield from remembered
        return
    reason = _skip_reason(message, content)
    if reason:
        yield Skipped(location, reason)
        return
    author = table(message.get("author"))
    role = _role(message)
    # The text of a message, including spoken text, and whether it has other content.
    parts = array(content.get("parts"))
    words = [part if isinstance(part, str) else _transcription(part) for part in parts]
    wordless = any(not isinstance(part, str) and not _transcription(part) for part in parts)
    text, others = "\n".join(filter(None, words)), wordless
    text = strip_citations(text) if role == "assistant" else text
    if others:
        yield Skipped(location, "media")
    if text or not others:
        at = moment(message.get("create_time"))
        yield message_of(
            word(author.get("name")) or role, text, at, location, limits, places, word(message.get("id")), _ROLES[role]
        )


def _skip_reason(message: Mapping[str, Any], content: Mapping[str, Any]) -> str:
    """Why the message is not part of the conversation between the two sides; "" if it is."""
    kind = content.get("content_type")
    role = _role(message)
    if kind in _THOUGHTS or message.get("channel") == _ASIDE:
        return "thinking"
    if kind in ("user_editable_context", "model_editable_context"):
        return "empty"
    if kind in _TOOLS or role == "tool" or message.get("recipient", "all") != "all":
        return "tool"
    hidden = table(message.get("metadata")).get("is_visually_hidden_from_conversation")
    if hidden or message.get("weight") == 0 or role == "system":
        return "hidden"
    is_known = kind in (None, "text", "multimodal_text") and role in _ROLES
    return "" if is_known else "unknown"


def _role(message: Mapping[str, Any]) -> str:
    return word(table(message.get("author")).get("role")) or word(message.get("role"))


def _transcription(part: Any) -> str:
    part_table = table(part)
    return word(part_table.get("text")) if part_table.get("content_type") == "audio_transcription" else ""


def strip_citations(text: str) -> str:
    """`text` as it was shown: without marks of sources, and with the names in some of them.

    >>> strip_citations("It is open【4†source】 in \ue200entity\ue202[\\"city\\",\\"Berlin\\"]\ue201.")
    'It is open in Berlin.'
    """

    def name_in(mark: re.Match[str]) -> str:
        pattern = _NAMED_BY.get(mark["kind"])
        match = pattern.match(mark["rest"]) if pattern else None
        return match["name"] if match else ""

    return _SIGNS.sub("", _NEW_MARK.sub(name_in, _OLD_MARK.sub("", text)))


def _about_the_user(message: Mapping[str, Any], content: Mapping[str, Any], location: str) -> Iterator[Remembered]:
    """What the owner wrote about themselves, without the sentences around it for the model; and the memories about
    them."""
    kind = content.get("content_type")
    if kind == "user_editable_context":
        bare = table(table(message.get("metadata")).get("user_context_message_data"))
        profile = bare.get("about_user_message") or content.get("user_profile")
        yield from _noted(profile, "user_profile", location)
        instructions = bare.get("about_model_message") or content.get("user_instructions")
        yield from _noted(instructions, "user_instructions", location)
    elif kind == "model_editable_context":
        _before, *kept_parts = _KEPT.split(word(content.get("model_set_context")))
        for day, text in zip(kept_parts[::2], kept_parts[1::2], strict=True):
            yield from _noted(text.strip(), "memory", location, moment(day))


def _noted(value: Any, kind: str, location: str, at: datetime | None = None) -> Iterator[Remembered]:
    text = storable(word(value))
    if text.strip():
        yield Remembered(text, kind, at.date() if at else None, None, digest(kind, text), location)


FORMATS = (ChatGPT(),)
