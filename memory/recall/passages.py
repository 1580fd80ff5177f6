"""Which lines of L2 answer, judged by their own words and by what stands around them. Pure.

    line = own + 0.4·(the better neighbour) + 0.3·(own + the line before) + 0.4·(its session)

An answer rarely repeats the words of its question, and a talk about the matter has more to say about it (LoCoMo, turn
recall at 10: 0.638 by own words alone, 0.742 with the neighbourhood; design/recall.md).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

QUESTION_DISCOUNT = 0.2
MARKS_OF_A_QUESTION = ("?", "？", "吗")


@dataclass(frozen=True)
class Around:
    """What the neighbourhood weighs."""

    adjacent: float = 0.4
    pair: float = 0.3
    session: float = 0.4


@dataclass(frozen=True, eq=False)
class Sessions:
    """Talks, one after another: `lines` (n,), the ids of their messages in the order they were said; `of` (n,), the
    place of each one's talk in `sessions` (t,)."""

    sessions: np.ndarray
    lines: np.ndarray
    of: np.ndarray

    @classmethod
    def told(cls, lines: Mapping[int, Sequence[int] | np.ndarray]) -> "Sessions":
        """Talks from the ids of the lines of each session."""
        number = [len(said) for said in lines.values()]
        every = np.concatenate([np.zeros(0), *lines.values()]).astype(np.int64)
        return cls(np.array([*lines], dtype=np.int64), every, np.repeat(np.arange(len(lines)), number))

    @cached_property
    def goes_on(self) -> np.ndarray:
        """(n - 1,): whether a line and the next one are of one talk."""
        return self.of[1:] == self.of[:-1]

    def before(self, values: np.ndarray, otherwise: float = 0) -> np.ndarray:
        """What each line's predecessor in its talk has of `values` (n,)."""
        return np.concatenate([[otherwise], np.where(self.goes_on, values[:-1], otherwise)])[: len(values)]

    def after(self, values: np.ndarray, otherwise: float = 0) -> np.ndarray:
        """What each line's successor in its talk has of `values` (n,)."""
        return np.concatenate([np.where(self.goes_on, values[1:], otherwise), [otherwise]])[: len(values)]


def score_messages(talks: Sessions, own: np.ndarray, worth: np.ndarray, around: Around) -> np.ndarray:
    """The score of every line (n,): `own` (n,) is that by its own words, `worth` (t,) that of each talk.

    >>> scored(Talks.told({1: [10, 11]}), np.array([1.0, 0.0]), np.zeros(1), Around())
    array([1.3, 0.7])
    """
    before = talks.before(own)
    near = around.adjacent * np.maximum(before, talks.after(own)) + around.pair * (own + before)
    return own + near + around.session * worth[talks.of]


def is_question(line: str) -> bool:
    """Whether a line asks rather than tells.

    >>> is_question("Where did you go? "), is_question("To the sea.")
    (True, False)
    """
    return line.rstrip().endswith(MARKS_OF_A_QUESTION)


def tells(line: str) -> float:
    """What a line's score is multiplied by: one that asks holds less than one that tells."""
    return 1 - QUESTION_DISCOUNT * is_question(line)
