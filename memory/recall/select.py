"""The selection: the best nodes and passages together, within the budget. Pure.

All candidates compete by score · (USUAL_TOKENS / tokens) ** BREVITY. Consecutive messages become one passage; nothing
is shown twice.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import lru_cache
from operator import attrgetter
from typing import NamedTuple

from memory.recall.near_duplicates import ShownWords, words_of
from memory.recall.render import RenderedMessage

# Of two equal candidates the shorter one leaves room for a third (LoCoMo: 0.901 -> 0.906).
USUAL_TOKENS = 30
BREVITY = 0.1
MIN_TOKENS = 8
EXCEPTED_SHARE = 0.5


class Candidate(NamedTuple):
    """A node or message that could be shown. `messages` are those whose words it shows: the evidence of a node, or the
    message itself. `joined_tokens` is the cost of a message that continues a passage, `question_tokens` that of its
    final question, shown if the next message is. `only_excepted`: it is below the floor, and offered because it
    mentions a named entity or is of the requested days. `line` is a message as a passage of its own."""

    key: int
    is_node: bool
    score: float
    tokens: int
    messages: frozenset[int]
    rank: tuple[float, ...] = ()
    only_excepted: bool = False
    before: int | None = None
    after: int | None = None
    joined_tokens: int = 0
    question_tokens: int = 0
    text: str = ""
    line: str = ""

    @property
    def order(self) -> tuple[float, ...]:
        """The sort key of candidates: best first."""
        return (-self.score * self.brevity, *self.rank, self.key, self.is_node)

    @property
    def brevity(self) -> float:
        """The factor of a score: above 1 if a candidate is shorter than usual."""
        return _brevity_of(self.tokens)


@lru_cache
def _brevity_of(tokens: int) -> float:
    return float((USUAL_TOKENS / max(MIN_TOKENS, tokens)) ** BREVITY)


@dataclass
class SelectedItem:
    """One item: a node, or the messages of a passage, whose best one gives the score. `context` are messages that make
    a passage understandable (exchanges.py), `text` is the passage with them, of so many `tokens`."""

    best: Candidate
    passage: list[Candidate] = field(default_factory=list)
    context: list[RenderedMessage] = field(default_factory=list)
    text: str = ""
    tokens: int = 0


@dataclass
class Selection:
    """The selected items, best first; for each other candidate the rule that removed it, by (is node, key)."""

    items: list[SelectedItem] = field(default_factory=list)
    removed: dict[tuple[bool, int], str] = field(default_factory=dict)
    min_score: float = 0.0
    tokens: int = 0
    excepted_tokens: int = 0
    shown_messages: set[int] = field(default_factory=set)
    shown_texts: set[str] = field(default_factory=set)
    shown_words: ShownWords = field(default_factory=ShownWords, compare=False)
    passages: dict[int | None, SelectedItem] = field(default_factory=dict)

    def rule_against(self, candidate: Candidate, cost: int, budget: int, window: AbstractSet[int]) -> str:
        """The rule that excludes a candidate, or ""."""
        if not candidate.is_node and candidate.messages <= window:
            return "in_window"
        if candidate.messages and candidate.messages <= self.shown_messages:
            return "shown_already"
        if candidate.text in self.shown_texts:
            return "same_words"
        if candidate.score < self.min_score and not candidate.only_excepted:
            return "fell_off"
        if self.tokens + cost > budget:
            return "no_room"
        if candidate.only_excepted and self.excepted_tokens + cost > budget * EXCEPTED_SHARE:
            return "excepted_only"
        return ""

    def add(self, candidate: Candidate, cost: int, passage: SelectedItem | None, words: frozenset[str]) -> None:
        """Select a candidate with these words: a node as its own item, a message in `passage` or as a new one."""
        self.tokens += cost
        self.excepted_tokens += cost * candidate.only_excepted
        self.shown_messages |= candidate.messages
        self.shown_words.add(words)
        if passage is None:
            passage = SelectedItem(candidate)
            self.items.append(passage)
        if candidate.is_node:
            self.shown_texts.add(candidate.text)
        else:
            passage.passage.append(candidate)
            self.passages[candidate.key] = passage


def select_within_budget(
    candidates: Sequence[Candidate],
    budget: int,
    *,
    window: AbstractSet[int] = frozenset(),
    longest_passage: int = 4,
    fall_off: float = 0.0,
) -> Selection:
    """Fill `budget` tokens from `candidates`, best first. `window` are messages that the prompt shows anyway;
    candidates that score less than `fall_off` of the best are not shown."""
    selection = Selection(min_score=fall_off * max((candidate.score for candidate in candidates), default=0.0))
    for candidate in sorted(candidates, key=attrgetter("order")):
        passage, cost = None, candidate.tokens
        for key in () if candidate.is_node else (candidate.before, candidate.after):
            # A message continues the passage of its neighbour, unless that is already long.
            if passage is None and (item := selection.passages.get(key)) and len(item.passage) < longest_passage:
                passage, cost = item, candidate.joined_tokens
        if passage:  # the question of the earlier of two neighbours is shown with its answer
            cost += sum(message.question_tokens for message in passage.passage if message.key == candidate.before)
            cost += candidate.question_tokens * any(message.key == candidate.after for message in passage.passage)
        if rule := selection.rule_against(candidate, cost, budget, window):
            selection.removed[candidate.is_node, candidate.key] = rule
            continue
        words = words_of(candidate.text)
        if not candidate.is_node and selection.shown_words.contains_most(words):
            selection.removed[False, candidate.key] = "near_duplicate"
        else:
            selection.add(candidate, cost, passage, words)
    return selection
