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
ALONE = BEFORE, AFTER = "before", "after"
# These steps are measured completely; of the following ones only the requested number of turns.
WHOLE = (Status.LOOKING, Status.ASKING, Status.WRITING)
OTHERS_NODES = 1_000
QUESTIONS = 500

Waits = dict[str, list[float]]


def measure(path: Path, megabytes: int, nodes: int, count: int) -> dict[str, Any]:
    """Milliseconds to the first word, for each page, by step; and the seconds of each complete step."""
    asking = {"this persona": turns.page(0, nodes, QUESTIONS), "another": turns.page(1, OTHERS_NODES, QUESTIONS)}
    with ExitStack() as stack:
        folder = stack.enter_context(TemporaryDirectory(prefix="echovessel-bench-"))
        file = Path(folder) / "conversations.json"
        record_count = write_export(file, megabytes * MEGABYTE)
        _process, port = stack.enter_context(server.running(path, server.DAPHNE, {}))
        server.wait_for(f"http://127.0.0.1:{port}/healthz")
        conversations = stack.enter_context(_TalkingPages(f"127.0.0.1:{port}", asking))
        with server.worker(path):
            conversations.rounds(turns.WARMING, "")
            conversations.rounds(count, BEFORE)
            # The import of the file into the persona of the first page: stored and queued for the worker.
            persona = Persona.objects.get(owner__username=turns.name_of(0))
            with Source(file) as source:
                job = imports.begin(persona.owner, persona, source, datetime.now(UTC), keep=True)
            imports.enqueue(job, job.created_at)
            seconds = talk_during(conversations, job, count)
        conversations.rounds(count, AFTER)
        first_words = {name: spreads_of(page.waits) for name, page in conversations.pages.items()}
    return {
        "megabytes": megabytes,
        "lines": record_count,
        "stored": job.counts.get("lines", 0),
        "first_token_ms": first_words,
        "seconds": seconds,
        "worst_ratio": max(
            steps[step]["ratio"] for steps in first_words.values() for step in steps if step not in ALONE
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


def talk_during(talks: "_TalkingPages", job: ImportJob, limit: int) -> dict[str, float]:
    """Take turns during the import, but at most `limit` after the complete steps; returns the seconds of each complete
    step. A turn counts for the step in which it began."""
    seconds: dict[str, float] = {}
    job.refresh_from_db()
    while not job.is_over and (job.status in WHOLE or talks.rounds_of(job.status) < limit):
        began, step = time.perf_counter(), job.status
        if step == Status.ASKING:
            imports.confirm(job, imports.suggest_choices(job), datetime.now(UTC))
        else:
            talks.rounds(1, step)
            if step in WHOLE:
                seconds[step] = round(seconds.get(step, 0.0) + time.perf_counter() - began, 1)
        job.refresh_from_db()
    return seconds


def spreads_of(waits: Waits) -> dict[str, dict[str, float]]:
    """Median and 95th percentile of each step, and the ratio of the latter to that of before and after together."""
    alone = spread([*waits[BEFORE], *waits[AFTER]])["p95"]
    spreads = {step: spread(times) for step, times in waits.items()}
    return {
        step: {**times, "ratio": round(times["p95"] / alone, 2), "turns": len(waits[step])}
        for step, times in spreads.items()
    }


class _TalkingPage:
    """A page that takes turns, and its time to each first word, by step."""

    def __init__(self, socket: ClientConnection, page: turns.Page) -> None:
        self.socket = socket
        self.questions = cycle(page.questions)
        self.waits: Waits = {}

    async def turn(self, meanwhile: str) -> None:
        waited = await turns.first_word(self.socket, next(self.questions))
        await asyncio.sleep(turns.RESTING_SECONDS)
        if meanwhile:
            self.waits.setdefault(meanwhile, []).append(waited)


class _TalkingPages:
    """Pages that take turns one after the other while this context is open."""

    def __init__(self, address: str, pages: Mapping[str, turns.Page]) -> None:
        self._runner = asyncio.Runner()
        self._asking = pages
        self._address = address
        self.pages: dict[str, _TalkingPage] = {}

    def __enter__(self) -> "_TalkingPages":
        for name, page in self._asking.items():
            self.pages[name] = _TalkingPage(self._runner.run(turns.opened(self._address, page)), page)
        return self

    def __exit__(self, *_: object) -> None:
        for page in self.pages.values():
            self._runner.run(page.socket.close())
        self._runner.close()

    def rounds(self, count: int, meanwhile: str) -> None:
        for _ in tqdm(range(count), desc=meanwhile or "warming", unit="", disable=count == 1):
            for page in self.pages.values():
                self._runner.run(page.turn(meanwhile))

    def rounds_of(self, step: str) -> int:
        return min(len(page.waits.get(step, ())) for page in self.pages.values())
