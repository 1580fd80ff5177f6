"""Which byte strings stand in which files: a program of its own, never imported.

SQLite's locks are POSIX locks: they belong to the process, and closing any handle of a file gives up all of them. A
process that has a database open and reads its file beside that would lose its locks; the next process to close the
database would then take itself for the last one and delete the write-ahead log under the first (seen: "disk I/O
error", "database disk image is malformed").

In: {"files": [path, …], "needles": [hex, …]} as JSON. Out: {hex: [path, …]} of those that are found.
"""

import json
import mmap
import sys
from collections.abc import Iterator
from pathlib import Path


def found(files: list[str], needles: list[str]) -> dict[str, list[str]]:
    """The files that hold each needle; a file that is gone or empty holds none."""
    holders: dict[str, list[str]] = {}
    for path in files:
        for needle in held(Path(path), needles):
            holders.setdefault(needle, []).append(path)
    return holders


def held(path: Path, needles: list[str]) -> Iterator[str]:
    """Those of `needles` that stand in the file."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            yield from (needle for needle in needles if content.find(bytes.fromhex(needle)) >= 0)
    except (FileNotFoundError, ValueError):  # mmap refuses an empty file
        return


if __name__ == "__main__":
    json.dump(found(**json.load(sys.stdin)), sys.stdout)
