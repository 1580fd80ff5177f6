"""Time to the first word of a reply: one owner alone, then all of them together.

A separate server is started on a free port, with the offline provider and without debounce; pages are sockets. Lives
and questions are always the same, and every owner has taken a turn before the measurement, so that the model is loaded
and every owner's vectors are in memory.
"""

import asyncio
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
from django.conf import settings
from django.contrib.auth import get_user_model
from django.utils.crypto import get_random_string
from tqdm import tqdm
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Origin

from memory.bench import server
from memory.bench.synthetic import Life, Size, write_life
from persona.models import Persona

MESSAGES_PER_NODE = 3
OTHER_OWNER_NODES = 300
WARM_UP_TURNS = 3
IDLE_SECONDS = 0.5  # after this time the work that follows a turn is done


@dataclass(frozen=True)
class Page:
    """The page of a signed-in owner."""

    persona: str
    cookie: str
    questions: Sequence[str]


@dataclass(frozen=True)
class TurnFigures:
    """Measured turns: the milliseconds to the first word of each, and the server's mean processor time per turn,
    including the work after it; None if the system does not provide it."""

    name: str
    waits: Sequence[float]
    processor_ms: float | None

    @property
    def median_and_p95(self) -> tuple[float, float]:
        return float(np.median(self.waits)), float(np.quantile(self.waits, 0.95))


def measure(path: Path, owners: int, nodes: int, turns: int) -> dict[str, tuple[float, float]]:
    """Median and 95th percentile of the milliseconds from a message to the first word of its reply."""
    return {figures.name: figures.median_and_p95 for figures in time_turns(path, owners, nodes, turns)}


def time_turns(path: Path, owners: int, nodes: int, turns: int) -> list[TurnFigures]:
    """`turns` turns of the first owner alone, then as many of all owners together, on the database in `path`."""
    pages = [
        create_page(number, nodes if number == 0 else OTHER_OWNER_NODES, 2 * turns + WARM_UP_TURNS)
        for number in range(owners)
    ]
    bar = tqdm(total=turns * (owners + 1), desc="turns", unit="")
    with server.run_server(path, server.DAPHNE, {}) as (process, port), bar:
        server.wait_for(f"http://127.0.0.1:{port}/healthz")
        return asyncio.run(time_pages(f"127.0.0.1:{port}", pages, turns, partial(processor_ms_of, process.pid), bar))


def format_table(figures: Iterable[TurnFigures]) -> Iterator[str]:
    """The figures as text."""
    yield f"{'from a line to the first word':32}{'median':>10}{'p95':>10}{'processor':>12}  ms"
    for figures_of_kind in figures:
        median, p95 = figures_of_kind.median_and_p95
        spent = "-" if figures_of_kind.processor_ms is None else f"{figures_of_kind.processor_ms:.0f}"
        yield f"{figures_of_kind.name:32}{median:10.0f}{p95:10.0f}{spent:>12}"


def username_of(number: int) -> str:
    """The user name of a page's owner."""
    return f"bench-{number}"


def create_page(number: int, nodes: int, questions: int) -> Page:
    """The page of an owner with a persona of `nodes` memories, and `questions` questions; owner and persona are created
    if the database does not contain them."""
    users, name = get_user_model().objects, username_of(number)
    owner = users.filter(username=name).first() or users.create_user(name, password=get_random_string(20))
    persona = Persona.objects.filter(owner=owner).first()
    persona = persona or write_life(
        owner, Size(nodes, nodes * MESSAGES_PER_NODE), seed=number + 1, progress=number == 0
    )
    asking = Life(number + 1)
    questions_asked = [asking.question()[-1] for _ in range(questions)]
    return Page(str(persona.uuid), server.create_session_key(owner), questions_asked)


async def time_pages(
    address: str, pages: Sequence[Page], turns: int, processor_ms: Callable[[], float | None], bar: "tqdm[Any]"
) -> list[TurnFigures]:
    sockets = [await connect_page(address, page) for page in pages]
    for page, socket in zip(pages, sockets, strict=True):
        for question in page.questions[:WARM_UP_TURNS]:
            await measure_first_word(socket, question)
    both = list(zip(pages, sockets, strict=True))
    page_times = []
    for name, talking, first in (
        ("one owner alone", both[:1], WARM_UP_TURNS),
        (f"{len(both)} owners at once", both, WARM_UP_TURNS + turns),
    ):
        await asyncio.sleep(IDLE_SECONDS)
        before, waits = processor_ms(), list[float]()
        for turn in range(first, first + turns):
            waits += await asyncio.gather(
                *(measure_first_word(socket, page.questions[turn]) for page, socket in talking)
            )
            bar.update(len(talking))
        await asyncio.sleep(IDLE_SECONDS)
        after = processor_ms()
        spent = None if before is None or after is None else (after - before) / len(waits)
        page_times.append(TurnFigures(name, waits, spent))
    for socket in sockets:
        await socket.close()
    return page_times


async def connect_page(address: str, page: Page) -> ClientConnection:
    """The page's socket, open and ready."""
    cookie = {"Cookie": f"{settings.SESSION_COOKIE_NAME}={page.cookie}"}
    socket = await connect(
        f"ws://{address}/ws/chat/{page.persona}/",
        origin=Origin(f"http://{address}"),
        additional_headers=cookie,
        proxy=None,
    )
    await _event(socket, "chat.connection.ready")
    return socket


async def measure_first_word(socket: ClientConnection, question: str) -> float:
    """Milliseconds from sending a message to the first word of its reply; waits for the end of the reply."""
    started = time.perf_counter()
    await socket.send(json.dumps({"type": "message", "client_id": str(uuid4()), "content": question}))
    await _event(socket, "chat.message.token")
    waited = (time.perf_counter() - started) * 1000
    await _event(socket, "chat.message.done")
    return waited


async def _event(socket: ClientConnection, name: str) -> None:
    """Wait for an event; an error or a failed turn ends the measurement."""
    async with asyncio.timeout(server.TIMEOUT_SECONDS):
        while (event := json.loads(await socket.recv()))["event"] != name:
            if event["event"] in ("error", "chat.turn.failed"):
                raise RuntimeError(f"a turn failed: {event['data'].get('code')}")


def processor_ms_of(pid: int) -> float | None:
    """The processor time of all threads of a process, if the system provides it (Linux)."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")
