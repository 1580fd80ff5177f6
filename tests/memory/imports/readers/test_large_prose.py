"""Diaries, tables, records and memories of any size are read in little memory."""

import itertools
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path

import pytest

MB = 1024**2
WORDS = "It rained, 我们待在家里, and the day went by. " * 8
# Reads the file in a process of its own and prints the number of items and the memory taken beyond the first item.
READING = """
import resource, sys
import django
django.setup()
from pathlib import Path
from memory.imports.readers import Source, format_named
from memory.imports.readers.fields import Mapping
from memory.imports.readers.types import Options, Skipped, FileSession
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
weight = lambda item: len(item.lines) if isinstance(item, FileSession) else 1
mapping = Mapping(text="content", speaker="role", records="item") if sys.argv[2] == "mapped" else None
with Source(Path(sys.argv[1])) as source:
    items = format_named(sys.argv[2]).read(source, Options(mapping=mapping))
    count = weight(next(items))
    before = peak()
    count += sum(weight(item) for item in items if not isinstance(item, Skipped))
print(count, (peak() - before) // 1024)
"""


def diary() -> Iterator[str]:
    for number in itertools.count():
        yield f"{date(1, 1, 1) + timedelta(days=number % 3_000_000)}\n\n{WORDS}{number}\n\n"


def table() -> Iterator[str]:
    yield from (f"2024-01-05 21:05:00,Ana,{number} {WORDS.replace(',', '')}\n" for number in itertools.count())


def records() -> Iterator[str]:
    yield json.dumps({"role": "user", "content": WORDS})
    yield from itertools.repeat("," + json.dumps({"role": "user", "content": WORDS}))


def memories() -> Iterator[str]:
    memory = {"type": "fact", "content": WORDS, "temporal": {"created_at": "2024-01-05T00:00:00Z"}}
    yield json.dumps({"id": "0", **memory})
    yield from ("," + json.dumps({"id": str(number), **memory}) for number in itertools.count(1))


KINDS = {
    "journal": ("", diary(), ""),
    "table": ("date,from,text\n", table(), ""),
    "mapped": ("[", records(), "]"),
    "portable_ai_memory": ('{"schema": "portable-ai-memory", "schema_version": "1.0", "memories": [', memories(), "]}"),
}


def write_file(path: Path, kind: str, size: int) -> int:
    """Write a file of at least `size` bytes; return how many items it holds."""
    begin, parts, end = KINDS[kind]
    with path.open("w", encoding="utf-8") as file:
        file.write(begin)
        count = 0
        while file.tell() < size:
            file.write(next(parts))
            count += 1
        file.write(end)
    return count


@pytest.mark.campaign
@pytest.mark.parametrize("kind", KINDS)
def test_sixty_megabytes_are_read_in_little_memory(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "large.txt"
    count = write_file(path, kind, 60 * MB)
    began = time.monotonic()
    process = subprocess.run(
        [sys.executable, "-c", READING, str(path), kind], capture_output=True, text=True, check=False
    )
    assert process.returncode == 0, process.stderr
    item_count, more_mb = map(int, process.stdout.split())
    print(f"{kind}: {item_count} found, {more_mb} MB more, {time.monotonic() - began:.0f} s")  # noqa: T201
    assert item_count == count
    assert more_mb < 16
