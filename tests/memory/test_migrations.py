"""An installation that was at work before replies were kept and extractions knew how far they had read."""

import copy
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.db import connections
from django.db.migrations.executor import MigrationExecutor

NOW = datetime(2026, 3, 5, 12, tzinfo=UTC)
BEFORE = [("persona", "0001_initial"), ("chat", "0001_initial"), ("memory", "0001_initial")]
AFTER = [("memory", "0002_replies_and_tombstones")]


@pytest.fixture
def old(tmp_path: Path, django_db_blocker: Any) -> Iterator[str]:
    """The alias of a database of its own."""
    connections.settings["old"] = copy.deepcopy(connections.settings["default"]) | {
        "NAME": tmp_path / "old.sqlite3",
        "OPTIONS": {},
    }
    with django_db_blocker.unblock():
        yield "old"
        connections["old"].close()
    del connections["old"], connections.settings["old"]


def migrated(alias: str, to: list[tuple[str, str]]) -> Any:
    """The tables at this point of history."""
    executor = MigrationExecutor(connections[alias])
    executor.migrate(to)
    return executor.loader.project_state(to).apps


class Past:
    """Rows of the old installation."""

    def __init__(self, alias: str) -> None:
        self.apps = migrated(alias, BEFORE)
        self.alias = alias
        owner = self.new("auth.User", username="ana")
        self.persona = self.new("persona.Persona", owner=owner, name="Mira")

    def new(self, model: str, **values: Any) -> Any:
        return self.apps.get_model(model).objects.using(self.alias).create(**values)

    def talk(self, status: str, lines: int = 3, **values: Any) -> tuple[Any, list[Any]]:
        session = self.new("chat.Session", persona=self.persona, channel=status, status=status, **values)
        said = [
            self.new(
                "chat.Message",
                session=session,
                persona=self.persona,
                role="user",
                content="My cat Milo.",
                token_count=4,
                day=NOW.date(),
                created_at=NOW,
            )
            for _ in range(lines)
        ]
        return session, said


def test_nothing_is_read_twice_and_nothing_unreadable_is_taken_for_an_answer(old: str) -> None:
    past = Past(old)
    closed, said = past.talk("closed", attempts=201)
    for chunk in (0, 1):
        past.new("memory.Extraction", session=closed, chunk=chunk, answer={}, applied_at=NOW)
    half_done, _ = past.talk("consolidating", attempts=101)
    past.new("memory.Extraction", session=half_done, chunk=0, answer={})
    failed, _ = past.talk("failed", attempts=5)
    past.new("memory.UnreadableAnswer", session=failed, step="extraction", raw="{half an ans")
    tried_again, _ = past.talk("closing", attempts=100)
    past.new("memory.UnreadableAnswer", session=tried_again, step="reflection", raw="never mind")
    silent, _ = past.talk("open", lines=0)
    past.new("memory.Extraction", session=silent, chunk=0, answer={}, applied_at=NOW)

    apps = migrated(old, AFTER)

    readings = apps.get_model("memory.Extraction").objects.using(old).order_by("session", "chunk")
    assert list(readings.values_list("session", "chunk", "through")) == [
        (closed.pk, 0, said[-1].pk),
        (closed.pk, 1, said[-1].pk),
        (silent.pk, 0, 0),
    ]
    replies = apps.get_model("memory.ModelReply").objects.using(old)
    assert list(replies.values_list("session", "step", "number", "text", "whole", "usage")) == [
        (failed.pk, "extraction", 0, "{half an ans", True, {})
    ]
    sessions = apps.get_model("chat.Session").objects.using(old)
    assert set(sessions.values_list("attempts", "holder", "waiting_for")) == {(0, "", "")}
