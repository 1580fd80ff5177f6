"""Speed of restoring an archive that contains its vectors."""

import base64
import json
import time
from collections.abc import Iterator
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
from memory.bench.synthetic import BEGINNING, MESSAGES_PER_SESSION, TOPICS, Life

SEED = 31
NODES_PER_SESSION = 8
QUOTE_CHARACTERS = 12
MAX_NODES = 10_000


def measure(nodes: int) -> float:
    """Memories restored per second, with the sessions that they rest on: three messages each, into an empty
    database."""
    with TemporaryDirectory(prefix="echovessel-bench-") as folder, temporary_database():
        archive = Path(folder) / "archive.jsonl"
        session_count = max(1, min(nodes, MAX_NODES) // NODES_PER_SESSION)
        with archive.open("w", encoding="utf-8") as file:
            for record in archive_records(Life(SEED), session_count):
                file.write(json.dumps(record, ensure_ascii=False) + "\n")
        owner = get_user_model().objects.create_user("bench", is_active=False)
        size = archive.stat().st_size * PASSES
        with archive.open("rb") as restored, tqdm(total=size, desc="restoring", unit="B", unit_scale=True) as bar:
            started = time.perf_counter()
            import_archive(restored, owner, progress=bar.update)
            return round(session_count * NODES_PER_SESSION / (time.perf_counter() - started), 1)


def archive_records(life: Life, session_count: int) -> Iterator[dict[str, Any]]:
    """Sessions with their messages, and nodes that rest on some of these."""
    yield {"type": "header", "format": FORMAT, "version": VERSION, "embedding_model": embedding.name()}
    yield {"type": "persona", "id": "bench", "name": "Mira", "user_name": "Ana"}
    for number in range(session_count):
        topic, session = life.dice.randrange(TOPICS), f"s{number}"
        at = BEGINNING + number * timedelta(hours=7)
        yield {"type": "session", "id": session, "started_at": at.isoformat()}
        messages = [life.text(topic) for _ in range(MESSAGES_PER_SESSION)]
        for place, content in enumerate(messages):
            role = "persona" if place % 2 else "user"
            message = {
                "type": "message",
                "id": f"{session}m{place}",
                "session": session,
                "role": role,
                "content": content,
            }
            yield message | {"created_at": (at + place * timedelta(seconds=40)).isoformat()}
        places = range(0, MESSAGES_PER_SESSION, MESSAGES_PER_SESSION // NODES_PER_SESSION)
        for place, vector in zip(places, life.topic_vectors.vectors_near([topic] * NODES_PER_SESSION), strict=True):
            yield {
                "type": "node",
                "id": f"{session}n{place}",
                "kind": "event",
                "description": life.text(topic),
                "emotional_impact": life.dice.randint(-6, 8),
                "session": session,
                "messages": [f"{session}m{place}"],
                "evidence": [{"message": f"{session}m{place}", "quote": messages[place][:QUOTE_CHARACTERS]}],
                "created_at": at.isoformat(),
                "embedding": base64.b64encode(vector.astype("<f4").tobytes()).decode(),
            }
