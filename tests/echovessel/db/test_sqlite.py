"""The database engine: driver, extension, pragmas, transactions, key, test databases, triggers."""

import copy
import json
import os
import sys
import threading
import time

import pytest
import sqlcipher3.dbapi2 as driver
import sqlite_vec
from django.contrib.auth.models import Group
from django.core.exceptions import ImproperlyConfigured
from django.db import IntegrityError, OperationalError, connection, connections, models, transaction
from django.test.utils import isolate_apps

from echovessel.db.sqlite import base, triggers
from echovessel.db.sqlite.triggers import Trigger


@pytest.fixture
def database(tmp_path, django_db_blocker):
    """Make connections to files of this test alone: `database(name, **options)` returns an opened one."""
    opened = []

    def open_one(name="own.sqlite3", **options):
        settings = copy.deepcopy(connections.settings["default"])
        settings |= {"NAME": tmp_path / name, "OPTIONS": options}
        wrapper = base.DatabaseWrapper(settings, alias=f"own{len(opened)}")
        opened.append(wrapper)
        wrapper.ensure_connection()
        return wrapper

    with django_db_blocker.unblock():
        yield open_one
        for wrapper in opened:
            wrapper.close()


def value(wrapper, sql, params=None):
    with wrapper.cursor() as cursor:
        return cursor.execute(sql, params).fetchone()[0]


@pytest.mark.parametrize(
    ("pragma", "expected"),
    [
        ("journal_mode", "wal"),
        ("synchronous", 1),
        ("foreign_keys", 1),
        ("secure_delete", 1),
        ("recursive_triggers", 1),
        ("temp_store", 2),
        ("busy_timeout", 20_000),
        ("cache_size", -16_000),
        ("journal_size_limit", 67_108_864),
        ("mmap_size", 0),
    ],
)
def test_every_connection_has_the_pragmas(database, pragma, expected):
    database()
    assert value(database(), f"PRAGMA {pragma}") == expected


def test_every_connection_has_the_vector_extension_and_a_sound_sqlite(database):
    database()
    second = database()
    assert value(second, "SELECT vec_version()") == f"v{sqlite_vec.__version__}"
    assert second.get_database_version() >= (3, 51, 3)
    assert second.Database is driver


def test_a_connection_cannot_load_further_extensions(database):
    with pytest.raises(OperationalError, match="not authorized"):
        value(database(), "SELECT load_extension('/nowhere')")


def test_a_vector_table_finds_the_nearest(database):
    wrapper = database()
    with wrapper.cursor() as cursor:
        cursor.execute("CREATE VIRTUAL TABLE v USING vec0(id INTEGER PRIMARY KEY, e float[2])")
        cursor.executemany("INSERT INTO v VALUES (%s, %s)", [(1, "[0, 1]"), (2, "[1, 0]")])
        cursor.execute("SELECT id FROM v WHERE e MATCH %s AND k = 1", [json.dumps([0.9, 0.1])])
        assert cursor.fetchall() == [(2,)]


def test_both_parameter_styles_work_and_percent_signs_stay(database):
    with database().cursor() as cursor:
        assert cursor.execute("SELECT %s || '%%' || '%%s'", ["a"]).fetchone() == ("a%%s",)
        assert cursor.execute("SELECT %(x)s || %(x)s", {"x": "a"}).fetchone() == ("aa",)
        assert cursor.execute("SELECT '%s'").fetchone() == ("%s",)
        cursor.execute("CREATE TABLE t (a, b)")
        cursor.executemany("INSERT INTO t VALUES (%s, %s)", ((n, n) for n in range(3)))
        cursor.executemany("INSERT INTO t VALUES (%(a)s, %(b)s)", [{"a": 9, "b": 9}])
        cursor.executemany("INSERT INTO t VALUES (%s, %s)", [])
        assert cursor.execute("SELECT sum(a), count(*) FROM t").fetchone() == (12, 4)


def test_transactions_begin_immediate_unless_settings_say_otherwise(database):
    assert database().transaction_mode == "IMMEDIATE"
    assert database(transaction_mode="DEFERRED").transaction_mode == "DEFERRED"


def test_options_of_the_settings_are_kept(database):
    wrapper = database(timeout=7, init_command="PRAGMA user_version = 5; PRAGMA cache_size = -99")
    assert value(wrapper, "PRAGMA busy_timeout") == 7000
    assert value(wrapper, "PRAGMA user_version") == 5
    assert value(wrapper, "PRAGMA cache_size") == -99


