"""What becomes of a known memory that an answer says it replaces. Pure.

A model names whatever its news goes on with. What happened stays true whatever came of it, and a plan that came about
did happen, on its day: neither leaves memory because there is news of it. What was wrong does, what is over, and the
plan that was moved or called off. An event without a day or a weight is no happening but how things were: it is
replaced like a fact.
"""

import re
from dataclasses import dataclass
from datetime import date
from typing import Literal

from echovessel.language.corrections import takes_back
from memory.store.deduplication import DateRange

Effect = Literal["replaced", "came about", "stays"]

# Somebody takes their words back.
_TAKEN_BACK = re.compile(
    r"\b(?:i (?:was wrong|meant|misspoke|got it wrong)|actually|never happened)\b|不是|不对|说错|记错|搞错|弄错", re.I
)
# A plan is moved or called off.
_MOVED = re.compile(
    r"\b(?:not (?:the|on|in|at)|instead|rather than|postponed|rescheduled|brought forward|delayed|"
    r"(?:is|was|were|been|got|it's|they've|they) (?:moved|pushed)|(?:moved|pushed) (?:it|them|the|my|our)|"
    r"put off|called off|cancell?ed|(?:is|was|are|were|it's|all) off|fell through|didn't (?:happen|go|come|make))\b|"
    r"推迟|延期|延到|提前|改(?:到|成|为|在|期)|挪到|取消|泡汤|黄了|作罢|没(?:去|办|搞|考|做)?成|不去了",
    re.I,
)
# How things are now is not how they were.
_CHANGED = re.compile(
    r"\b(?:now|these days|no longer|any ?more|used to|since then|not \w+ (?:now|yet))\b|现在|如今|不再|已经不|改|换",
    re.I,
)
WEIGHTY, HEAVY = 3, 5


@dataclass(frozen=True)
class Known:
    """The memory that is to be replaced. `days` are its own, `told_on` is the day on which it was told."""

    is_event: bool
    is_planned: bool
    impact: int
    days: DateRange | None
    told_on: date


@dataclass(frozen=True)
class News:
    """The item that replaces it, with the words that it cites and the day on which the last of them was said."""

    words: tuple[str, ...]
    told_on: date
    state: str = ""
    is_correction: bool = False

    @property
    def puts_right(self) -> bool:
        return self.is_correction or any(takes_back(text) for text in self.words) or self._says(_TAKEN_BACK)

    @property
    def moves_or_calls_off(self) -> bool:
        return self.state == "cancelled" or self._says(_MOVED)

    @property
    def tells_of_change(self) -> bool:
        """Whether it says how things are now."""
        return self._says(_CHANGED)

    def _says(self, words: re.Pattern[str]) -> bool:
        return any(words.search(text.replace("’", "'")) for text in self.words)


def effect(known_nodes: Known, news: News) -> Effect:
    """What the news does to the known memory.

    >>> day = date(2025, 1, 22)
    >>> talk = Known(is_event=False, is_planned=True, impact=0, days=(day, day), told_on=date(2025, 1, 14))
    >>> effect(talk, News(("Well, I gave my talk.",), date(2025, 1, 24)))
    'came about'
    >>> effect(talk, News(("They've moved the talk to March.",), date(2025, 1, 16)))
    'replaced'
    """
    is_ahead = known_nodes.is_planned or (known_nodes.days is not None and known_nodes.days[0] > known_nodes.told_on)
    if news.puts_right or (is_ahead and news.moves_or_calls_off):
        return "replaced"
    if not is_ahead:
        weight = abs(known_nodes.impact)
        is_felt = weight >= HEAVY or (weight >= WEIGHTY and not news.tells_of_change)
        happened = known_nodes.is_event and (known_nodes.days or is_felt)
        return "stays" if happened else "replaced"
    has_come = known_nodes.days is not None and known_nodes.days[0] <= news.told_on
    return "came about" if has_come or news.state == "done" else "replaced"
