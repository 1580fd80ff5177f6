"""The whole benchmark, each part in a database of its own: the bench of design/archive.md, and further parts."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.contrib.auth import get_user_model
from django.db import connections

from echovessel.db.sqlite.temporary import temporary_database
from memory.bench import archive_restore, isolation, many_personas, recall, server, turns, yardstick
from memory.bench.figures import Spread
from memory.bench.synthetic import Size, write_life
from persona.models import Persona

# The owner whom memory.bench.turns measures alone, so that the large persona is created only once.
OWNER = turns.username_of(0)
ISOLATION_PART = 5  # one in this many questions is asked of the small persona, several times
STEPS = ("embed", "search", "rank", "without_embed")


@dataclass(frozen=True)
class Scale:
    """The sizes and numbers of the benchmark."""

    nodes: int = 10_000
    messages: int = 30_000
    personas: int = 200
    queries: int = 200
    owners: int = 20
    turns: int = 10


def measure(scale: Scale) -> dict[str, Any]:
    """The figures. Times are in milliseconds, unless the name has another unit; `multiples` are the same times in
    yardsticks measured at that minute, for comparison with another day or machine."""
    with temporary_database() as path:
        # A small persona alone, then a large one beside it.
        users = get_user_model().objects
        small = write_life(users.create_user("bench-small", is_active=False), isolation.SMALL, seed=isolation.SEED)
        owner = users.create_user(OWNER)
        neighbour = isolation.measure(
            small, max(1, scale.queries // ISOLATION_PART), lambda: write_life(owner, Size(scale.nodes, scale.messages))
        )
        large = Persona.objects.get(owner=owner)
        questions = recall.questions(scale.queries)
        times, exact = recall.time_recall(large, questions), recall.exactness(large, questions)
        yardstick_ms = yardstick.measure(large)
        counts = {"nodes": large.nodes.count(), "messages": large.messages.count()}
        connections.close_all()  # closing the last connection writes the log into the file
        figures = {
            **counts,
            "recall_ms": {step: times["all"][step] for step in STEPS},
            "recall_ms_by_question": {
                kind: {step: steps[step] for step in STEPS} for kind, steps in times.items() if kind != "all"
            },
            "without_embed_cpu_ms": times["all"]["without_embed_cpu"],
            "vector_recall_at_40_vs_exact": exact["exactness"],
            "vector_recall_at_40_in_two_passes": exact["exactness_in_two_passes"],
            "isolation": neighbour,
        }
        figures |= {"yardstick_ms": yardstick_ms, "multiples": yardstick.multiples(figures, yardstick_ms)}
        # The machine may be slower by now: the following parts have a yardstick of their own.
        later = {
            "database_mb": round(path.stat().st_size / 1e6, 1),
            "rss_mb": server.rss_mb(path, large, questions[0].turns[-1]),
            **dict(zip(("check_s", "check_cpu_s"), server.check_seconds(path), strict=True)),
            "first_page_s": server.start_seconds(path),
            **first_word_figures(path, scale),
        }
        yardstick_later_ms = yardstick.measure(large)
        figures |= later | {"yardstick_later_ms": yardstick_later_ms}
        figures["multiples"] |= yardstick.multiples(later, yardstick_later_ms)
    return figures | {
        "import_nodes_per_s": archive_restore.measure(scale.nodes),
        "crowd": many_personas.measure(scale.personas),
    }


def format_table(figures: Mapping[str, Any]) -> Iterator[str]:
    """The figures as text."""
    yield f"{figures['nodes']} memories, {figures['messages']} lines"
    times = figures["multiples"]
    yield f"{'milliseconds (and yardsticks)':36}{'median':>20}{'p95':>20}"
    for step, value in figures["recall_ms"].items():
        yield _row(step.replace("_", " "), value, times["recall"][step])
    for kind, steps in figures["recall_ms_by_question"].items():
        of_kind = times["recall_by_question"][kind]["without_embed"]
        yield _row(f"  without embed, {kind}", steps["without_embed"], of_kind)
    yield _row("processor time without embed", figures["without_embed_cpu_ms"], times["without_embed_cpu"])
    yield _row("first token, one owner", figures["first_token_ms"], times["first_token"])
    together = f"first token, {figures['owners']} owners at once"
    yield _row(together, figures["first_token_together_ms"], times["first_token_together"])
    yield (
        f"yardstick, one exact search of vec0 for {yardstick.NEIGHBOURS}: {figures['yardstick_ms']:.2f} ms, "
        f"for first tokens and what follows {figures['yardstick_later_ms']:.2f} ms"
    )
    exact, passes = figures["vector_recall_at_40_vs_exact"], figures["vector_recall_at_40_in_two_passes"]
    yield f"vector search, recall@40 against exact: {exact:.4f}; in two passes through the database: {passes:.4f}"
    neighbour = figures["isolation"]
    crowd = figures["crowd"]
    same = "the same results" if neighbour["same_results"] else "OTHER RESULTS"
    yield (
        f"a small persona alone {neighbour['alone_ms']:.2f} ms, "
        f"beside this one {neighbour['beside_ms']:.2f} ms, {same}: "
        f"{neighbour['ratio']:.2f} times as long"
    )
    yield (
        f"{crowd['personas']} personas of {many_personas.NODES_PER_PERSONA} memories: {crowd['many_mb']:.1f} MB, "
        f"{crowd['ratio']:.2f} times as much as of one persona with all of them"
    )
    yield f"import: {figures['import_nodes_per_s']:.0f} memories a second, with their talks and given vectors"
    yield f"database: {figures['database_mb']:.0f} MB; server after its first turn: {figures['rss_mb']:.0f} MB"
    yield f"check: {figures['check_s']:.2f} s ({figures['check_cpu_s']:.2f} s of processor time)"
    yield f"from start to first page: {figures['first_page_s']:.2f} s"


def first_word_figures(path: Path, scale: Scale) -> dict[str, Any]:
    """Time to the first word; the owner measured alone is the one with the large persona."""
    alone, *_, together = turns.measure(path, scale.owners, scale.nodes, scale.turns).values()
    return {
        "first_token_ms": _spread(*alone),
        "owners": scale.owners,
        "first_token_together_ms": _spread(*together),
    }


def _spread(median: float, p95: float) -> Spread:
    return {"p50": round(median, 1), "p95": round(p95, 1)}


def _row(title: str, value: Mapping[str, float], times: Mapping[str, float]) -> str:
    return f"{title:36}" + "".join(f"{value[name]:10.2f} ({times[name]:6.2f}×)" for name in ("p50", "p95"))
