"""What is shown: the best of nodes and passages together, within the budget. Pure.

Everything competes by score, a little in favour of what is short. Lines that follow each other become one passage;
what is shown is shown once.
"""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import NamedTuple

# score · (30 / tokens) ** 0.1: of two equals the shorter one leaves room for a third (LoCoMo: 0.901 -> 0.906).
USUAL_TOKENS = 30
BREVITY = 0.1
LEAST_TOKENS = 8
EXCEPTED_SHARE = 0.5


class Candidate(NamedTuple):
    """One thing that could be shown. `lines` are the messages whose words it shows: of a node its evidence, of a
    line itself; `joined_tokens` is what a line costs as part of a passage that is there already. `only_excepted`: it is
    below the floor, and offered because it mentions somebody who is named, or is of the days that are asked about."""

    key: int
    is_node: bool
    score: float
    tokens: int
    lines: frozenset[int]
    rank: tuple[float, ...] = ()
    only_excepted: bool = False
    before: int | None = None
    after: int | None = None
    joined_tokens: int = 0
    text: str = ""


@dataclass
class SelectedItem:
    """One item: a node, or the lines of a passage; the best of them gives its score."""

    best: Candidate
    lines: list[Candidate] = field(default_factory=list)


@dataclass
class Selection:
    """What is shown, best first; why each other offer is not, by (is node, key)."""

    shown: list[SelectedItem] = field(default_factory=list)
    removed: dict[tuple[bool, int], str] = field(default_factory=dict)
    least_score: float = 0.0
    tokens: int = 0
    excepted_tokens: int = 0
    seen_lines: set[int] = field(default_factory=set)
    seen_texts: set[str] = field(default_factory=set)
    passages: dict[int, SelectedItem] = field(default_factory=dict)


def select_within_budget(
    offers: Sequence[Candidate],
    budget: int,
    *,
    window: AbstractSet[int] = frozenset(),
    longest_passage: int = 4,
    fall_off: float = 0.0,
) -> Selection:
    """Fill `budget` tokens from `offers`, best first. `window` are lines that the prompt shows anyway; what scores
    less than `fall_off` of the best is not shown."""
    choice = Selection(least_score=fall_off * max((offer.score for offer in offers), default=0.0))
    for offer in sorted(offers, key=_order):
        passage = _passage_beside(offer, choice.passages, longest_passage)
        cost = offer.joined_tokens if passage else offer.tokens
        if reason := _refusal(offer, cost, choice, budget, window):
            choice.removed[offer.is_node, offer.key] = reason
        else:
            _show(offer, cost, passage, choice)
    choice.shown.sort(key=lambda shown: _order(shown.best))
    return choice


def _order(offer: Candidate) -> tuple[float, ...]:
    worth = offer.score * (USUAL_TOKENS / max(LEAST_TOKENS, offer.tokens)) ** BREVITY
    return (-worth, *offer.rank, offer.key, offer.is_node)


def _passage_beside(offer: Candidate, passages: Mapping[int, SelectedItem], longest: int) -> SelectedItem | None:
    """The passage that a line continues, unless that is long enough."""
    if offer.is_node:
        return None
    beside = (passages.get(line) for line in (offer.before, offer.after) if line is not None)
    return next((passage for passage in beside if passage and len(passage.lines) < longest), None)


def _refusal(offer: Candidate, cost: int, choice: Selection, budget: int, window: AbstractSet[int]) -> str:
    """The rule that keeps an offer out, or an empty string."""
    if not offer.is_node and offer.lines <= window:
        return "in_window"
    if offer.lines and offer.lines <= choice.seen_lines:
        return "shown_already"
    if offer.text in choice.seen_texts:
        return "same_words"
    if offer.score < choice.least_score and not offer.only_excepted:
        return "fell_off"
    if choice.tokens + cost > budget:
        return "no_room"
    if offer.only_excepted and choice.excepted_tokens + cost > budget * EXCEPTED_SHARE:
        return "excepted_only"
    return ""


def _show(offer: Candidate, cost: int, passage: SelectedItem | None, choice: Selection) -> None:
    choice.tokens += cost
    choice.excepted_tokens += cost * offer.only_excepted
    choice.seen_lines |= offer.lines
    if offer.is_node:
        choice.seen_texts.add(offer.text)
    if passage:
        passage.lines.append(offer)
    else:
        passage = SelectedItem(offer, [] if offer.is_node else [offer])
        choice.shown.append(passage)
    if not offer.is_node:
        choice.passages[offer.key] = passage
