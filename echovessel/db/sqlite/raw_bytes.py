"""Finds byte strings in files. A program that runs as a separate process and is never imported.

SQLite's locks are POSIX locks: they belong to the process, and closing any handle of a file releases all of them. If a
process that has a database open also read the file itself, it would lose its locks; the next process to close the
database would then take itself for the last one and delete the write-ahead log that the first still uses (seen: "disk
I/O error", "database disk image is malformed").

In: {"files": [path, …], "needles": [hex, …]} as JSON. Out: {hex: [path, …]} for the needles that were found.

In: {"leftovers_of": [path, …]}. Out: {path: [text, …]}, the texts in space that no row of a database uses: see
`leftovers`.
"""

import json
import mmap
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# https://sqlite.org/fileformat2.html, sections 1.3, 1.5, 1.6 and 4
DATABASE = b"SQLite format 3\0"
LOG_MAGIC = {0x377F0682, 0x377F0683}
INNER_PAGES, LEAF_PAGES = {2, 5}, {10, 13}
LEAST_BYTES = 8
LEAST_PAGE = 512


def files_holding(files: list[str], needles: list[str]) -> dict[str, list[str]]:
    """The files that contain each needle; a missing or empty file contains none."""
    holders: dict[str, list[str]] = {}
    for path in files:
        for needle in needles_in(Path(path), needles):
            holders.setdefault(needle, []).append(path)
    return holders


def needles_in(path: Path, needles: list[str]) -> Iterator[str]:
    """Yield the needles that the file contains."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            yield from (needle for needle in needles if content.find(bytes.fromhex(needle)) >= 0)
    except (FileNotFoundError, ValueError):  # mmap refuses an empty file
        return


def leftovers(path: Path) -> Iterator[bytes]:
    """Yield the bytes of a database or write-ahead log that belong to no row: free pages; in a page the gap before its
    rows and the freed blocks between them; in the log every frame that a later one replaced. The unused end of an
    overflow page is not included. Encrypted files cannot be searched."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            if content[:16] == DATABASE:
                yield from _unused_in_database(content)
            elif _number(content[:4]) in LOG_MAGIC:
                size, salt = _number(content[8:12]), content[16:24]
                frames = [content[at : at + 24 + size] for at in range(32, len(content) - size - 23, 24 + size)]
                valid = next((at for at, frame in enumerate(frames) if frame[8:16] != salt), len(frames))
                committed = max((at + 1 for at in range(valid) if _number(frames[at][4:8])), default=0)
                newest = {_number(frames[at][:4]): at for at in range(committed)}
                for at, frame in enumerate(frames):
                    page = frame[24:]
                    number = _number(frame[:4])
                    yield from _unused_in_page(page, 100 if number == 1 else 0) if newest.get(number) == at else (page,)
    except (FileNotFoundError, ValueError):
        return


def _unused_in_database(content: Any) -> Iterator[bytes]:
    size = _number(content[16:18])
    size = 65_536 if size == 1 else size
    if size < LEAST_PAGE:
        return
    free: set[int] = set()
    trunk = _number(content[32:36])
    while trunk and trunk not in free and trunk * size <= len(content):
        free.add(trunk)
        page = content[(trunk - 1) * size : trunk * size]
        count = min(_number(page[4:8]), size // 4 - 2)
        free |= {_number(page[8 + 4 * at : 12 + 4 * at]) for at in range(count)}
        trunk = _number(page[:4])
    for number in range(1, len(content) // size + 1):
        page = content[(number - 1) * size : number * size]
        yield from (page,) if number in free else _unused_in_page(page, 100 if number == 1 else 0)


def _unused_in_page(page: bytes, header: int) -> Iterator[bytes]:
    """Yield the unused bytes of a b-tree page; nothing for any other page."""
    kind = page[header]
    if kind not in INNER_PAGES | LEAF_PAGES:
        return
    rows = _number(page[header + 3 : header + 5])
    first_row = _number(page[header + 5 : header + 7]) or 65_536
    yield page[header + (12 if kind in INNER_PAGES else 8) + 2 * rows : first_row]
    block, block_numbers = _number(page[header + 1 : header + 3]), set[int]()
    while block and block not in block_numbers and block + 4 <= len(page):
        block_numbers.add(block)
        yield page[block + 4 : block + _number(page[block + 2 : block + 4])]
        block = _number(page[block : block + 2])


def _number(number_bytes: bytes) -> int:
    return int.from_bytes(number_bytes, "big")


def leftover_texts(paths: list[str]) -> dict[str, list[str]]:
    """The leftovers of each file as text, without those that are nearly empty."""
    return {
        path: [
            text_bytes.decode(errors="replace")
            for text_bytes in leftovers(Path(path))
            if len(text_bytes.strip(b"\0")) >= LEAST_BYTES
        ]
        for path in paths
    }


if __name__ == "__main__":
    request = json.load(sys.stdin)
    json.dump(
        leftover_texts(request["leftovers_of"]) if "leftovers_of" in request else files_holding(**request), sys.stdout
    )
