"""Which messages (L2) answer, by their own words and by their neighbourhood. Pure.

    message = own + 0.4·(the better neighbour) + 0.3·(own + the message before) + 0.4·(its session)

An answer rarely repeats the words of its question, but its session is about the same matter (LoCoMo, turn recall at 10:
0.638 by own words alone, 0.742 with the neighbourhood; design/recall.md).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

QUESTION_DISCOUNT = 0.2
QUESTION_MARKS = ("?", "？", "吗")


@dataclass(frozen=True)
class Around:
    """The weights of the neighbourhood."""

    adjacent: float = 0.4
    pair: float = 0.3
    session: float = 0.4


@dataclass(frozen=True, eq=False)
class Sessions:
    """Concatenated sessions: `messages` (n,), the message ids in chronological order; `of` (n,), for each message the
    position of its session in `sessions` (t,)."""

    sessions: np.ndarray
    messages: np.ndarray
    of: np.ndarray

    @classmethod
    def from_messages(cls, messages: Mapping[int, Sequence[int] | np.ndarray]) -> "Sessions":
        """Sessions from the message ids of each."""
        lengths = [len(ids) for ids in messages.values()]
        every = np.concatenate([np.zeros(0), *messages.values()]).astype(np.int64)
        return cls(np.array([*messages], dtype=np.int64), every, np.repeat(np.arange(len(messages)), lengths))

    @cached_property
    def continues(self) -> np.ndarray:
        """Whether a message and the next one are of the same session: (n - 1,)."""
        return self.of[1:] == self.of[:-1]

    def before(self, values: np.ndarray) -> np.ndarray:
        """For each message the value of its predecessor in the session; 0 if it has none."""
        return np.concatenate([[0], np.where(self.continues, values[:-1], 0)])[: len(values)]

    def after(self, values: np.ndarray) -> np.ndarray:
        """For each message the value of its successor in the session; 0 if it has none."""
        return np.concatenate([np.where(self.continues, values[1:], 0), [0]])[: len(values)]


def score_messages(sessions: Sessions, own: np.ndarray, worth: np.ndarray, around: Around) -> np.ndarray:
    """The score of every message (n,): `own` (n,) is the score by its own words, `worth` (t,) that of each session.

    >>> score_messages(Sessions.from_messages({1: [10, 11]}), np.array([1.0, 0.0]), np.zeros(1), Around())
    array([1.3, 0.7])
    """
    before = sessions.before(own)
    near = around.adjacent * np.maximum(before, sessions.after(own)) + around.pair * (own + before)
    return own + near + around.session * worth[sessions.of]


def is_question(text: str) -> bool:
    """Whether a message asks rather than states.

    >>> is_question("Where did you go? "), is_question("To the sea.")
    (True, False)
    """
    return text.rstrip().endswith(QUESTION_MARKS)


def statement_weight(text: str) -> float:
    """The factor of a message's score: a question contains less information than a statement."""
    return 1 - QUESTION_DISCOUNT * is_question(text)
