"""Decide what happens to a memory that an answer claims to replace. Pure.

A model names whatever memory its news continues. An event stays true whatever followed it, and a plan that was carried
out did happen, on its day: neither is replaced by news. Replaced are mistakes, things that are over, and plans that
were moved or cancelled. An event without a day or an impact describes a state: it is replaced like a fact.
"""

import re
from dataclasses import dataclass
from datetime import date
from typing import Literal

from echovessel.language.corrections import takes_back
from memory.store.deduplication import DateRange

Effect = Literal["replaced", "came about", "stays"]

# The speaker corrects themselves.
_TAKEN_BACK = re.compile(
    r"\b(?:i (?:was wrong|meant|misspoke|got it wrong)|actually|never happened)\b|不是|不对|说错|记错|搞错|弄错", re.I
)
# A plan is moved or cancelled.
_MOVED = re.compile(
    r"\b(?:not (?:the|on|in|at)|instead|rather than|postponed|rescheduled|brought forward|delayed|"
    r"(?:is|was|were|been|got|it's|they've|they) (?:moved|pushed)|(?:moved|pushed) (?:it|them|the|my|our)|"
    r"put off|called off|cancell?ed|(?:is|was|are|were|it's|all) off|fell through|didn't (?:happen|go|come|make))\b|"
    r"推迟|延期|延到|提前|改(?:到|成|为|在|期)|挪到|取消|泡汤|黄了|作罢|没(?:去|办|搞|考|做)?成|不去了",
    re.I,
)
# The present differs from the past.
_CHANGED = re.compile(
    r"\b(?:now|these days|no longer|any ?more|used to|since then|not \w+ (?:now|yet))\b|现在|如今|不再|已经不|改|换",
    re.I,
)
WEIGHTY, HEAVY = 3, 5


@dataclass(frozen=True)
class ReplacedMemory:
    """The memory to replace. `days` are the days it is about, `told_on` is the day on which it was recorded."""

    is_event: bool
    is_planned: bool
    impact: int
    days: DateRange | None
    told_on: date


@dataclass(frozen=True)
class News:
    """The item that replaces it, with its quotes and the day of the last of them."""

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
        """Whether it describes the present."""
        return self._says(_CHANGED)

    def _says(self, words: re.Pattern[str]) -> bool:
        return any(words.search(text.replace("’", "'")) for text in self.words)


def effect(memory: ReplacedMemory, news: News) -> Effect:
    """The effect of the news on `memory`.

    >>> day = date(2025, 1, 22)
    >>> talk = ReplacedMemory(is_event=False, is_planned=True, impact=0, days=(day, day), told_on=date(2025, 1, 14))
    >>> effect(talk, News(("Well, I gave my talk.",), date(2025, 1, 24)))
    'came about'
    >>> effect(talk, News(("They've moved the talk to March.",), date(2025, 1, 16)))
    'replaced'
    """
    is_ahead = memory.is_planned or (memory.days is not None and memory.days[0] > memory.told_on)
    if news.puts_right or (is_ahead and news.moves_or_calls_off):
        return "replaced"
    if not is_ahead:
        weight = abs(memory.impact)
        is_felt = weight >= HEAVY or (weight >= WEIGHTY and not news.tells_of_change)
        happened = memory.is_event and (memory.days or is_felt)
        return "stays" if happened else "replaced"
    has_come = memory.days is not None and memory.days[0] <= news.told_on
    return "came about" if has_come or news.state == "done" else "replaced"
