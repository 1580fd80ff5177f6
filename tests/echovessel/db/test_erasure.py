"""Erasure: deleted words leave no byte in the file, and traces of them can be found."""

import copy
import os
import random
import subprocess
import sys

import pytest
from django.db import OperationalError, connections, transaction

from echovessel.db.sqlite import erasure


def database_at(path, key=""):
    """A connection to a database of its own."""
    connections.settings["erasure"] = copy.deepcopy(connections.settings["default"]) | {
        "NAME": path,
        "OPTIONS": {"key": key},
    }
    return connections["erasure"]


@pytest.fixture
def database(tmp_path, django_db_blocker):
    """Opens databases of this test, one after another."""
    opened = []

    def opens(name="words.sqlite3", key=""):
        close(opened)
        opened.append(database_at(tmp_path / name, key))
        return opened[-1]

    with django_db_blocker.unblock():
        yield opens
        close(opened)


def close(opened):
    for connection in opened:
        connection.close()
        del connections["erasure"], connections.settings["erasure"]
    opened.clear()


def run(connection, sql, params=None):
    with connection.cursor() as cursor:
        return cursor.execute(sql, params).fetchall()


def add_and_delete(connection, seed):
    """Insert 1,500 rows, delete a tenth of them, and return their words."""
    dice, forgotten = random.Random(seed), {}
    run(connection, "CREATE TABLE said(id integer PRIMARY KEY, uuid text UNIQUE, name text, content text)")
    run(connection, "CREATE INDEX said_by_name ON said(name)")
    with transaction.atomic(using="erasure"):
        for number in range(1, 1_500):
            word = f"zq{number:07}dqz" if dice.random() < 0.1 else "plain"
            uuid = f"{dice.getrandbits(128):032x}"
            content = f"{word} " * dice.choice([1, 4, 10, 40])
            run(connection, "INSERT INTO said VALUES (%s, %s, %s, %s)", [number, uuid, word + uuid[:5], content])
            if word != "plain":
                forgotten[number] = word.encode()
    with transaction.atomic(using="erasure"):
        for number in forgotten:
            run(connection, "DELETE FROM said WHERE id = %s", [number])
    return list(forgotten.values())


@pytest.mark.parametrize("databases", [4, pytest.param(20, marks=pytest.mark.campaign)])
def test_a_deletion_and_a_checkpoint_leave_words_between_the_rows_and_a_vacuum_does_not(database, databases):
    """SQLite leaves the bytes of rows that it moved to another page; secure_delete does not overwrite them."""
    leftovers = {}
    for seed in range(databases):
        connection = database(f"{seed}.sqlite3")
        forgotten = add_and_delete(connection, seed)
        assert erasure.checkpoint(connection)
        leftovers |= erasure.traces(erasure.files(connection), forgotten)
        erasure.vacuum(connection, memory_mb=256)
        assert erasure.checkpoint(connection)
        assert erasure.traces(erasure.files(connection), forgotten) == {}
        assert erasure.traces(erasure.files(connection), [b"plain"]).keys() == {b"plain"}
    assert leftovers


def test_who_reads_holds_up_a_checkpoint_until_they_have_done(database, monkeypatch):
    monkeypatch.setattr(erasure, "PATIENCE_MS", 10)
    connection = database()
    run(connection, "CREATE TABLE said(content text)")
    run(connection, "INSERT INTO said VALUES ('one'), ('two')")
    assert erasure.checkpoint(connection)
    reader = connection.copy("erasure")
    reading = reader.cursor().execute("SELECT content FROM said")
    assert reading.fetchone() == ("one",)
    run(connection, "DELETE FROM said")
    before = run(connection, "PRAGMA busy_timeout")
    assert not erasure.checkpoint(connection)
    assert run(connection, "PRAGMA busy_timeout") == before
    reader.close()
    assert erasure.checkpoint(connection)
    assert connection_log(connection).stat().st_size == 0


def connection_log(connection):
    return erasure.files(connection)[1]


