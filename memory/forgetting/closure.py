"""The dependency closure: what is forgotten together with the targets. Pure, on a graph of memories and messages.

    target          deleted, with every earlier version of it
    its messages    (and those of what was concluded from it) deleted or withheld, as the choice says
    what was left   of a target that ended in part is deleted, for it says what the target said
    dependents      deleted; with "orphan" they stay as long as they rest on something else
    shared messages take the memories that rest on them along; with "orphan" those stay and the messages are withheld
    a reply         goes or is withheld with the messages it replied to
    a mention       of it in another message is deleted or withheld, as the choice says; no memory goes with that

No message is deleted under a memory that stays, unless that very message was chosen.

Without `block_reimport` (an import is reverted) a memory goes for where it came from and not for what it says: it takes
no memory of the same content along.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from memory.forgetting.types import Choice

NONE: frozenset[int] = frozenset()


@dataclass(frozen=True)
class MemoryNode:
    """A memory: the messages that it quotes, the memories from which it was concluded, the one that replaced it, and
    those of which it is what was left when they ended in part."""

    messages: frozenset[int] = NONE
    filling: frozenset[int] = NONE
    superseded_by: int | None = None
    left_of: frozenset[int] = NONE


@dataclass(frozen=True)
class GraphMessage:
    """A message and its turn. `is_reply`: the persona said it in that turn."""

    turn: int | None = None
    is_reply: bool = False


@dataclass(frozen=True)
class Graph:
    """The memories and messages around what is to be forgotten, by key."""

    memories: Mapping[int, MemoryNode]
    messages: Mapping[int, GraphMessage] = field(default_factory=dict)


@dataclass(frozen=True)
class ForgetRequest:
    """Keys to forget, with the reason.

    memories, messages: go in any case
    wanted: further messages that hold the same words; they go as far as nothing that stays rests on them
    mentions: messages in which it is also mentioned, with what becomes of each
    left: mentions that stay, even where the message goes that they reply to
    """

    memories: Mapping[int, str]
    messages: Mapping[int, str] = field(default_factory=dict)
    wanted: Mapping[int, str] = field(default_factory=dict)
    mentions: Mapping[int, Literal["forget", "withhold"]] = field(default_factory=dict)
    left: frozenset[int] = NONE


@dataclass(frozen=True)
class ForgetDecision:
    """What becomes of each key, with the reason.

    content_matches: those of `memories` that go for what they say, not only for messages that they share or the file
        that they came with
    staying: memories that stay although something they rest on goes
    """

    memories: Mapping[int, str]
    content_matches: frozenset[int]
    messages: Mapping[int, str]
    withheld: Mapping[int, str]
    staying: Mapping[int, str]


def decide(graph: Graph, request: ForgetRequest, choice: Choice) -> ForgetDecision:
    """What becomes of everything in the graph that forgetting reaches. The more the graph holds, the more may go."""
    decider = _Decider(graph, request, choice)
    while decider.advance():
        pass
    return decider.decision()


class _Decider:
    """One decision under way: the memories that go grow until no further one does."""

    def __init__(self, graph: Graph, request: ForgetRequest, choice: Choice) -> None:
        self.graph, self.request, self.choice = graph, request, choice
        self.going: dict[int, str] = {pk: why for pk, why in request.memories.items() if pk in graph.memories}
        self.content_matches = set(self.going) if choice.block_reimport else set()
        self.chosen_turns = self._turns(request.messages)

    def advance(self) -> bool:
        """Add memories that must go with those that go already, and return whether there were any."""
        before = len(self.going), len(self.content_matches)
        wanted_memories = self.wanted(mentions=False)
        chosen_keys = self.request.messages.keys()
        for pk, memory in self.graph.memories.items():
            if memory.superseded_by in self.going and self.choice.block_reimport:
                self._add(pk, "earlier", by_content=memory.superseded_by in self.content_matches)
            if memory.left_of & self.going.keys():
                self._add(pk, "rests_on", by_content=bool(memory.left_of & self.content_matches))
            if memory.filling & self.going.keys():
                self._decide_dependent(pk, memory, "rests_on", by_content=bool(memory.filling & self.content_matches))
            if memory.messages & chosen_keys:
                self._decide_dependent(pk, memory, "quotes", by_content=memory.messages <= chosen_keys)
            elif not self._may_stay(pk) and any(
                self._mode(key) == "forget" for key in memory.messages & wanted_memories.keys()
            ):
                self._add(pk, "same_lines", by_content=False)
        return (len(self.going), len(self.content_matches)) != before

    def _decide_dependent(self, pk: int, memory: MemoryNode, why: str, *, by_content: bool) -> None:
        if not self._may_stay(pk):
            self._add(pk, why, by_content=by_content)
        elif not (memory.filling - self.going.keys() or memory.messages - self.request.messages.keys()):
            self._add(pk, "no_ground", by_content=by_content)

    def _add(self, pk: int, why: str, *, by_content: bool) -> None:
        self.going.setdefault(pk, why)
        if by_content and self.choice.block_reimport:
            self.content_matches.add(pk)

    def _may_stay(self, pk: int) -> bool:
        return self.choice.dependents == "orphan" or pk in self.choice.staying

    def wanted(self, *, mentions: bool) -> dict[int, str]:
        """Messages with the text of memories that go, without those that were chosen themselves."""
        texts = {message: "words_of" for pk in self.content_matches for message in self.graph.memories[pk].messages}
        texts |= {message: why for message, why in self.request.wanted.items() if message not in texts}
        if mentions:
            texts |= {message: "mentioned" for message in self.request.mentions if message not in texts}
        turns = self._turns([*texts, *self.request.messages])
        replies = {
            pk: "reply" for pk, message in self.graph.messages.items() if message.is_reply and message.turn in turns
        }
        kept_keys = self.request.messages.keys() | self.request.left
        return {pk: why for pk, why in (replies | texts).items() if pk not in kept_keys}

    def _turns(self, messages: Iterable[int]) -> set[int]:
        """The turns that one of these messages of the user belongs to."""
        known_messages = (self.graph.messages[pk] for pk in messages if pk in self.graph.messages)
        return {message.turn for message in known_messages if message.turn is not None and not message.is_reply}

    def _mode(self, pk: int) -> str:
        """Whether a message is forgotten or withheld. A reply goes with a chosen message."""
        message = self.graph.messages.get(pk)
        if pk in self.request.mentions:
            return self.request.mentions[pk]
        if message and message.is_reply and message.turn in self.chosen_turns:
            return "forget"
        return self.choice.messages

    def decision(self) -> ForgetDecision:
        remaining = {pk: memory for pk, memory in self.graph.memories.items() if pk not in self.going}
        needed = {message for memory in remaining.values() for message in memory.messages}
        deleted: dict[int, str] = dict(self.request.messages)
        withheld: dict[int, str] = {}
        for pk, why in self.wanted(mentions=True).items():
            if self._mode(pk) == "withhold":
                withheld[pk] = "put_away"
            elif pk in needed:
                withheld[pk] = "still_needed"
            else:
                deleted[pk] = why
        # A reply to a message that is withheld is withheld with it, and not deleted.
        withheld_turns = self._turns(withheld) - self._turns(deleted)
        for pk in [pk for pk, why in deleted.items() if why in ("reply", "echo") and pk not in self.request.messages]:
            message = self.graph.messages.get(pk)
            if message and message.is_reply and message.turn in withheld_turns:
                del deleted[pk]
                withheld[pk] = "still_needed"
        staying = {
            pk: "other_ground"
            for pk, memory in remaining.items()
            if memory.filling & self.going.keys() or memory.messages & deleted.keys()
        }
        return ForgetDecision(dict(self.going), frozenset(self.content_matches), deleted, withheld, staying)
