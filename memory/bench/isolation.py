"""Whether a large neighbour changes what a small persona recalls, or how long that takes."""

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from memory.bench import recall
from memory.bench.made_up import Size
from memory.bench.recall import Question
from persona.models import Persona

SMALL = Size(nodes=300, messages=900)
SEED = 11
ROUNDS = 5


@dataclass(frozen=True)
class Asked:
    """What came to mind, question by question, and the median milliseconds without embedding: by the clock on the
    wall, and of processor time."""

    items: Sequence[Sequence[object]]
    wall_ms: float
    cpu_ms: float


def asked(persona: Persona, questions: Sequence[Question]) -> Asked:
    """Ask everything ROUNDS times; the least time of each question counts, what is more was something else's."""
    rounds = [[_timed(persona, question) for question in questions] for _ in range(ROUNDS)]
    return Asked(
        [items for items, _, _ in rounds[0]],
        statistics.median(min(walls) for walls in zip(*([wall for _, wall, _ in row] for row in rounds), strict=True)),
        statistics.median(min(times) for times in zip(*([cpu for _, _, cpu in row] for row in rounds), strict=True)),
    )


def measured(persona: Persona, questions: int, add_neighbour: Callable[[], object]) -> dict[str, Any]:
    """What a small `persona` recalls alone, and once `add_neighbour` has put a large one beside her."""
    asking = recall.questions(questions, SEED)
    alone = asked(persona, asking)
    add_neighbour()
    beside = asked(persona, asking)
    return {
        "same_results": alone.items == beside.items,
        "alone_ms": round(alone.wall_ms, 2),
        "beside_ms": round(beside.wall_ms, 2),
        "ratio": round(beside.wall_ms / alone.wall_ms, 2),
        "ratio_cpu": round(beside.cpu_ms / alone.cpu_ms, 2),
    }


def _timed(persona: Persona, question: Question) -> tuple[Sequence[object], float, float]:
    started = time.thread_time()
    found = recall.answer(persona, question.turns)
    cpu_ms = (time.thread_time() - started) * 1000
    laps = found.xray.elapsed_ms
    return [item.as_json() for item in found.items], sum(laps.values()) - laps["embed"], cpu_ms
