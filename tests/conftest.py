"""The people of the tests, and their personas."""

import contextlib
import gc
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.core.management import call_command
from django.core.management.sql import emit_post_migrate_signal
from django.db import OperationalError, connection, connections, transaction
from django.test import TransactionTestCase
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings

from chat import rate_limit
from echovessel.embeddings import embedding
from echovessel.process import heap
from memory.models import ConceptNode
from memory.store import vectors
from persona.models import Persona
from persona.onboarding.creation import create_persona
from tests import hash_embedder, template_database
from tests.memory.sessions import Clock
from tests.scripted import PATH, Script, script

REAL_ENCODE = embedding._encode
# A write-ahead log that is longer is emptied after a test, and a database that has grown by more is written anew: some
# tests read the files to the last byte, and what others have left there would cost each of them a second.
LOG_BYTES, GROWTH_BYTES = 500_000, 1_000_000
# Examples of a law: few in every run, many in `make campaign`. How long one takes is no law, and a test's fixtures are
# the same for all of its examples.
for profile, examples in (("few", 20), ("many", 200)):
    hypothesis_settings.register_profile(
        profile, max_examples=examples, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
    )
hypothesis_settings.load_profile("few")
heap.pause_collector()  # until all tests are collected
hash_embedder.install()
template_database.install()


def pytest_xdist_auto_num_workers() -> int:
    """With `-n auto` one more than there are cores: while one waits for a process to start or end, another works."""
    return len(os.sched_getaffinity(0)) + 1 if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def pytest_xdist_setupnodes() -> None:
    """The template of the database is made while the workers start and collect."""
    template_database.begin()


def pytest_collection_finish() -> None:
    """What is loaded by now stays: the garbage collector need not look through it again and again (a tenth of the
    time of all tests)."""
    heap.resume_collector()
    gc.set_threshold(50_000, 20, 100)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests with the real model run first: the first worker of several takes them, and no other one loads it."""
    items.sort(key=lambda item: item.get_closest_marker("real_embeddings") is None)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Figures that tests have measured (`record_property`), which a JUnit report holds, too."""
    reports = [one for outcome in ("passed", "failed") for one in terminalreporter.stats.get(outcome, [])]
    figures = [figure for one in reports for figure in getattr(one, "user_properties", [])]
    if figures:
        terminalreporter.section("figures")
    for name, figure in figures:
        terminalreporter.write_line(f"{name}: {figure}")


