"""What a file brought that says no times: its stand-in for a day is passed off for none."""

from datetime import timedelta
from uuid import uuid4

import pytest

from memory.models import ImportChunk, ImportJob
from memory.recall import recall
from persona.models import Persona
from tests.memory.sessions import NOW, talk


@pytest.mark.parametrize(
    ("dated", "language", "begins"),
    [
        (False, "en", "- [day unknown] "),
        (False, "zh", "- [日期不详]"),
        (True, "en", "- [2026-03-05] "),
    ],
)
def test_messages_and_memories_of_a_file_without_times_have_no_day(
    mira: Persona, remember: object, dated: bool, language: str, begins: str
) -> None:
    mira.language = language
    mira.save()
    session = talk(mira, "My boat is called Seagull.", status="closed")
    job = ImportJob.objects.create(owner=mira.owner, persona=mira, file_name="a.txt", file_size=1, created_at=NOW)
    ImportChunk.objects.create(
        job=job, persona=mira, number=1, digest="d", kind="talk", dated=dated, session=session
    )  # fmt: skip
    session.messages.update(import_uuid=uuid4())
    remember(mira, "Ana repaired the boat Seagull.", session=session, created_at=NOW)  # type: ignore[operator]
    found = recall(mira, ["What is my boat Seagull?"], now=NOW + timedelta(days=2), budget_tokens=400)
    texts = {item.layer: item.text for item in found.items}
    assert texts["L2"].startswith(begins)
    assert texts["L3"].startswith(begins)
    assert {item.age for item in found.items} == ({"two days ago"} if dated else {""})
