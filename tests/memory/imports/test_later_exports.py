"""A later export adds only new messages, none twice; a chat that only begins alike is imported."""

import json
from collections.abc import Sequence

import pytest

from chat.models import Message
from memory import imports
from memory.imports import runner
from memory.models import ImportJob
from persona.models import Persona
from tests.memory.imports.importing_files import analyze_file, choices_for
from tests.memory.sessions import NOW, Clock

pytestmark = pytest.mark.django_db

DAYS = [f"2024-01-0{day}" for day in range(6, 0, -1)]
TABLE = [
    "date,from,text",
    *(f"{day} 10:0{n}:00,{who},words {n}" for day in DAYS for n, who in ((5, "Mira"), (1, "Ana"))),
]
DIARY = ["full_date,time,mood,note", *(f'{day},10:00,good,"I walked along the river on {day}."' for day in DAYS)]
TRANSCRIPT = [f"2024-01-05 10:0{n}:00 {'Mira' if n % 2 else 'Ana'}: Yes" for n in range(8)]
BROKEN_IDS = [
    json.dumps({"id": f"\ud800{n}", "from": who, "text": f"hello {n}", "date": "2024-01-05T10:00:00"})
    for n, who in enumerate(("Ana", "Mira") * 3)
]


def import_rows(persona: Persona, rows: Sequence[str], name: str) -> ImportJob:
    """Import the rows with the suggested choices."""
    job = analyze_file(persona, "\n".join(rows).encode(), name)
    for _time in range(9):
        if job.is_over:
            break
        if job.status == "asking":
            imports.confirm(job, choices_for(job), NOW)
        runner.run(job.pk, Clock())
        job.refresh_from_db()
    return job


@pytest.mark.parametrize(
    ("name", "head", "rows"),
    [
        ("talk.csv", TABLE[:1], TABLE[1:]), ("daylio.csv", DIARY[:1], DIARY[1:]), ("talk.txt", [], TRANSCRIPT),
        ("talk.jsonl", [], BROKEN_IDS),
    ],
    ids=["table newest first", "diary newest first", "transcript", "ids that are no words"],
)  # fmt: skip
def test_a_longer_export_adds_what_stands_on_top(mira: Persona, name: str, head: list[str], rows: list[str]) -> None:
    for part in (rows[1:], rows, rows):
        job = import_rows(mira, [*head, *part], name)
        assert job.status in ("done", "remembering"), job.failure
        assert Message.objects.count() == len(part)
    assert job.counts["known"] == len(rows)


def test_undated_transcripts_that_begin_alike_come_in_whole(mira: Persona) -> None:
    for number in range(3):
        for _time in range(2):
            import_rows(mira, ["Ana: Hi", "Mira: Hello!", f"Ana: Number {number}", "Mira: Yes"], f"talk {number}.txt")
            assert Message.objects.count() == 4 * (number + 1)
