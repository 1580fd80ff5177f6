"""DeepSeek's export: conversations.json, alone or in its zip. A tree like ChatGPT's, with messages made of fragments.

The branch that ends at the newest message is read.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memory.imports.readers.branches import path_to
from memory.imports.readers.content_ids import ContentIds
from memory.imports.readers.json_values import objects, reason_of
from memory.imports.readers.lines import array, message_of, moment, sessions_of, table, word
from memory.imports.readers.source import Sample, Source
from memory.imports.readers.types import FileMessage, ImportRejected, Limits, Options, ReaderItem, Role, Skipped, digest

_CONVERSATIONS = re.compile(r"(?:^|/)conversations\.json$")
_FRAGMENTS = re.compile(r"(?:item\.)?mapping\.[^.]+\.message\.(?:fragments|inserted_at)$")
_SIDES: Mapping[str, tuple[str, Role]] = {"REQUEST": ("user", "user"), "RESPONSE": ("assistant", "persona")}
_THOUGHT = "THINK"


class DeepSeek:
    name = "deepseek"
    label = gettext_lazy("DeepSeek export")

    def resembles(self, sample: Sample) -> float:
        inside = [sample.inside(name) for name in sample.members if _CONVERSATIONS.search(name)] or [sample]
        return 0.96 if any(map(_FRAGMENTS.match, inside[0].paths)) else 0.0

    def read(self, source: Source, options: Options) -> Iterator[ReaderItem]:
        files = [name for name in source.members if _CONVERSATIONS.search(name)]
        if source.members and not files:
            raise ImportRejected("member_missing")
        yield from (Skipped(name, "settings") for name in source.members if name not in files)
        places = ContentIds()
        for file in files or [""]:
            for number, conversation in enumerate(objects(source, file), start=1):
                location = _("conversation %d") % number
                if not isinstance(conversation, dict) or not isinstance(conversation.get("mapping"), dict):
                    yield Skipped(location, reason_of(conversation))
                    continue
                nodes = {key: table(node) for key, node in conversation["mapping"].items()}
                title = word(conversation.get("title"))
                chat_id = word(conversation.get("id"))
                places.begin(chat_id or title)
                source_id = chat_id or digest("deepseek", number, title)
                found = _read_messages(nodes, chat_id, places, location, options.limits)
                yield from sessions_of(title, source_id, location, found, options.limits)


def _read_messages(
    nodes: Mapping[str, Mapping[str, Any]], talk: str, places: ContentIds, location: str, limits: Limits
) -> Iterator[FileMessage | Skipped]:
    parents = {key: word(node.get("parent")) for key, node in nodes.items()}
    leaves = [key for key in nodes if key not in set(parents.values())]
    times = {key: moment(table(nodes[key].get("message")).get("inserted_at")) for key in leaves}
    last = max(leaves, key=lambda key: at.timestamp() if (at := times[key]) else 0.0, default="")
    branch = path_to(last, parents)
    message_number = _("%(talk)s, message %(number)d")
    for number, key in enumerate(branch, start=1):
        place = message_number % {"talk": location, "number": number}
        source_id = f"{talk}/{key}" if talk else ""
        # One message per side; its ids are places in the tree, which are unique only within a conversation.
        message = table(nodes[key].get("message"))
        for fragment in map(table, array(message.get("fragments"))):
            if word(fragment.get("type")) not in _SIDES:
                yield Skipped(place, "thinking" if fragment.get("type") == _THOUGHT else "tool")
        at = moment(message.get("inserted_at"))
        for kind, text in _texts_by_side(message):
            speaker, role = _SIDES[kind]
            yield message_of(speaker, text, at, place, limits, places, source_id, role)
        yield from (Skipped(place, "media") for _file in array(message.get("files")))
    for key in nodes.keys() - set(branch):
        yield from (Skipped(location, "not_chosen") for _text in _texts_by_side(table(nodes[key].get("message"))))


def _texts_by_side(message: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    """The side and the text of a message; nothing if it has no text."""
    fragments = [table(fragment) for fragment in array(message.get("fragments"))]
    words = {
        kind: "\n\n".join(word(fragment.get("content")) for fragment in fragments if fragment.get("type") == kind)
        for kind in _SIDES
    }
    return [(kind, text) for kind, text in words.items() if text]


FORMATS = (DeepSeek(),)
