"""Imported text that a tombstone refuses is left nowhere: no row, no byte of the database or its log."""

import pytest
from django.db import connection

from chat.models import Message
from echovessel.db.sqlite import erasure
from memory.forgetting import Target, forget, plan
from memory.imports import runner
from memory.models import Extraction, ImportJob
from persona.models import Persona
from tests.memory.imports.importing_files import analyze_file, confirm_file, whatsapp
from tests.memory.sessions import NOW, Clock, talk

SECRET = "My zebra quilt from Qoloba was burnt by the otters"


def files_with_secret() -> list[str]:
    """The database files that contain the secret."""
    traces = erasure.traces(erasure.files(connection), erasure.forms(SECRET[3:]))
    return [path.name for paths in traces.values() for path in paths]


@pytest.fixture
def forgotten(mira: Persona) -> Persona:
    session = talk(mira, SECRET, "What shall I do?")
    forget(plan([Target("message", session.messages.earliest("id").pk)]), mira.owner, NOW)
    assert files_with_secret() == []
    return mira


@pytest.mark.django_db(transaction=True)
def test_refused_lines_of_a_file_leave_no_byte(forgotten: Persona) -> None:
    file = whatsapp(f"Ana: {SECRET}", "Mira: Oh!", "Ana: It was an old one", "Mira: Still.")
    job = confirm_file(forgotten, file, "chat.txt", {"Ana": "user", "Mira": "persona"})
    assert files_with_secret() != []  # the file itself, as long as it is needed
    while not job.is_over:
        runner.run(job.pk, Clock())
        job.refresh_from_db()
        if job.status == ImportJob.Status.REMEMBERING:
            assert files_with_secret() == []
            break
    assert job.counts["refused"] == 1
    assert not Message.objects.filter(content__contains="zebra").exists()
    assert not Extraction.objects.filter(answer__icontains="zebra").exists()
    assert files_with_secret() == []


@pytest.mark.django_db(transaction=True)
def test_a_file_that_is_turned_down_leaves_no_byte(forgotten: Persona) -> None:
    job = analyze_file(forgotten, f'{{"broken": "{SECRET}'.encode() + b"\0\xff", "export.json")
    assert job.status == "refused", job.status
    assert files_with_secret() == []
