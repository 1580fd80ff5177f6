"""The dependency closure: everything that is forgotten together with the targets. Pure, on a graph of memories and
messages.

    target          deleted with all its earlier versions
    its messages    (also those of conclusions from it) deleted or withheld, as chosen
    a remainder     of a target that ended in part is deleted, because it repeats the target's text
    dependents      deleted; with "orphan" they stay if they also rest on something else
    a quotation     of a chosen message is deleted in any case, because it repeats its words
    shared messages take along memories that rest on them; with "orphan" these stay and the messages are withheld
    a reply         is deleted or withheld with the messages it replied to
    a mention       of the target in another message is deleted or withheld, as chosen; no memory is deleted with it

No message is deleted while a memory that stays rests on it, unless this message itself was chosen.

Without `block_reimport` (an import is reverted) memories are deleted by origin, not by content: memories with the same
content stay.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from memory.forgetting.types import Choice

NONE: frozenset[int] = frozenset()


@dataclass(frozen=True)
class MemoryNode:
    """A memory: the messages it quotes, the memories it was concluded from, the memory that superseded it, and the
    memories that ended in part and left it as their remainder. `repeated`: those messages whose quote its text repeats
    word for word."""

    messages: frozenset[int] = NONE
    filling: frozenset[int] = NONE
    superseded_by: int | None = None
    remainder_of: frozenset[int] = NONE
    repeated: frozenset[int] = NONE


@dataclass(frozen=True)
class GraphMessage:
    """A message and its turn. `is_reply`: the persona wrote it in that turn."""

    turn: int | None = None
    is_reply: bool = False


@dataclass(frozen=True)
class Graph:
    """The memories and messages around the targets, by key."""

    memories: Mapping[int, MemoryNode]
    messages: Mapping[int, GraphMessage] = field(default_factory=dict)


@dataclass(frozen=True)
class ForgetRequest:
    """Keys to forget, each with a reason code.

    memories, messages: deleted in any case
    same_text: further messages with the same text; deleted unless a memory that stays rests on them
    mentions: messages that also mention the target, with the mode of each
    exempt: mentions that stay, even if the message they reply to is deleted
    """

    memories: Mapping[int, str]
    messages: Mapping[int, str] = field(default_factory=dict)
    same_text: Mapping[int, str] = field(default_factory=dict)
    mentions: Mapping[int, Literal["forget", "withhold"]] = field(default_factory=dict)
    exempt: frozenset[int] = NONE


@dataclass(frozen=True)
class ForgetDecision:
    """The decision for each key, with a reason code.

    content_matches: memories deleted for their content, not only for shared messages or a shared file
    staying: memories that stay although something they rest on is deleted
    """

    memories: Mapping[int, str]
    content_matches: frozenset[int]
    messages: Mapping[int, str]
    withheld: Mapping[int, str]
    staying: Mapping[int, str]


def decide(graph: Graph, request: ForgetRequest, choice: Choice) -> ForgetDecision:
    """Decide on the whole graph. A larger graph may lead to more deletions."""
    decider = _Decider(graph, request, choice)
    while decider.advance():
        pass
    return decider.decision()


class _Decider:
    """A decision in progress: the set of memories to delete grows until it is stable."""

    def __init__(self, graph: Graph, request: ForgetRequest, choice: Choice) -> None:
        self.graph, self.request, self.choice = graph, request, choice
        self.deleted_memories: dict[int, str] = {
            pk: why for pk, why in request.memories.items() if pk in graph.memories
        }
        self.content_matches = set(self.deleted_memories) if choice.block_reimport else set()
        self.chosen_turns = self._turns(request.messages)

    def advance(self) -> bool:
        """Add the memories that depend on those already in the set; returns whether there were any."""
        before = len(self.deleted_memories), len(self.content_matches)
        same_text = self.same_text(mentions=False)
        chosen_keys = self.request.messages.keys()
        for pk, memory in self.graph.memories.items():
            if memory.superseded_by in self.deleted_memories and self.choice.block_reimport:
                self._add(pk, "earlier", by_content=memory.superseded_by in self.content_matches)
            if memory.remainder_of & self.deleted_memories.keys():
                self._add(pk, "rests_on", by_content=bool(memory.remainder_of & self.content_matches))
            if memory.filling & self.deleted_memories.keys():
                self._decide_dependent(pk, memory, "rests_on", by_content=bool(memory.filling & self.content_matches))
            if memory.repeated & chosen_keys:
                self._add(pk, "quotes", by_content=memory.messages <= chosen_keys)
            elif memory.messages & chosen_keys:
                self._decide_dependent(pk, memory, "quotes", by_content=memory.messages <= chosen_keys)
            elif not self._may_stay(pk) and any(
                self._mode(key) == "forget" for key in memory.messages & same_text.keys()
            ):
                self._add(pk, "same_lines", by_content=False)
        return (len(self.deleted_memories), len(self.content_matches)) != before

    def _decide_dependent(self, pk: int, memory: MemoryNode, why: str, *, by_content: bool) -> None:
        if not self._may_stay(pk):
            self._add(pk, why, by_content=by_content)
        elif not (memory.filling - self.deleted_memories.keys() or memory.messages - self.request.messages.keys()):
            self._add(pk, "no_ground", by_content=by_content)

    def _add(self, pk: int, why: str, *, by_content: bool) -> None:
        self.deleted_memories.setdefault(pk, why)
        if by_content and self.choice.block_reimport:
            self.content_matches.add(pk)

    def _may_stay(self, pk: int) -> bool:
        return self.choice.dependents == "orphan" or pk in self.choice.staying

    def same_text(self, *, mentions: bool) -> dict[int, str]:
        """Messages with the text of deleted memories, except chosen ones."""
        texts = {message: "words_of" for pk in self.content_matches for message in self.graph.memories[pk].messages}
        texts |= {message: why for message, why in self.request.same_text.items() if message not in texts}
        if mentions:
            texts |= {message: "mentioned" for message in self.request.mentions if message not in texts}
        turns = self._turns([*texts, *self.request.messages])
        replies = {
            pk: "reply" for pk, message in self.graph.messages.items() if message.is_reply and message.turn in turns
        }
        excluded = self.request.messages.keys() | self.request.exempt
        return {pk: why for pk, why in (replies | texts).items() if pk not in excluded}

    def _turns(self, messages: Iterable[int]) -> set[int]:
        """The turns of these messages, as far as they are messages of the user."""
        known_messages = (self.graph.messages[pk] for pk in messages if pk in self.graph.messages)
        return {message.turn for message in known_messages if message.turn is not None and not message.is_reply}

    def _mode(self, pk: int) -> str:
        """Whether a message is forgotten or withheld. A reply follows the chosen message it replies to."""
        message = self.graph.messages.get(pk)
        if pk in self.request.mentions:
            return self.request.mentions[pk]
        if message and message.is_reply and message.turn in self.chosen_turns:
            return "forget"
        return self.choice.messages

    def decision(self) -> ForgetDecision:
        remaining = {pk: memory for pk, memory in self.graph.memories.items() if pk not in self.deleted_memories}
        needed_messages = {message for memory in remaining.values() for message in memory.messages}
        deleted: dict[int, str] = dict(self.request.messages)
        withheld: dict[int, str] = {}
        for pk, why in self.same_text(mentions=True).items():
            if self._mode(pk) == "withhold":
                withheld[pk] = "put_away"
            elif pk in needed_messages:
                withheld[pk] = "still_needed"
            else:
                deleted[pk] = why
        # A reply to a withheld message is withheld with it, and not deleted.
        withheld_turns = self._turns(withheld) - self._turns(deleted)
        for pk in [pk for pk, why in deleted.items() if why in ("reply", "echo") and pk not in self.request.messages]:
            message = self.graph.messages.get(pk)
            if message and message.is_reply and message.turn in withheld_turns:
                del deleted[pk]
                withheld[pk] = "still_needed"
        staying = {
            pk: "other_ground"
            for pk, memory in remaining.items()
            if memory.filling & self.deleted_memories.keys() or memory.messages & deleted.keys()
        }
        return ForgetDecision(dict(self.deleted_memories), frozenset(self.content_matches), deleted, withheld, staying)
