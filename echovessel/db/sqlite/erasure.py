"""Erasing deleted rows for good, and checking a database file for what is left of them.

`PRAGMA secure_delete` overwrites freed space. It is not enough: when SQLite balances a b-tree, it moves rows to sibling
pages and leaves their old bytes in the gap between the pointers and the rows of the page, where no later deletion
overwrites them. (3,000 rows in two tables with two text indexes, a tenth deleted, with secure_delete and a complete
checkpoint: in 4 of 16 databases words of deleted rows remained in the file; 2026-11-21.) VACUUM rewrites every page. So
deleted rows are only erased after a VACUUM and a checkpoint that empties the write-ahead log.

    vacuum(connection, memory_mb=256)         # every page anew
    checkpoint(connection)                    # True: the log is empty, the file holds what there is and nothing else
    traces(files(connection), forms("小黑"))  # {"小黑" in UTF-8: [database file], …}: for proofs alone
"""

import html
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from django.db.backends.base.base import BaseDatabaseWrapper

# How long one try of a checkpoint waits for readers, and the number of tries.
PATIENCE_MS = 2_000
TRIES = 3
# Of a long text only windows of this size are searched: a page of the file may hold a part of the text.
WINDOW = 32
RAW_BYTES = Path(__file__).with_name("raw_bytes.py")


def files(connection: BaseDatabaseWrapper) -> list[Path]:
    """The existing files of a database: the file itself, its write-ahead log and the log's index."""
    name = os.fspath(connection.settings_dict["NAME"])
    return [path for suffix in ("", "-wal", "-shm") if (path := Path(f"{name}{suffix}")).is_file()]


def size_mb(connection: BaseDatabaseWrapper) -> float:
    """The size of the database without its log, in millions of bytes."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")
        return float(cursor.fetchone()[0]) / 1_000_000


def checkpoint(connection: BaseDatabaseWrapper) -> bool:
    """Copy the write-ahead log into the file and empty it. False if other connections read or write all the time. Not
    inside a transaction."""
    with connection.cursor() as cursor, _pragma(connection, "busy_timeout", PATIENCE_MS):
        for _ in range(TRIES):
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            if not cursor.fetchone()[0]:
                return True
    return False


def vacuum(connection: BaseDatabaseWrapper, memory_mb: float) -> None:
    """Rewrite every page: in memory up to `memory_mb`, a larger database through a temporary file beside it. An
    encrypted database always uses memory, because such a temporary file is not encrypted.

    It briefly needs twice the database's size on disk. Not inside a transaction. Raises OperationalError if others
    write all the time or there is no space.
    """
    has_key = bool(connection.settings_dict["OPTIONS"].get("key"))
    if has_key or size_mb(connection) <= memory_mb:
        _vacuum(connection, "MEMORY")
    else:
        os.environ["SQLITE_TMPDIR"] = str(files(connection)[0].parent)  # SQLite reads it when it opens such a file
        _vacuum(connection, "FILE")


def _vacuum(connection: BaseDatabaseWrapper, through: str) -> None:
    with connection.cursor() as cursor, _pragma(connection, "temp_store", through):
        cursor.execute("VACUUM")


@contextmanager
def _pragma(connection: BaseDatabaseWrapper, name: str, value: int | str) -> Iterator[None]:
    """Set a pragma in the block, and restore it afterwards."""
    with connection.cursor() as cursor:
        cursor.execute(f"PRAGMA {name}")
        before = cursor.fetchone()[0]
        cursor.execute(f"PRAGMA {name} = {value}")
        try:
            yield
        finally:
            cursor.execute(f"PRAGMA {name} = {before}")


def forms(text: str) -> list[bytes]:
    """The bytes in which a text may occur in a file: plain, as JSON and as HTML; each once.

    >>> forms("小") == ["小".encode(), b"\\\\u5c0f"]
    True
    """
    in_json = json.dumps(text)[1:-1]
    text_forms = [text, in_json, in_json.replace("/", "\\/"), html.escape(text), json.dumps(html.escape(text))[1:-1]]
    return list(dict.fromkeys(text_form.encode(errors="surrogatepass") for text_form in text_forms if text_form))


def windows(encoded_text: bytes) -> list[bytes]:
    """The parts of `written` to search for: all of a short text; of a long one its beginning, middle and end.

    >>> windows(b"short")
    [b'short']
    """
    if len(encoded_text) <= WINDOW:
        return [encoded_text]
    middle = (len(encoded_text) - WINDOW) // 2
    return list(dict.fromkeys([encoded_text[:WINDOW], encoded_text[middle : middle + WINDOW], encoded_text[-WINDOW:]]))


def traces(paths: Iterable[Path], needles: Sequence[bytes]) -> dict[bytes, list[Path]]:
    """The files that contain each of `needles`, byte for byte. A missing or empty file contains nothing."""
    needle_by_hex = {needle.hex(): needle for needle in sorted({needle for needle in needles if needle}, key=len)}
    search_input = json.dumps({"files": [str(path) for path in paths], "needles": list(needle_by_hex)})
    return {
        needle_by_hex[needle]: [Path(path) for path in holders]
        for needle, holders in _run_raw_bytes(search_input).items()
    }


def leftovers(paths: Iterable[Path]) -> dict[Path, list[str]]:
    """Texts in the files of a database that belong to no row."""
    remains = _run_raw_bytes(json.dumps({"leftovers_of": [str(path) for path in paths]}))
    return {Path(path): texts for path, texts in remains.items()}


def _run_raw_bytes(task_json: str) -> dict[str, list[str]]:
    # In a separate process: reading a database's file here would release the locks of every connection to it.
    process = subprocess.run(
        [sys.executable, "-I", RAW_BYTES], input=task_json, capture_output=True, text=True, check=True
    )
    matches: dict[str, list[str]] = json.loads(process.stdout)
    return matches
