"""Time of recall, step by step, in a memory of a given size; and the exactness of its vector search.

One question in five asks about certain days; half of the others are one message, half include the three before it.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from django.contrib.auth import get_user_model
from django.db import transaction
from tqdm import tqdm

from chat import knobs
from echovessel.embeddings import embedding
from memory.bench.figures import spread
from memory.bench.synthetic import NOW, Life, Size, write_life
from memory.models import ConceptNode, NodeVector
from memory.recall import Recall, prepare, recall
from memory.store import vectors
from persona.models import Persona

NEIGHBOURS = 40
WARM_UP_QUESTIONS = 5
EXACT_QUESTIONS = 50
DATED_EVERY = 5


@dataclass(frozen=True)
class Question:
    """Messages to recall for, oldest first; `kind` is the table in which it counts."""

    kind: str
    turns: Sequence[str]


def measure(nodes: int, messages: int, queries: int) -> dict[str, Any]:
    """The figures of `time_recall` and `exactness`. If the database already contains a persona, they are measured with
    it."""
    persona = Persona.objects.first() or write_life(
        get_user_model().objects.create_user("bench", is_active=False), Size(nodes, messages)
    )
    sample = questions(queries)
    counts = {"nodes": ConceptNode.objects.of(persona).count(), "messages": persona.messages.count()}
    return counts | {"ms": time_recall(persona, sample)} | exactness(persona, sample)


def questions(count: int, seed: int = 1) -> list[Question]:
    """Questions about the topics of the life that `seed` generates, always the same."""
    asking = Life(seed + 1)
    asking.topics = Life(seed).topics
    sample = []
    for number in range(count):
        is_dated = number % DATED_EVERY == DATED_EVERY - 1
        turns = asking.question(dated=is_dated)
        kind = "with days" if is_dated else "several lines" if number % 2 else "one line"
        sample.append(Question(kind, turns if kind == "several lines" else turns[-1:]))
    return sample


def time_recall(
    persona: Persona, sample: Sequence[Question], *, warming: int = WARM_UP_QUESTIONS
) -> dict[str, dict[str, Any]]:
    """Median and 95th percentile of each step in milliseconds: of all questions, and of each kind."""
    prepare(persona.pk)
    for question in sample[:warming]:
        answer(persona, question.turns)
    rows: list[tuple[str, dict[str, float]]] = []
    for question in tqdm(sample, desc="questions", unit=""):
        # Processor time of this thread, which excludes embedding.
        started = time.thread_time()
        recalled = answer(persona, question.turns)
        used = (time.thread_time() - started) * 1000
        xray = recalled.xray
        laps = dict(xray.elapsed_ms)
        embed, rank = laps.pop("embed"), laps.pop("rank")
        search = sum(laps.values())
        arms = {f"  {arm.name}": arm.ms for arm in xray.arms}
        together = {"without_embed": search + rank, "without_embed_cpu": used}
        rows.append((question.kind, {"embed": embed, "search": search, **arms, "rank": rank, **together}))
    figures = {"all": _spreads([row for _, row in rows])}
    for kind in dict.fromkeys(kind for kind, _ in rows):
        figures[kind] = _spreads([row for other, row in rows if other == kind])
    return figures


def answer(persona: Persona, turns: Sequence[str]) -> Recall:
    """The recall for these messages at the end of the synthetic life."""
    return recall(persona, turns, now=NOW, budget_tokens=knobs.recall_tokens())


def exactness(persona: Persona, sample: Sequence[Question]) -> dict[str, float]:
    """The share of the nearest NEIGHBOURS that a search finds: as configured here, and in two passes through the
    database, as when there is no room for the vectors in memory."""
    rows = embedding.embed([question.turns[-1] for question in sample[:EXACT_QUESTIONS]])
    active = NodeVector.objects.filter(node__persona=persona, node__status=ConceptNode.Status.ACTIVE)
    node_vectors = list(active.values_list("node_id", "embedding"))
    ids = np.array([node for node, _ in node_vectors])
    matrix = np.frombuffer(b"".join(vector for _, vector in node_vectors), dtype="<f4").reshape(len(ids), -1)
    exact_neighbours = [set(ids[np.argsort(-(matrix @ row), kind="stable")[:NEIGHBOURS]].tolist()) for row in rows]
    as_set = _share(persona, rows, exact_neighbours)
    with transaction.atomic():  # in which the vectors in memory are not used
        return {"exactness": as_set, "exactness_in_two_passes": _share(persona, rows, exact_neighbours)}


def format_table(figures: Mapping[str, Any], path: Path) -> Iterator[str]:
    """The figures as text."""
    yield f"{figures['nodes']} memories, {figures['messages']} lines, {path.stat().st_size / 1e6:.0f} MB"
    for kind, steps in figures["ms"].items():
        yield f"{f'milliseconds, {kind}':28}{'median':>10}{'p95':>10}"
        for step, value in steps.items():
            yield f"{step:28}{value['p50']:10.2f}{value['p95']:10.2f}"
    yield f"recall@{NEIGHBOURS} of the vector search against exact: {figures['exactness']:.4f}"
    yield f"the same in two passes through the database: {figures['exactness_in_two_passes']:.4f}"


def _spreads(rows: Sequence[Mapping[str, float]]) -> dict[str, Any]:
    return {step: spread([row[step] for row in rows]) for step in rows[0]}


def _share(persona: Persona, query_vectors: np.ndarray, exact_neighbours: Sequence[set[int]]) -> float:
    """The mean share of the nearest neighbours that `vectors.nearest` finds."""
    nearest = [{node for node, _ in vectors.nearest(persona.pk, row, NEIGHBOURS)} for row in query_vectors]
    shares = [len(near & best) / len(best) for near, best in zip(nearest, exact_neighbours, strict=True)]
    return round(float(np.mean(shares)), 4)
