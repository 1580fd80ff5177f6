"""Time to the first word of a reply while a large file is imported, compared with before and after.

Web server and job worker run as under `up`, with the offline provider, which answers immediately. Two pages take turns:
that of the persona that imports the file, and one of another owner. First the worker is idle; then it analyzes the
file, stores it and, as long as is measured, consolidates it. At the end the worker has stopped, so that only the cost
of the larger memory remains.
"""

import asyncio
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from datetime import UTC, datetime
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tqdm import tqdm
from websockets.asyncio.client import ClientConnection

from memory import imports
from memory.bench import server, turns
from memory.bench.figures import spread
from memory.bench.imports import MEGABYTE, write_export
from memory.imports.readers import Source
from memory.models import ImportJob
from persona.models import Persona

Status = ImportJob.Status
IDLE_STEPS = BEFORE, AFTER = "before", "after"
# These steps are measured completely; of the following ones only the requested number of turns.
COMPLETE_STEPS = (Status.LOOKING, Status.ASKING, Status.WRITING)
OTHER_OWNER_NODES = 1_000
QUESTIONS = 500

Waits = dict[str, list[float]]


def measure(path: Path, megabytes: int, nodes: int, count: int) -> dict[str, Any]:
    """Milliseconds to the first word, for each page, by step; and the seconds of each complete step."""
    pages_by_name = {
        "this persona": turns.create_page(0, nodes, QUESTIONS),
        "another": turns.create_page(1, OTHER_OWNER_NODES, QUESTIONS),
    }
    with ExitStack() as stack:
        folder = stack.enter_context(TemporaryDirectory(prefix="echovessel-bench-"))
        file = Path(folder) / "conversations.json"
        record_count = write_export(file, megabytes * MEGABYTE)
        _process, port = stack.enter_context(server.run_server(path, server.DAPHNE, {}))
        server.wait_for(f"http://127.0.0.1:{port}/healthz")
        conversations = stack.enter_context(_TimedPages(f"127.0.0.1:{port}", pages_by_name))
        with server.run_worker(path):
            conversations.rounds(turns.WARM_UP_TURNS, "")
            conversations.rounds(count, BEFORE)
            # The import of the file into the persona of the first page: stored and queued for the worker.
            persona = Persona.objects.get(owner__username=turns.username_of(0))
            with Source(file) as source:
                job = imports.begin(persona.owner, persona, source, datetime.now(UTC), keep=True)
            imports.enqueue(job, job.created_at)
            seconds = take_turns_during(conversations, job, count)
        conversations.rounds(count, AFTER)
        first_word_figures = {name: summarize_waits(page.waits) for name, page in conversations.pages.items()}
    return {
        "megabytes": megabytes,
        "lines": record_count,
        "stored": job.counts.get("lines", 0),
        "first_token_ms": first_word_figures,
        "seconds": seconds,
        "worst_ratio": max(
            steps[step]["ratio"] for steps in first_word_figures.values() for step in steps if step not in IDLE_STEPS
        ),
    }


def format_table(figures: Mapping[str, Any]) -> Iterator[str]:
    """The figures as text."""
    yield f"{figures['megabytes']} MB, {figures['lines']} lines, {figures['stored']} of them stored"
    yield f"{'from a line to the first word':36}{'median':>10}{'p95':>10}{'ratio':>10}{'turns':>10}"
    for name, steps in figures["first_token_ms"].items():
        for step, ms in steps.items():
            yield f"{f'{name}, {step}':36}{ms['p50']:10.0f}{ms['p95']:10.0f}{ms['ratio']:10.2f}{ms['turns']:10}"
    yield ", ".join(f"{step} took {seconds:.0f} s" for step, seconds in figures["seconds"].items())
    yield f"at the 95th percentile at most {figures['worst_ratio']:.2f} times as long as alone"


def take_turns_during(pages: "_TimedPages", job: ImportJob, limit: int) -> dict[str, float]:
    """Take turns during the import, but at most `limit` after the complete steps; returns the seconds of each complete
    step. A turn counts for the step in which it began."""
    seconds: dict[str, float] = {}
    job.refresh_from_db()
    while not job.is_over and (job.status in COMPLETE_STEPS or pages.count_rounds(job.status) < limit):
        began, step = time.perf_counter(), job.status
        if step == Status.ASKING:
            imports.confirm(job, imports.suggest_choices(job), datetime.now(UTC))
        else:
            pages.rounds(1, step)
            if step in COMPLETE_STEPS:
                seconds[step] = round(seconds.get(step, 0.0) + time.perf_counter() - began, 1)
        job.refresh_from_db()
    return seconds


def summarize_waits(waits: Waits) -> dict[str, dict[str, float]]:
    """Median and 95th percentile of each step, and the ratio of the latter to that of before and after together."""
    alone = spread([*waits[BEFORE], *waits[AFTER]])["p95"]
    spreads = {step: spread(times) for step, times in waits.items()}
    return {
        step: {**times, "ratio": round(times["p95"] / alone, 2), "turns": len(waits[step])}
        for step, times in spreads.items()
    }


class _TimedPage:
    """A page that takes turns, and its time to each first word, by step."""

    def __init__(self, socket: ClientConnection, page: turns.Page) -> None:
        self.socket = socket
        self.questions = cycle(page.questions)
        self.waits: Waits = {}

    async def take_turn(self, step: str) -> None:
        waited = await turns.measure_first_word(self.socket, next(self.questions))
        await asyncio.sleep(turns.IDLE_SECONDS)
        if step:
            self.waits.setdefault(step, []).append(waited)


class _TimedPages:
    """Pages that take turns one after the other while this context is open."""

    def __init__(self, address: str, pages: Mapping[str, turns.Page]) -> None:
        self._runner = asyncio.Runner()
        self._pages_by_name = pages
        self._address = address
        self.pages: dict[str, _TimedPage] = {}

    def __enter__(self) -> "_TimedPages":
        for name, page in self._pages_by_name.items():
            self.pages[name] = _TimedPage(self._runner.run(turns.connect_page(self._address, page)), page)
        return self

    def __exit__(self, *_: object) -> None:
        for page in self.pages.values():
            self._runner.run(page.socket.close())
        self._runner.close()

    def rounds(self, count: int, step: str) -> None:
        for _ in tqdm(range(count), desc=step or "warming", unit="", disable=count == 1):
            for page in self.pages.values():
                self._runner.run(page.take_turn(step))

    def count_rounds(self, step: str) -> int:
        return min(len(page.waits.get(step, ())) for page in self.pages.values())