def test_many_connections_may_make_the_same_new_file(database):
    barrier, failures = threading.Barrier(8), []

    def make():
        barrier.wait()
        try:
            wrapper = database("contended.sqlite3")
            wrapper.inc_thread_sharing()
        except Exception as error:  # noqa: BLE001  (collected and asserted below)
            failures.append(error)

    run_together(make, 8)
    assert failures == []


def test_a_new_file_that_another_is_writing_to_is_waited_for(database, tmp_path):
    """The change into WAL mode has no timeout: SQLite refuses it immediately while another connection writes."""
    path = tmp_path / "contended.sqlite3"
    other = driver.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("CREATE TABLE t (a)")
    other.execute("BEGIN IMMEDIATE")
    release = threading.Timer(0.3, lambda: other.execute("COMMIT"))
    release.start()
    try:
        assert value(database("contended.sqlite3"), "PRAGMA journal_mode") == "wal"
    finally:
        release.join()
        other.close()


def test_a_new_file_that_another_never_lets_go_is_refused_in_time(database, tmp_path):
    other = driver.connect(tmp_path / "contended.sqlite3", isolation_level=None)
    other.execute("CREATE TABLE t (a)")
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(OperationalError, match="locked"):
        database("contended.sqlite3", timeout=0.2)
    other.close()


def run_together(target, count):
    threads = [threading.Thread(target=target) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@pytest.mark.parametrize("key", ["2b" * 32, "2b" * 48, 'it\'s a "phrase" of mine'])
def test_with_a_key_nothing_is_readable_and_without_it_nothing_opens(database, key):
    wrapper = database("locked.sqlite3", key=key)
    with wrapper.cursor() as cursor:
        cursor.execute("CREATE TABLE t (word)")
        cursor.execute("INSERT INTO t VALUES ('plaintext')")
    wrapper.close()
    path = wrapper.settings_dict["NAME"]
    assert b"plaintext" not in path.read_bytes()
    assert not path.read_bytes().startswith(b"SQLite")
    for wrong in ("", "another"):
        with pytest.raises(ImproperlyConfigured, match="DATABASE_KEY"):
            database("locked.sqlite3", key=wrong)
    assert value(database("locked.sqlite3", key=key), "SELECT word FROM t") == "plaintext"


def test_a_missing_driver_is_said_with_how_to_mend_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "sqlcipher3.dbapi2", None)
    with pytest.raises(ImproperlyConfigured, match=r"sqlcipher3 .* Mend it with: python -m pip install"):
        base.load_driver()


def test_a_missing_extension_is_said_with_how_to_mend_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "sqlite_vec", None)
    with pytest.raises(ImproperlyConfigured, match=r"sqlite-vec .* Mend it with: python -m pip install"):
        base.vector_extension()


def test_a_sqlite_with_the_corruption_bug_is_refused(monkeypatch):
    monkeypatch.setattr(driver, "sqlite_version_info", (3, 51, 2))
    with pytest.raises(ImproperlyConfigured, match=r"3\.51\.3 or newer"):
        base.load_driver()


def test_a_test_database_is_a_file_beside_the_real_one_unless_named(database, tmp_path):
    wrapper = database()
    wrapper.settings_dict["TEST"]["NAME"] = None
    assert wrapper.creation._get_test_db_name() == str(tmp_path / "test_own.sqlite3")
    wrapper.settings_dict["TEST"]["NAME"] = tmp_path / "else.sqlite3"
    assert wrapper.creation._get_test_db_name() == str(tmp_path / "else.sqlite3")


def test_a_test_database_is_made_without_the_leavings_of_a_killed_run(database, tmp_path):
    wrapper = database()
    wrapper.settings_dict["TEST"]["NAME"] = tmp_path / "deeper" / "t.sqlite3"
    assert wrapper.creation._create_test_db(0, True) == str(tmp_path / "deeper" / "t.sqlite3")
    (tmp_path / "deeper" / "t.sqlite3-wal").write_bytes(b"stale")
    wrapper.creation._create_test_db(0, True)
    assert list((tmp_path / "deeper").iterdir()) == []


def test_a_cloned_test_database_has_what_was_still_in_the_log(database, tmp_path):
    wrapper = database()
    with wrapper.cursor() as cursor:
        cursor.execute("CREATE TABLE t (word)")
        cursor.execute("INSERT INTO t VALUES ('fresh')")
    other = database()  # keeps the log alive when the first one closes
    wrapper.creation._clone_test_db("1", 0)
    other.close()
    assert value(database("own_1.sqlite3"), "SELECT word FROM t") == "fresh"
    wrapper.creation.setup_worker_connection(1)
    assert wrapper.settings_dict["NAME"] == str(tmp_path / "own_1.sqlite3")
    wrapper.creation._destroy_test_db(wrapper.settings_dict["NAME"], 0)
    assert not os.path.exists(wrapper.settings_dict["NAME"])