@pytest.mark.parametrize(("memory_mb", "through"), [(256, "MEMORY"), (0, "FILE")])
def test_a_large_database_is_written_anew_through_a_file_beside_it(database, monkeypatch, tmp_path, memory_mb, through):
    monkeypatch.setenv("SQLITE_TMPDIR", "/")
    connection = database()
    run(connection, "CREATE TABLE said(content text)")
    statements = []
    with connection.execute_wrapper(lambda do, sql, *rest: (statements.append(sql), do(sql, *rest))[1]):
        erasure.vacuum(connection, memory_mb)
    assert f"PRAGMA temp_store = {through}" in statements
    assert os.environ["SQLITE_TMPDIR"] == (str(tmp_path) if through == "FILE" else "/")
    assert run(connection, "PRAGMA temp_store") == [(2,)]


def test_a_database_with_a_key_holds_no_words_and_is_never_written_through_a_file(database):
    connection = database(key="a key")
    run(connection, "CREATE TABLE said(content text)")
    run(connection, "INSERT INTO said VALUES ('the grey heron')")
    statements = []
    with connection.execute_wrapper(lambda do, sql, *rest: (statements.append(sql), do(sql, *rest))[1]):
        erasure.vacuum(connection, memory_mb=0)
    assert "PRAGMA temp_store = FILE" not in statements
    assert erasure.checkpoint(connection)
    assert erasure.traces(erasure.files(connection), [b"heron"]) == {}
    assert run(connection, "SELECT content FROM said") == [("the grey heron",)]


def test_inside_a_transaction_nothing_is_erased(database):
    connection = database()
    with transaction.atomic(using="erasure"), pytest.raises(OperationalError):
        erasure.vacuum(connection, memory_mb=256)


def test_a_text_is_looked_for_as_it_is_and_as_json_and_html_write_it():
    byte_forms = erasure.forms('小黑 & "Tom"')
    assert '小黑 & "Tom"'.encode() in byte_forms
    assert b'\\u5c0f\\u9ed1 & \\"Tom\\"' in byte_forms
    assert "小黑 &amp; &quot;Tom&quot;".encode() in byte_forms
    assert b"\\u5c0f\\u9ed1 &amp; &quot;Tom&quot;" in byte_forms
    assert erasure.forms("plain") == [b"plain"]


def test_of_a_long_text_the_beginning_the_middle_and_the_end_are_looked_for(tmp_path):
    data = bytes(range(200))
    assert [len(window) for window in erasure.windows(data)] == [32, 32, 32]
    for part in (data[:32], data[84:116], data[-32:]):
        (tmp_path / "part").write_bytes(b"..." + part)
        assert len(erasure.traces([tmp_path / "part"], erasure.windows(data))) == 1


def test_files_that_are_empty_or_gone_hold_nothing(tmp_path):
    (tmp_path / "empty").touch()
    (tmp_path / "full").write_bytes(b"a heron")
    paths = [tmp_path / name for name in ("empty", "gone", "full")]
    assert erasure.traces(paths, [b"heron", b"crane", b""]) == {b"heron": [tmp_path / "full"]}


def test_looking_into_the_file_of_an_open_database_gives_up_none_of_its_locks(database):
    """Closing any handle of a file drops the locks on it: another process would delete the log."""
    connection = database()
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE t (word)")
        cursor.execute("INSERT INTO t VALUES ('heron')")
    assert erasure.traces(erasure.files(connection), [b"heron"])
    another = "import sqlcipher3.dbapi2 as d, sys; c = d.connect(sys.argv[1]); c.execute('SELECT * FROM t'); c.close()"
    subprocess.run([sys.executable, "-c", another, str(erasure.files(connection)[0])], check=True)
    assert erasure.files(connection)[1:], "the log is gone: the other took itself for the last one"
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO t VALUES ('crane')")
        assert cursor.execute("SELECT count(*) FROM t").fetchone() == (2,)