@pytest.fixture(autouse=True)
def _real_embeddings(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The real model where a test is marked with it; vectors of the one are never taken for those of the other."""
    if request.node.get_closest_marker("real_embeddings") is None:
        yield
        return
    monkeypatch.setattr(embedding, "_encode", REAL_ENCODE)
    embedding._recent_vectors.clear()
    yield
    embedding._recent_vectors.clear()


@pytest.fixture(scope="session")
def django_db_setup(django_test_environment: None, django_db_blocker: Any) -> Iterator[None]:
    """A copy of the template database for this process, in place of migrating one."""
    copy = Path(django_settings.DATABASES["default"]["TEST"]["NAME"])
    usual = connection.settings_dict["NAME"]
    template_database.copy_to(copy)
    with django_db_blocker.unblock():
        connections.close_all()
        # In place: the connections of other threads share this dict.
        connection.settings_dict["NAME"] = str(copy)
        emit_post_migrate_signal(verbosity=0, interactive=False, db=connection.alias)
        emptying = Emptying()
        monkeypatch = pytest.MonkeyPatch()
        monkeypatch.setattr(TransactionTestCase, "_fixture_teardown", lambda _: emptying())
    yield
    monkeypatch.undo()
    with django_db_blocker.unblock():
        connections.close_all()
        connection.settings_dict["NAME"] = usual


class Emptying:
    """Deletes the rows that a test has committed, and gives back those that were there before all tests where it has
    changed them. Django's `flush` deletes permissions and groups as well, and makes them anew: 0.07 s after each of
    hundreds of tests."""

    def __init__(self) -> None:
        tables = sorted(connection.introspection.django_table_names(only_existing=True, include_views=False))
        self.schema = self._schema()
        self.initial_rows = {table: rows for table in tables if (rows := self._rows_of(table))}
        self.empty_tables = [table for table in tables if table not in self.initial_rows]
        self.database = Path(connection.settings_dict["NAME"])
        self.initial_bytes = self.database.stat().st_size

    def __call__(self) -> None:
        if connection.settings_dict["NAME"] != django_settings.DATABASES["default"]["TEST"]["NAME"]:
            raise RuntimeError("the test has left another database behind")
        if self._schema() != self.schema:
            call_command("flush", verbosity=0, interactive=False)
            self.__init__()  # type: ignore[misc]  # the rows are other ones now
            return
        filled = " UNION ALL ".join(
            f"SELECT '{table}' WHERE EXISTS (SELECT 1 FROM {table})" for table in self.empty_tables
        )
        changed = {table: rows for table, rows in self.initial_rows.items() if self._rows_of(table) != rows}
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("PRAGMA defer_foreign_keys = ON")
            for (table,) in cursor.execute(filled).fetchall():
                cursor.execute(f"DELETE FROM {table}")
            for table, rows in changed.items():
                cursor.execute(f"DELETE FROM {table}")
                cursor.executemany(f"INSERT INTO {table} VALUES ({', '.join(['%s'] * len(rows[0]))})", rows)
        if changed:
            ContentType.objects.clear_cache()
        self._shrink()

    def _shrink(self) -> None:
        log = self.database.with_name(f"{self.database.name}-wal")
        has_grown = self.database.stat().st_size > self.initial_bytes + GROWTH_BYTES
        if not has_grown and (not log.exists() or log.stat().st_size < LOG_BYTES):
            return
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA busy_timeout")
            patience = cursor.fetchone()[0]
            cursor.execute("PRAGMA busy_timeout = 0")  # whoever still reads is not waited for
            if has_grown:
                with contextlib.suppress(OperationalError):
                    cursor.execute("VACUUM")
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            cursor.execute(f"PRAGMA busy_timeout = {patience}")

    def _schema(self) -> list[tuple[str, ...]]:
        with connection.cursor() as cursor:
            return cursor.execute("SELECT name, sql FROM sqlite_master ORDER BY name").fetchall()  # type: ignore[no-any-return]

    def _rows_of(self, table: str) -> list[tuple[object, ...]]:
        with connection.cursor() as cursor:
            return cursor.execute(f"SELECT * FROM {table}").fetchall()  # type: ignore[no-any-return]


@pytest.fixture
def ana(db: None) -> User:
    """The owner."""
    return User.objects.create_user("ana", password="a long word for ana")


@pytest.fixture
def ben(db: None) -> User:
    """Somebody else with a persona of his own: the stranger."""
    return User.objects.create_user("ben", password="a long word for ben")


@pytest.fixture
def mira(ana: User) -> Persona:
    """Ana's persona."""
    return create_persona(
        ana,
        "Mira",
        user_name="Ana",
        timezone="Asia/Shanghai",
        blocks={
            "persona": "Mira is a calm listener who loves the sea.",
            "user": "Ana lives in Shanghai.",
            "style": "Short sentences.",
        },
    )


@pytest.fixture
def otto(ben: User) -> Persona:
    """Ben's persona."""
    return create_persona(ben, "Otto", user_name="Ben")


@pytest.fixture
def scripted(settings: Any) -> Iterator[Script]:
    """The model says what the test tells it to, at once: no debounce."""
    settings.LLM_PROVIDER = PATH
    settings.KNOBS = {"chat.debounce_seconds": 0, "outbox.poll_seconds": 0.02}
    script.reset()
    rate_limit.forget()
    yield script
    script.reset()


@pytest.fixture
def model(scripted: Script, settings: Any) -> Script:
    """Says what the test tells it to; an answer may be a function of the request."""
    settings.LLM_PROVIDER = "tests.memory.sessions.ListeningProvider"
    return scripted


@pytest.fixture
def clock() -> Clock:
    """Half an hour after the talk, and standing still."""
    return Clock()


@pytest.fixture
def remember(db: None) -> Callable[..., ConceptNode]:
    """A function that gives a persona an event, with its vector and words, as consolidation would."""

    def make(persona: Persona, description: str, **fields: Any) -> ConceptNode:
        fields = {"kind": "event", "source": "extraction", "content_hash": description[:64]} | fields
        node = ConceptNode.objects.create(
            persona=persona, description=description, embedding_model=embedding.name(), **fields
        )
        vectors.index([node], embedding.embed([description]))
        return node

    return make