@pytest.mark.django_db(transaction=True)
def test_two_threads_that_read_then_write_are_never_told_that_the_database_is_locked():
    Group.objects.all().delete()  # the groups of the admin
    Group.objects.create(name="0")
    failures = []

    def count_up():
        try:
            for _ in range(25):
                with transaction.atomic():
                    group = Group.objects.get()
                    time.sleep(0.001)
                    group.name = str(int(group.name) + 1)
                    group.save()
        except OperationalError as error:
            failures.append(error)
        finally:
            connection.close()

    run_together(count_up, 2)
    assert failures == []
    assert Group.objects.get().name == "50"


@pytest.mark.django_db
def test_the_drivers_errors_are_djangos_and_savepoints_roll_back():
    Group.objects.create(name="one")
    with pytest.raises(IntegrityError), transaction.atomic():
        Group.objects.create(name="one")
    assert Group.objects.filter(name__iregex="^ONE$").count() == 1


DELETE_B = Trigger(
    name="b_follows_a",
    table="a",
    sql='CREATE TRIGGER "b_follows_a" AFTER DELETE ON "a" BEGIN DELETE FROM "b" WHERE id = old.id; END',
)


@pytest.fixture
def two_tables(database):
    wrapper = database()
    with wrapper.cursor() as cursor:
        cursor.execute("CREATE TABLE a (id INTEGER PRIMARY KEY, word varchar(5))")
        cursor.execute("CREATE TABLE b (id INTEGER PRIMARY KEY, word varchar(5))")
    return wrapper


def test_a_declared_trigger_is_made_once_and_works(two_tables):
    assert triggers.missing(two_tables, [DELETE_B]) == ["b_follows_a"]
    assert triggers.ensure(two_tables, [DELETE_B]) == ["b_follows_a"]
    assert triggers.ensure(two_tables, [DELETE_B]) == []
    assert triggers.missing(two_tables, [DELETE_B]) == []
    with two_tables.cursor() as cursor:
        cursor.execute("INSERT INTO a VALUES (1, 'x')")
        cursor.execute("INSERT INTO b VALUES (1, 'x')")
        cursor.execute("DELETE FROM a")
    assert value(two_tables, "SELECT count(*) FROM b") == 0


def test_a_trigger_that_differs_from_its_declaration_is_replaced(two_tables):
    triggers.ensure(two_tables, [DELETE_B])
    changed = Trigger(DELETE_B.name, DELETE_B.table, DELETE_B.sql.replace("old.id", "old.id + 0"))
    assert triggers.missing(two_tables, [changed]) == ["b_follows_a"]
    triggers.ensure(two_tables, [changed])
    assert triggers.missing(two_tables, [changed]) == []
    triggers.drop(two_tables, [changed])
    assert triggers.missing(two_tables, [changed]) == ["b_follows_a"]


def rebuild(wrapper, table):
    """Let Django rebuild a table, as a migration that alters a field does."""
    with isolate_apps("django.contrib.auth"):
        meta = type("Meta", (), {"app_label": "auth", "db_table": table})
        word = models.CharField(max_length=5)
        fields = {"__module__": __name__, "Meta": meta, "id": models.IntegerField(primary_key=True)}
        model = type(table.upper(), (models.Model,), fields | {"word": word})
        wider = models.CharField(max_length=9, default="")
        wider.set_attributes_from_name("word")
        wider.model = model
        with wrapper.schema_editor(atomic=False) as editor:
            editor._remake_table(model, alter_fields=[(word, wider)])


def test_a_table_rebuild_loses_the_triggers_on_it_and_ensure_brings_them_back(two_tables):
    triggers.ensure(two_tables, [DELETE_B])
    rebuild(two_tables, "a")
    assert triggers.ensure(two_tables, [DELETE_B]) == ["b_follows_a"]


def test_a_table_that_a_trigger_elsewhere_names_can_be_rebuilt_only_while_it_is_dropped(two_tables):
    triggers.ensure(two_tables, [DELETE_B])
    with pytest.raises(OperationalError, match="error in trigger b_follows_a"):
        rebuild(two_tables, "b")
    with two_tables.cursor() as cursor:  # the table that the failed rebuild left
        cursor.execute('CREATE TABLE IF NOT EXISTS "b" (id INTEGER PRIMARY KEY, word varchar(5))')
        cursor.execute('DROP TABLE IF EXISTS "new__b"')
    triggers.drop(two_tables, [DELETE_B])
    rebuild(two_tables, "b")
    assert triggers.ensure(two_tables, [DELETE_B]) == ["b_follows_a"]
