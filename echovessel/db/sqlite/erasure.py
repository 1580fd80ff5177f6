"""Erasing for good, and looking whether it is: what a database file still holds of rows that are gone.

`PRAGMA secure_delete` overwrites what it frees. It is not enough: when SQLite balances a b-tree it moves rows to
sibling pages and leaves their old bytes in the gap between the pointers and the rows of the page, where no later
deletion overwrites them. (3,000 rows in two tables with two text indexes, a tenth deleted, with secure_delete and a
complete checkpoint: in 4 of 16 databases words of deleted rows stood in the file; 2026-11-21.) VACUUM writes every page
anew. So what was deleted is gone after a VACUUM and a checkpoint that empties the write-ahead log, not before.

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

# How long a checkpoint waits for those who read; it is tried so many times.
PATIENCE_MS = 2_000
TRIES = 3
# Of a long text these windows are looked for: a page of the file may hold a part of it.
WINDOW = 32
RAW_BYTES = Path(__file__).with_name("raw_bytes.py")


def files(connection: BaseDatabaseWrapper) -> list[Path]:
    """The files of a database that exist: itself, its write-ahead log and the log's index."""
    name = os.fspath(connection.settings_dict["NAME"])
    return [path for suffix in ("", "-wal", "-shm") if (path := Path(f"{name}{suffix}")).is_file()]


def size_mb(connection: BaseDatabaseWrapper) -> float:
    """How large the database is, its log not counted: in millions of bytes."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")
        return float(cursor.fetchone()[0]) / 1_000_000


def checkpoint(connection: BaseDatabaseWrapper) -> bool:
    """Carry the write-ahead log into the file and empty it. False where somebody reads or writes all the while. Not
    inside a transaction."""
    with connection.cursor() as cursor, _pragma(connection, "busy_timeout", PATIENCE_MS):
        for _ in range(TRIES):
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            if not cursor.fetchone()[0]:
                return True
    return False


def vacuum(connection: BaseDatabaseWrapper, memory_mb: float) -> None:
    """Write every page anew, through memory up to `memory_mb`, a larger database through a file beside it that is gone
    afterwards; one that has a key through memory always, for such a file has none.

    It needs twice the database's size on disk for a moment. Not inside a transaction. Raises OperationalError where
    somebody writes all the while, and where there is no room.
    """
    has_key = bool(connection.settings_dict["OPTIONS"].get("key"))
    if has_key or size_mb(connection) <= memory_mb:
        _vacuum(connection, "MEMORY")
    else:
        os.environ["SQLITE_TMPDIR"] = str(files(connection)[0].parent)  # SQLite asks for it when it opens such a file
        _vacuum(connection, "FILE")


def _vacuum(connection: BaseDatabaseWrapper, through: str) -> None:
    with connection.cursor() as cursor, _pragma(connection, "temp_store", through):
        cursor.execute("VACUUM")


@contextmanager
def _pragma(connection: BaseDatabaseWrapper, name: str, value: int | str) -> Iterator[None]:
    """Set it for a while."""
    with connection.cursor() as cursor:
        cursor.execute(f"PRAGMA {name}")
        before = cursor.fetchone()[0]
        cursor.execute(f"PRAGMA {name} = {value}")
        try:
            yield
        finally:
            cursor.execute(f"PRAGMA {name} = {before}")


def forms(text: str) -> list[bytes]:
    """The bytes in which a text may stand in a file: as it is, as JSON writes it, as HTML writes it; each once.

    >>> forms("小") == ["小".encode(), b"\\\\u5c0f"]
    True
    """
    in_json = json.dumps(text)[1:-1]
    written = [text, in_json, in_json.replace("/", "\\/"), html.escape(text), json.dumps(html.escape(text))[1:-1]]
    return list(dict.fromkeys(each.encode(errors="surrogatepass") for each in written if each))


def windows(written: bytes) -> list[bytes]:
    """What to look for of `written`: all of a short one; of a long one its beginning, middle and end.

    >>> windows(b"short")
    [b'short']
    """
    if len(written) <= WINDOW:
        return [written]
    middle = (len(written) - WINDOW) // 2
    return list(dict.fromkeys([written[:WINDOW], written[middle : middle + WINDOW], written[-WINDOW:]]))


def traces(paths: Iterable[Path], needles: Sequence[bytes]) -> dict[bytes, list[Path]]:
    """Which of `needles` stand in which files, byte for byte. A file that is gone or empty holds nothing."""
    wanted = {needle.hex(): needle for needle in sorted({needle for needle in needles if needle}, key=len)}
    asked = json.dumps({"files": [str(path) for path in paths], "needles": list(wanted)})
    return {wanted[needle]: [Path(path) for path in holders] for needle, holders in _of_raw_bytes(asked).items()}


def leftovers(paths: Iterable[Path]) -> dict[Path, list[str]]:
    """The texts that stand in the files of a database and belong to none of its rows."""
    told = _of_raw_bytes(json.dumps({"leftovers_of": [str(path) for path in paths]}))
    return {Path(path): texts for path, texts in told.items()}


def _of_raw_bytes(asked: str) -> dict[str, list[str]]:
    # A process of its own: reading a database's file here would give up the locks of every connection to it.
    done = subprocess.run([sys.executable, "-I", RAW_BYTES], input=asked, capture_output=True, text=True, check=True)
    told: dict[str, list[str]] = json.loads(done.stdout)
    return told
