"""What a database file holds beside its rows is told apart from its rows, byte for byte.

Where a table grows, rows move and leave their bytes behind: what is left may be the words of a row that is there."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from echovessel.db.sqlite import erasure

GONE = "The otter of Orla swam across the lake"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "some.sqlite3"


@pytest.fixture
def database(file: Path) -> Iterator[sqlite3.Connection]:
    """A database of many rows; the last one is about the otter."""
    with closing(sqlite3.connect(file, isolation_level=None)) as opened:
        opened.execute("PRAGMA secure_delete = OFF")
        opened.execute("CREATE TABLE line (id INTEGER PRIMARY KEY, said TEXT)")
        bees = [(f"The bees of Otto hum in the garden, day {number}",) for number in range(400)]
        opened.executemany("INSERT INTO line (said) VALUES (?)", bees)
        opened.execute("INSERT INTO line VALUES (1000, ?)", [GONE])
        yield opened


def leftover_text(*files: Path) -> str:
    return "\n".join(text for texts in erasure.leftovers(files).values() for text in texts)


@pytest.mark.parametrize("which", ["= 1000", "> 0", "> 200"])
def test_a_row_that_was_deleted_is_left_until_every_page_is_written_anew(
    database: sqlite3.Connection, file: Path, which: str
) -> None:
    assert "otter" not in leftover_text(file)
    database.execute(f"DELETE FROM line WHERE id {which}")
    assert GONE[4:] in leftover_text(file)
    database.execute("VACUUM")
    assert "otter" not in leftover_text(file)


def test_with_secure_delete_such_a_row_leaves_nothing(database: sqlite3.Connection, file: Path) -> None:
    database.execute("PRAGMA secure_delete = ON")
    database.execute("DELETE FROM line WHERE id = 1000")
    assert "otter" not in leftover_text(file)


def test_the_write_ahead_log_keeps_deleted_rows_until_a_checkpoint(database: sqlite3.Connection, file: Path) -> None:
    log = file.with_name(f"{file.name}-wal")
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA secure_delete = ON")
    database.execute("INSERT INTO line VALUES (2000, 'An owl in Oulu')")
    assert "owl" not in leftover_text(file, log)
    database.execute("DELETE FROM line WHERE id = 2000")
    assert "An owl in Oulu" in leftover_text(log)
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert "owl" not in leftover_text(file, log)


def test_what_is_no_database_has_no_leftovers(tmp_path: Path) -> None:
    odd = b"SQLite format 3\0" + b"\x10\0" + b"\xff" * 600
    none = b"SQLite format 3\0" + b"\0" * 600
    for name, content in {"empty": b"", "none": none, "text": b"the zebra quilt" * 50, "odd": odd}.items():
        (tmp_path / name).write_bytes(content)
    assert leftover_text(*tmp_path.iterdir(), tmp_path / "gone") == ""
