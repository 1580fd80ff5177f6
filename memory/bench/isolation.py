"""Whether a large neighbour changes what a small persona recalls, or how long that takes.

Making the neighbour takes a minute, in which a machine may become twice as fast or slow (it was seen). So each
question's processor time is told in lengths of a yardstick, a fixed piece of work done just before and after it.
"""

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from memory.bench import recall
from memory.bench.recall import Question
from memory.bench.synthetic import Size
from persona.models import Persona

SMALL = Size(nodes=300, messages=900)
SEED = 11
ROUNDS = 5
YARDSTICK = 50_000


@dataclass(frozen=True)
class Timings:
    """What came to mind, question by question, and in the median the milliseconds without embedding, and the processor
    time in yardsticks."""

    items: Sequence[Sequence[object]]
    wall_ms: float
    yardsticks: float


def time_questions(persona: Persona, questions: Sequence[Question]) -> Timings:
    """Ask everything ROUNDS times; the least time of each question counts, what is more was something else's."""
    rounds = [[_timed(persona, question) for question in questions] for _ in range(ROUNDS)]
    return Timings(
        [items for items, _, _ in rounds[0]],
        statistics.median(min(walls) for walls in zip(*([wall for _, wall, _ in row] for row in rounds), strict=True)),
        statistics.median(min(times) for times in zip(*([cpu for _, _, cpu in row] for row in rounds), strict=True)),
    )


def measure(persona: Persona, questions: int, add_neighbour: Callable[[], object]) -> dict[str, Any]:
    """What a small `persona` recalls alone, and once `add_neighbour` has put a large one beside her."""
    asking = recall.questions(questions, SEED)
    alone = time_questions(persona, asking)
    add_neighbour()
    beside = time_questions(persona, asking)
    return {
        "same_results": alone.items == beside.items,
        "alone_ms": round(alone.wall_ms, 2),
        "beside_ms": round(beside.wall_ms, 2),
        "ratio": round(beside.yardsticks / alone.yardsticks, 2),
    }


def _timed(persona: Persona, question: Question) -> tuple[Sequence[object], float, float]:
    before = _yardstick()
    started = time.thread_time()
    found = recall.answer(persona, question.turns)
    taken = time.thread_time() - started
    laps = found.xray.elapsed_ms
    return (
        [item.as_json() for item in found.items],
        sum(laps.values()) - laps["embed"],
        taken / ((before + _yardstick()) / 2),
    )


def _yardstick() -> float:
    """Seconds of processor time for a fixed piece of work, some milliseconds long."""
    started = time.thread_time()
    sum(number * number for number in range(YARDSTICK))
    return time.thread_time() - started
