"""Which lines of L2 answer, judged by their own words and by what stands around them. Pure.

    line = own + 0.4·(the better neighbour) + 0.3·(own + the line before) + 0.4·(its session)

An answer rarely repeats the words of its question, and a talk about the matter has more to say about it (LoCoMo, turn
recall at 10: 0.638 by own words alone, 0.742 with the neighbourhood; design/recall.md).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

QUESTION_DISCOUNT = 0.2
MARKS_OF_A_QUESTION = ("?", "？", "吗")


@dataclass(frozen=True)
class Around:
    """What the neighbourhood weighs."""

    adjacent: float = 0.4
    pair: float = 0.3
    session: float = 0.4


def scored(
    sessions: Mapping[int, Sequence[int]], own: Mapping[int, float], talks: Mapping[int, float], around: Around
) -> dict[int, float]:
    """The score of every line.

    `sessions` holds the ids of each session's lines in the order they were said, `own` the score of a line by its own
    words (absent: 0), `talks` that of a session.

    >>> scored({1: [10, 11]}, {10: 1.0}, {}, Around())
    {10: 1.3, 11: 0.7}
    """
    found: dict[int, float] = {}
    for session, lines in sessions.items():
        talk = around.session * talks.get(session, 0.0)
        found.update(dict.fromkeys(lines, talk))
        scores = [0.0, *[own.get(line, 0.0) for line in lines], 0.0]
        told = [place for place, score in enumerate(scores) if score]
        beside = {place + step for place in told for step in (-1, 0, 1)}
        for place in beside & {*range(1, len(lines) + 1)}:
            before, score, after = scores[place - 1 : place + 2]
            near = around.adjacent * max(before, after) + around.pair * (score + before)
            found[lines[place - 1]] = score + near + talk
    return found


def is_question(line: str) -> bool:
    """Whether a line asks rather than tells.

    >>> is_question("Where did you go? "), is_question("To the sea.")
    (True, False)
    """
    return line.rstrip().endswith(MARKS_OF_A_QUESTION)


def tells(line: str) -> float:
    """What a line's score is multiplied by: one that asks holds less than one that tells."""
    return 1 - QUESTION_DISCOUNT * is_question(line)
