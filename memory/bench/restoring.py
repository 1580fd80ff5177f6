"""How fast an archive is restored that brings its vectors along."""

import base64
import json
import time
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.contrib.auth import get_user_model
from tqdm import tqdm

from echovessel.db.sqlite.temporary import temporary_database
from echovessel.embeddings import embedding
from memory.archive import import_archive
from memory.archive.read import PASSES
from memory.archive.schema import FORMAT, VERSION
from memory.bench.synthetic import BEGINNING, LINES_A_TALK, TOPICS, Life

SEED = 31
NODES_A_TALK = 8
QUOTED = 12
MOST_NODES = 10_000


def measure(nodes: int) -> float:
    """Memories restored in a second, with the talks that they rest on: three lines for each, in an empty database."""
    with TemporaryDirectory(prefix="echovessel-bench-") as folder, temporary_database():
        archive = Path(folder) / "archive.jsonl"
        count = _write(archive, nodes)
        owner = get_user_model().objects.create_user("bench", is_active=False)
        size = archive.stat().st_size * PASSES
        with archive.open("rb") as file, tqdm(total=size, desc="restoring", unit="B", unit_scale=True) as bar:
            started = time.perf_counter()
            import_archive(file, owner, progress=bar.update)
            return round(count / (time.perf_counter() - started), 1)


def _write(path: Path, nodes: int) -> int:
    """Write an archive of about so many memories; how many they are."""
    life = Life(SEED)
    talks = max(1, min(nodes, MOST_NODES) // NODES_A_TALK)
    with path.open("w", encoding="utf-8") as file:
        for record in (*_heading(), *(line for number in range(talks) for line in _talk(life, number))):
            file.write(json.dumps(record, ensure_ascii=False) + "\n")
    return talks * NODES_A_TALK


def _heading() -> Iterator[dict[str, Any]]:
    yield {"type": "header", "format": FORMAT, "version": VERSION, "embedding_model": embedding.name()}
    yield {"type": "persona", "id": "bench", "name": "Mira", "user_name": "Ana"}


def _talk(life: Life, number: int) -> Iterator[dict[str, Any]]:
    """A talk, its lines, and memories that rest on some of them."""
    topic, session = life.dice.randrange(TOPICS), f"s{number}"
    at = BEGINNING + number * timedelta(hours=7)
    yield {"type": "session", "id": session, "started_at": at.isoformat()}
    lines = [life.line(topic) for _ in range(LINES_A_TALK)]
    for place, line in enumerate(lines):
        role = "persona" if place % 2 else "user"
        said = {"type": "message", "id": f"{session}m{place}", "session": session, "role": role, "content": line}
        yield said | {"created_at": (at + place * timedelta(seconds=40)).isoformat()}
    yield from _memories(life, topic, session, lines, at.isoformat())


def _memories(life: Life, topic: int, session: str, lines: Sequence[str], at: str) -> Iterator[dict[str, Any]]:
    step = LINES_A_TALK // NODES_A_TALK
    for place, vector in zip(range(0, LINES_A_TALK, step), life.meanings.around([topic] * NODES_A_TALK), strict=True):
        message = f"{session}m{place}"
        yield {
            "type": "node",
            "id": f"{session}n{place}",
            "kind": "event",
            "description": life.line(topic),
            "emotional_impact": life.dice.randint(-6, 8),
            "session": session,
            "messages": [message],
            "evidence": [{"message": message, "quote": lines[place][:QUOTED]}],
            "created_at": at,
            "embedding": base64.b64encode(vector.astype("<f4").tobytes()).decode(),
        }
