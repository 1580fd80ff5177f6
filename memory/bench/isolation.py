"""Whether a large neighbour changes what a small persona recalls, or how long that takes.

Creating the neighbour takes a minute, in which a machine may become twice as fast or slow (observed). So the processor
time of each question is given in yardsticks, a fixed piece of work done just before and after it.
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
    """The recalled items of each question; the median milliseconds without embedding, and the median processor time in
    yardsticks."""

    items: Sequence[Sequence[object]]
    wall_ms: float
    yardsticks: float


def time_questions(persona: Persona, questions: Sequence[Question]) -> Timings:
    """Ask every question ROUNDS times; the shortest time of each counts, because anything above it is due to other
    processes."""
    items: list[Sequence[object]] = []
    walls: list[list[float]] = [[] for _ in questions]
    cpus: list[list[float]] = [[] for _ in questions]
    for _ in range(ROUNDS):
        round_items: list[Sequence[object]] = []
        for question, wall, cpu in zip(questions, walls, cpus, strict=True):
            before, started = _yardstick(), time.thread_time()
            recalled = recall.answer(persona, question.turns)
            spent = time.thread_time() - started
            cpu.append(spent / ((before + _yardstick()) / 2))
            wall.append(sum(ms for step, ms in recalled.xray.elapsed_ms.items() if step != "embed"))
            round_items.append([item.as_json() for item in recalled.items])
        items = items or round_items
    return Timings(items, statistics.median(map(min, walls)), statistics.median(map(min, cpus)))


def measure(persona: Persona, questions: int, add_neighbour: Callable[[], object]) -> dict[str, Any]:
    """What a small `persona` recalls alone, and after `add_neighbour` has created a large one in the same database."""
    asking = recall.questions(questions, SEED)
    alone = time_questions(persona, asking)
    add_neighbour()
    busy_times = time_questions(persona, asking)
    return {
        "same_results": alone.items == busy_times.items,
        "alone_ms": round(alone.wall_ms, 2),
        "beside_ms": round(busy_times.wall_ms, 2),
        "ratio": round(busy_times.yardsticks / alone.yardsticks, 2),
    }


def _yardstick() -> float:
    """Seconds of processor time of a fixed piece of work that takes a few milliseconds."""
    started = time.thread_time()
    sum(number * number for number in range(YARDSTICK))
    return time.thread_time() - started
