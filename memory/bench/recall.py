"""How long recall takes, step by step, in a memory of a given size; and how exact its vector search is."""

import time
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from django.contrib.auth import get_user_model
from tqdm import tqdm

from chat import knobs
from echovessel import embedding
from memory import vectors
from memory.bench.made_up import NOW, Life, Size, live
from memory.models import ConceptNode, NodeVector
from memory.recall import Recall, recall
from persona.models import Persona

NEIGHBOURS = 40
WARMING = 5
EXACT_FOR = 50  # questions


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--nodes", type=int, default=10_000)
    parser.add_argument("--messages", type=int, default=30_000)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--keep", type=Path, help="make the database in this file, which stays; use what it holds")


def measured(nodes: int, messages: int, queries: int) -> dict[str, Any]:
    """Median and 95th percentile of each step in milliseconds, and the share of the exact `NEIGHBOURS` nearest that the
    search finds. Where the database holds a persona already, she is asked."""
    persona = Persona.objects.first() or live(_owner(), Size(nodes, messages))
    asking = Life(2)
    asking.topics = Life(1).topics
    questions = [asking.question() for _ in range(queries)]
    for question in questions[:WARMING]:
        _asked(persona, question)
    times = [_timed(persona, question) for question in tqdm(questions, desc="queries", unit="")]
    return {
        "nodes": ConceptNode.objects.count(),
        "messages": persona.messages.count(),
        "ms": {step: _median_and_p95([row[step] for row in times]) for step in times[0]},
        "exactness": _exactness(persona, [question[-1] for question in questions[:EXACT_FOR]]),
    }


def table(figures: Mapping[str, Any], path: Path) -> Iterator[str]:
    """The figures for people."""
    yield f"{figures['nodes']} memories, {figures['messages']} lines, {path.stat().st_size / 1e6:.0f} MB"
    yield f"{'milliseconds':28}{'median':>10}{'p95':>10}"
    for step, (median, p95) in figures["ms"].items():
        yield f"{step:28}{median:10.2f}{p95:10.2f}"
    yield f"recall@{NEIGHBOURS} of the vector search against exact: {figures['exactness']:.4f}"


def _owner() -> Any:
    return get_user_model().objects.create_user("bench", is_active=False)


def _asked(persona: Persona, question: Sequence[str]) -> Recall:
    return recall(persona, question, now=NOW, budget_tokens=knobs.recall_tokens())


def _timed(persona: Persona, question: Sequence[str]) -> Mapping[str, float]:
    """Milliseconds by step. The processor time is that of the asking thread, to which embedding does not belong."""
    started = time.thread_time()
    seen = _asked(persona, question).xray
    used = (time.thread_time() - started) * 1000
    steps = seen.elapsed_ms
    arms = {f"  {arm.name}": arm.ms for arm in seen.arms}
    together = steps["search"] + steps["load"] + steps["rank"]
    after = {"load": steps["load"], "rank": steps["rank"], "search to rank": together, "the same, processor": used}
    return {"embed": steps["embed"], "search": steps["search"], **arms, **after}


def _median_and_p95(values: Sequence[float]) -> tuple[float, float]:
    return round(float(np.median(values)), 2), round(float(np.quantile(values, 0.95)), 2)


def _exactness(persona: Persona, texts: Sequence[str]) -> float:
    """The mean share of the truly nearest nodes that `vectors.nearest` finds."""
    active = NodeVector.objects.filter(node__persona=persona, node__status=ConceptNode.Status.ACTIVE)
    stored = list(active.values_list("node_id", "embedding"))
    ids = np.array([node for node, _ in stored])
    rows = np.frombuffer(b"".join(row for _, row in stored), dtype="<f4").reshape(len(ids), -1)
    shares = []
    for asked in embedding.embed(list(texts)):
        truly = set(ids[np.argsort(-(rows @ asked), kind="stable")[:NEIGHBOURS]].tolist())
        found = {node for node, _ in vectors.nearest(persona.pk, asked, NEIGHBOURS)}
        shares.append(len(found & truly) / len(truly))
    return round(float(np.mean(shares)), 4)
