"""`manage.py doctor` names what is wrong first, says what to do, and shows no words of people."""

import json
import os
from collections import namedtuple
from collections.abc import Callable
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import OperationalError
from django.utils import timezone
from django_q.models import Schedule

from chat.models import Message, Session
from echovessel.llm import connection as connections
from echovessel.llm import servers
from echovessel.llm.connection import Connection
from echovessel.llm.errors import LLMError
from echovessel.llm.models import ModelConnection
from echovessel.outbox.models import OutboxEvent
from memory.management.commands import doctor
from memory.models import NodeVector, Receipt
from persona.models import Persona
from tests.memory.sessions import talk
from tests.table import each_row

pytestmark = pytest.mark.django_db
NOW = timezone.now()
SECRET = "Cape Sorrow"
Disk = namedtuple("Disk", "total used free")


@pytest.fixture
def healthy(mira: Persona, settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Persona:
    """An installation with a running worker, a model that answers and a backup of today."""
    settings.DATA_DIR = tmp_path
    settings.LLM_PROVIDER = "auto"
    connections.save(Connection("openai", "http://127.0.0.1:1/v1", "sk-1", {"large": "tall"}), mira.owner)
    monkeypatch.setattr(doctor.servers, "list_models", lists("tall", "small"))
    monkeypatch.setattr(doctor.shutil, "disk_usage", lambda _path: Disk(10**12, 0, 10**12))
    Schedule.objects.filter(func=doctor.EVERY_MINUTE).update(next_run=timezone.now() + timedelta(seconds=30))
    (tmp_path / "backups").mkdir()
    (tmp_path / "backups" / f"echovessel-{NOW:%Y%m%dT%H%M%SZ}.tar").touch()
    talk(mira, f"I was born at {SECRET}.", status="closed")
    return mira


def lists(*names: str) -> Callable[..., Any]:
    async def list_models(*_: Any) -> list[str]:
        return list(names)

    return list_models


async def unreached(*_: Any) -> list[str]:
    raise LLMError("The server is not reached.", code="provider_unavailable", permanent=False)


def run() -> tuple[int, dict[str, list[Any]]]:
    """The exit code and the findings by subject."""
    out, code = StringIO(), 0
    try:
        call_command("doctor", "--json", stdout=out)
    except SystemExit as stopped:
        code = int(str(stopped.code))
    told = json.loads(out.getvalue())
    assert told["ok"] == (code == 0)
    assert SECRET not in out.getvalue()
    order = [list(doctor.LEVELS).index(finding["level"]) for finding in told["findings"]]
    assert order == sorted(order)
    subjects = {finding["subject"] for finding in told["findings"]}
    return code, {name: [one for one in told["findings"] if one["subject"] == name] for name in subjects}


def test_a_healthy_installation_is_told_as_such(healthy: Persona) -> None:
    code, found = run()
    wrong = [one for rows in found.values() for one in rows if one["level"] == "wrong"]
    assert (code, wrong) == (0, [])
    assert {"database", "disk", "clock", "keys", "worker", "erasure", "memory", "model", "backups"} <= found.keys()
    out = StringIO()
    call_command("doctor", stdout=out, no_color=True)
    assert "fine  worker" in out.getvalue()


def stop_worker(_persona: Persona) -> None:
    Schedule.objects.filter(func=doctor.EVERY_MINUTE).update(next_run=NOW - timedelta(hours=3))


def unschedule(_persona: Persona) -> None:
    Schedule.objects.all().delete()


def leave_pending(persona: Persona) -> None:
    Receipt.objects.create(
        persona=persona, persona_uuid=persona.uuid, owner_id=persona.owner_id, at=NOW - timedelta(hours=1)
    )


def age_event(persona: Persona) -> None:
    OutboxEvent.objects.create(stream=persona.uuid, name="x", data={}, at=NOW - timedelta(days=90))


def fail_session(persona: Persona) -> None:
    Session.objects.filter(persona=persona).update(status=Session.Status.FAILED, failure="x")


def send_from_future(persona: Persona) -> None:
    Message.objects.filter(persona=persona).update(created_at=NOW + timedelta(days=2))


def lose_key(_persona: Persona) -> None:
    ModelConnection.objects.update(encrypted_key="gAAAAA-of-another-installation")


@each_row(
    ("break_it", "subject", "advice"),
    [
        (stop_worker, "worker", "manage.py up"),
        (unschedule, "worker", "migrate"),
        (leave_pending, "erasure", "worker"),
        (age_event, "outbox", "worker"),
        (fail_session, "sessions", "retry_failed"),
        (send_from_future, "clock", "clock"),
        (lose_key, "keys", "SECRET_KEY"),
    ],
)
def test_what_is_wrong_in_the_database_comes_first_with_what_to_do(
    healthy: Persona, break_it: Callable[[Persona], None], subject: str, advice: str
) -> None:
    from django.db import transaction  # noqa: PLC0415

    with transaction.atomic():
        break_it(healthy)
        code, found = run()
        transaction.set_rollback(True)
    wrong = [one for one in found[subject] if one["level"] == "wrong"]
    assert (code, len(wrong)) == (1, 1)
    assert advice in wrong[0]["advice"]


def test_memories_without_vectors_are_told(healthy: Persona, remember: Any) -> None:
    remember(healthy, "Ana keeps bees.")
    NodeVector.objects.all().delete()
    code, found = run()
    assert code == 1
    assert "vectors_missing 1" in found["vectors"][0]["text"]
    assert "reembed" in found["vectors"][0]["advice"]


def test_doctor_reports_wrong_model_disk_keys_and_settings(
    healthy: Persona, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, settings: Any
) -> None:
    monkeypatch.setattr(servers, "list_models", unreached)
    monkeypatch.setattr(doctor.shutil, "disk_usage", lambda _path: Disk(10**12, 0, 1_000))
    (tmp_path / "secret_key").write_text("x")
    os.chmod(tmp_path / "secret_key", 0o644)
    settings.KNOBS = {"chat.no_such_knob": 1}
    code, found = run()
    told = {name: rows[0]["level"] for name, rows in found.items() if rows[0]["level"] == "wrong"}
    assert (code, told.keys()) == (1, {"model", "disk", "keys", "settings"})
    assert "chat.no_such_knob" in found["settings"][0]["text"]


def test_no_model_no_backup_and_an_unknown_model_are_notes(
    healthy: Persona, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(servers, "list_models", lists("another"))
    for backup in (tmp_path / "backups").iterdir():
        backup.unlink()
    code, found = run()
    assert (code, found["model"][0]["level"], found["backups"][0]["level"]) == (0, "note", "note")
    connections.remove()
    code, found = run()
    assert (code, found["model"][0]["level"]) == (0, "note")
    assert "rules" in found["model"][0]["text"]


def test_a_database_that_cannot_be_read_is_the_first_and_hides_no_other(
    healthy: Persona, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any) -> None:
        raise OperationalError(SECRET)

    monkeypatch.setattr(doctor, "MigrationExecutor", refuse)
    code, found = run()
    assert (code, set(found)) == (1, {"database", "disk"})
    assert "DATABASE_KEY" in found["database"][0]["advice"]


def test_a_check_that_breaks_is_told_without_what_it_said(healthy: Persona, monkeypatch: pytest.MonkeyPatch) -> None:
    def fall(_now: Any) -> dict[str, int]:
        raise RuntimeError(SECRET)

    monkeypatch.setattr(doctor.store_checks, "check", fall)
    code, found = run()
    assert (code, found["memory"][0]["text"]) == (1, "This could not be checked (RuntimeError).")
