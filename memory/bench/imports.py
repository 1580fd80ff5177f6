"""Time and memory of importing a large file: years of conversations as exported by another service.

Consolidation is not included: its time is that of the model.
"""

import json
import random
import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.contrib.auth import get_user_model

from memory import imports, knobs
from memory.imports import runner
from memory.imports.readers import Source
from memory.models import ImportJob
from persona.onboarding.creation import create_persona

MEGABYTE = 1024**2
SEED = 7
MESSAGES_PER_SESSION = 40
BEGINNING = datetime(2023, 1, 2, 9, tzinfo=UTC).timestamp()
_WORDS = (
    "the",
    "a",
    "sea",
    "harbour",
    "bread",
    "remember",
    "yesterday",
    "sister",
    "walked",
    "because",
    "never",
    "again",
    "light",
    "window",
    "quiet",
    "你好",
    "今天",
)


def measure(database: Path, megabytes: int) -> dict[str, float]:
    """Generate the file, upload it, analyze it and store its messages. Seconds, MB, messages per second."""
    owner = get_user_model().objects.create_user("bench", is_active=False)
    persona = create_persona(owner, "Mira", user_name="Ana")
    with TemporaryDirectory(prefix="echovessel-bench-") as folder:
        path = Path(folder) / "conversations.json"
        record_count = write_export(path, megabytes * MEGABYTE)
        before, figures = _peak(), {"megabytes": round(path.stat().st_size / MEGABYTE, 1), "lines": float(record_count)}
        with Source(path) as source, timing(figures, "handed_over_s"):
            job = imports.begin(owner, persona, source, datetime.now(UTC), keep=True)
    with timing(figures, "looked_through_s"):
        runner.run(job.pk)
    job.refresh_from_db()
    imports.confirm(job, imports.suggest_choices(job), job.created_at)
    with timing(figures, "stored_s"):
        while job.status == ImportJob.Status.WRITING:  # in slices, as the worker does
            runner.run(job.pk, slice_seconds=knobs.import_slice_seconds(), through=ImportJob.Status.WRITING)
            job.refresh_from_db()
    job.refresh_from_db()
    figures["stored"] = job.counts.get("lines", 0)
    figures["lines_a_second"] = round(figures["stored"] / figures["stored_s"], 1)
    figures["rss_mb"], figures["rss_more_mb"] = _peak(), round(_peak() - before, 1)
    figures["database_mb"] = round(database.stat().st_size / MEGABYTE, 1)
    return figures


def format_table(figures: dict[str, float]) -> list[str]:
    return [f"{name:>18} {value:>12,}" for name, value in figures.items()]


@contextmanager
def timing(figures: dict[str, float], name: str) -> Iterator[None]:
    """Record the seconds of the block."""
    started = time.perf_counter()
    yield
    figures[name] = round(time.perf_counter() - started, 1)


def _peak() -> float:
    """The peak memory of this process in MB. `getrusage` starts with the peak of the parent process, so it is used only
    if the system offers nothing better."""
    status = Path("/proc/self/status")
    status_lines = status.read_text().splitlines() if status.exists() else []
    kilobytes = (int(status_line.split()[1]) for status_line in status_lines if status_line.startswith("VmHWM"))
    return round(next(kilobytes, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) / 1024, 1)


# --- a synthetic file -------------------------------------------------------------------------------------------------
def write_export(path: Path, size: int) -> int:
    """Write an export of about `size` bytes; returns the number of its messages."""
    dice, number = random.Random(SEED), 0
    with path.open("w", encoding="utf-8") as file:
        file.write("[")
        while file.tell() < size:
            at, last = BEGINNING + number * 7_200, f"{number}-{MESSAGES_PER_SESSION - 1}"
            conversation = {"title": f"Talk {number}", "id": f"c{number}", "create_time": at}
            conversation |= {"mapping": dict(export_nodes(dice, number)), "current_node": last}
            file.write("," * bool(number) + json.dumps(conversation, ensure_ascii=False))
            number += 1
        file.write("]")
    return number * MESSAGES_PER_SESSION


def export_nodes(dice: random.Random, number: int) -> Iterator[tuple[str, dict[str, Any]]]:
    for place in range(MESSAGES_PER_SESSION):
        key = f"{number}-{place}"
        words = " ".join(dice.choices(_WORDS, k=dice.randint(8, 120)))
        message = {
            "id": key,
            "author": {"role": "assistant" if place % 2 else "user"},
            "create_time": BEGINNING + number * 7_200 + place * 30,
            "content": {"content_type": "text", "parts": [words]},
            "metadata": {"model_slug": "made-up", "request_id": f"{dice.getrandbits(128):032x}"},
        }
        parent, child = f"{number}-{place - 1}" if place else None, f"{number}-{place + 1}"
        yield key, {"id": key, "message": message, "parent": parent, "children": [child]}
