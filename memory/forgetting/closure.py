"""Deciding what goes: pure, on a graph of memories and the lines they rest on.

    what was chosen goes, and with it every earlier telling of it
    its lines             (and those of what was concluded from it) go, or are put away, as was chosen
    what rests on it      goes; or stays, with "orphan", as far as it rests on something else
    what shares its lines goes with them; or stays, with "orphan", and then the lines are only put away
    a reply               shares the fate of the lines it replied to
    a mention             of it in another line goes, or is put away, as was chosen for it; no memory goes with that

No line is deleted under a memory that stays, unless that very line was chosen.

What is not buried goes for where it came from and not for what it says: it takes no other telling of it along.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from memory.forgetting.types import Choice

NOBODY: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Memory:
    """What a memory rests on: lines that it quotes, memories from which it was concluded; and what replaced it."""

    lines: frozenset[int] = NOBODY
    filling: frozenset[int] = NOBODY
    superseded_by: int | None = None


@dataclass(frozen=True)
class Line:
    """A line, and the turn it belongs to. `is_reply`: the persona said it in that turn."""

    turn: int | None = None
    is_reply: bool = False


@dataclass(frozen=True)
class Graph:
    """The memories and lines around what is to be forgotten, by key."""

    memories: Mapping[int, Memory]
    lines: Mapping[int, Line] = field(default_factory=dict)


@dataclass(frozen=True)
class Asked:
    """What is to be forgotten. `memories` and `lines` go in any case; `wanted` are further lines that hold the same
    words, with the reason of each: they go as far as nothing that stays rests on them. `mentions` are lines in which it
    is also mentioned, with what becomes of each; those that are `left` stay even where a line goes that they reply to.
    """

    memories: Mapping[int, str]
    lines: Mapping[int, str] = field(default_factory=dict)
    wanted: Mapping[int, str] = field(default_factory=dict)
    mentions: Mapping[int, Literal["forget", "withhold"]] = field(default_factory=dict)
    left: frozenset[int] = NOBODY


@dataclass(frozen=True)
class Fate:
    """What becomes of each, with the reason.

    `kin` are those of `memories` that go for what they say (not only for lines that they share, or for the file that
    brought them); `staying` those that stay though something they rest on goes.
    """

    memories: Mapping[int, str]
    kin: frozenset[int]
    lines: Mapping[int, str]
    withheld: Mapping[int, str]
    staying: Mapping[int, str]


def decide(graph: Graph, asked: Asked, choice: Choice) -> Fate:
    """The fate of everything in the graph that forgetting reaches. The more the graph holds, the more may go."""
    deciding = _Deciding(graph, asked, choice)
    while deciding.goes_further():
        pass
    return deciding.fate()


class _Deciding:
    """One decision under way: the memories that go grow until no further one does."""

    def __init__(self, graph: Graph, asked: Asked, choice: Choice) -> None:
        self.graph, self.asked, self.choice = graph, asked, choice
        self.going: dict[int, str] = {pk: why for pk, why in asked.memories.items() if pk in graph.memories}
        self.kin = set(self.going) if choice.bury else set()
        self.chosen_turns = self._turns(asked.lines)

    def goes_further(self) -> bool:
        """Let go what has to with what goes already; whether there was anything."""
        before = len(self.going), len(self.kin)
        wanted = self.wanted(mentions=False)
        for pk, memory in self.graph.memories.items():
            self._let_go(pk, memory, wanted)
        return (len(self.going), len(self.kin)) != before

    def _let_go(self, pk: int, memory: Memory, wanted: Mapping[int, str]) -> None:
        if memory.superseded_by in self.going and self.choice.bury:
            self._goes(pk, "earlier", kin=memory.superseded_by in self.kin)
        if memory.filling & self.going.keys():
            self._depends(pk, memory, "rests_on", kin=bool(memory.filling & self.kin))
        if memory.lines & self.asked.lines.keys():
            self._depends(pk, memory, "quotes", kin=memory.lines <= self.asked.lines.keys())
        elif memory.lines & wanted.keys() and self._forgets(wanted, memory) and not self._may_stay(pk):
            self._goes(pk, "same_lines", kin=False)

    def _forgets(self, wanted: Mapping[int, str], memory: Memory) -> bool:
        """Whether one of its lines is wanted gone, not only put away."""
        return any(self._mode(line) == "forget" for line in memory.lines & wanted.keys())

    def _depends(self, pk: int, memory: Memory, why: str, *, kin: bool) -> None:
        if not self._may_stay(pk):
            self._goes(pk, why, kin=kin)
        elif not self._has_ground(memory):
            self._goes(pk, "no_ground", kin=kin)

    def _goes(self, pk: int, why: str, *, kin: bool) -> None:
        self.going.setdefault(pk, why)
        if kin and self.choice.bury:
            self.kin.add(pk)

    def _may_stay(self, pk: int) -> bool:
        return self.choice.dependents == "orphan" or pk in self.choice.staying

    def _has_ground(self, memory: Memory) -> bool:
        return bool(memory.filling - self.going.keys() or memory.lines - self.asked.lines.keys())

    def wanted(self, *, mentions: bool) -> dict[int, str]:
        """The lines that hold the words of what goes, but for those that were chosen themselves."""
        found = {line: "words_of" for pk in self.kin for line in self.graph.memories[pk].lines}
        found |= {line: why for line, why in self.asked.wanted.items() if line not in found}
        if mentions:
            found |= {line: "mentioned" for line in self.asked.mentions if line not in found}
        turns = self._turns([*found, *self.asked.lines])
        replies = {pk: "echo" for pk, line in self.graph.lines.items() if line.is_reply and line.turn in turns}
        kept = self.asked.lines.keys() | self.asked.left
        return {pk: why for pk, why in (replies | found).items() if pk not in kept}

    def _turns(self, lines: Iterable[int]) -> set[int]:
        """The turns in which one of these was said by the user."""
        known = (self.graph.lines[pk] for pk in lines if pk in self.graph.lines)
        return {line.turn for line in known if line.turn is not None and not line.is_reply}

    def _mode(self, pk: int) -> str:
        """Whether a wanted line is to be forgotten, or put away. A reply goes with a chosen line."""
        line = self.graph.lines.get(pk)
        if pk in self.asked.mentions:
            return self.asked.mentions[pk]
        if line and line.is_reply and line.turn in self.chosen_turns:
            return "forget"
        return self.choice.messages

    def fate(self) -> Fate:
        staying_on = self._lines_of_staying()
        gone: dict[int, str] = dict(self.asked.lines)
        withheld: dict[int, str] = {}
        for pk, why in self.wanted(mentions=True).items():
            if self._mode(pk) == "withhold":
                withheld[pk] = "put_away"
            elif pk in staying_on:
                withheld[pk] = "still_needed"
            else:
                gone[pk] = why
        self._put_replies_away(gone, withheld)
        return Fate(dict(self.going), frozenset(self.kin), gone, withheld, self._staying(gone))

    def _lines_of_staying(self) -> set[int]:
        staying = (memory for pk, memory in self.graph.memories.items() if pk not in self.going)
        return {line for memory in staying for line in memory.lines}

    def _put_replies_away(self, gone: dict[int, str], withheld: dict[int, str]) -> None:
        """A reply to a line that is put away is put away with it, and not deleted."""
        put_away = self._turns(withheld) - self._turns(gone)
        for pk in [pk for pk, why in gone.items() if why == "echo" and pk not in self.asked.lines]:
            line = self.graph.lines.get(pk)
            if line and line.is_reply and line.turn in put_away:
                del gone[pk]
                withheld[pk] = "still_needed"

    def _staying(self, gone: Mapping[int, str]) -> dict[int, str]:
        return {
            pk: "other_ground"
            for pk, memory in self.graph.memories.items()
            if pk not in self.going and (memory.filling & self.going.keys() or memory.lines & gone.keys())
        }
