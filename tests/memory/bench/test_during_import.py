"""The measurement of turns during an import: each wait counts for the step in which it began, and nothing else."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from memory.bench import during_import
from memory.models import ImportJob
from persona.models import Persona
from tests.installation import ROOT, Installation
from tests.memory.imports.importing_files import analyze_file, begin_import, whatsapp
from tests.memory.sessions import NOW

CHAT = whatsapp("Ana: I met Tomas at the harbour.", "Mira: How was it?")
NAME = "WhatsApp Chat with Mira.txt"


class PagesAndWorker:
    """Pages whose rounds take as long as a step of the worker: each round sets the next of `steps`."""

    def __init__(self, job: ImportJob, *steps: str) -> None:
        self.job, self.next_steps = job, list(steps)
        self.measured_steps: list[str] = []

    def rounds(self, count: int, step: str) -> None:
        self.measured_steps += [step] * count
        if self.next_steps:
            ImportJob.objects.filter(pk=self.job.pk).update(status=self.next_steps.pop(0), holder="")

    def count_rounds(self, step: str) -> int:
        return self.measured_steps.count(step)


@pytest.mark.django_db
def test_turns_continue_through_analysis_and_storing_and_questions_are_answered(mira: Persona) -> None:
    job = analyze_file(mira, CHAT, NAME)
    pages: Any = PagesAndWorker(job, "writing", "remembering", "remembering", "drafting", "done")
    seconds = during_import.take_turns_during(pages, job, limit=5)
    assert pages.measured_steps == ["writing", "writing", "remembering", "remembering", "drafting"]
    assert (job.status, job.choices["roles"]) == ("done", {"Ana": "user", "Mira": "other"})
    assert list(seconds) == ["writing"]


@pytest.mark.django_db
def test_turns_during_remembering_stop_at_the_limit(mira: Persona) -> None:
    job = begin_import(mira, CHAT, NAME)
    ImportJob.objects.filter(pk=job.pk).update(status="remembering", confirmed_at=NOW)
    pages: Any = PagesAndWorker(job)
    during_import.take_turns_during(pages, job, limit=3)
    assert pages.measured_steps == ["remembering"] * 3


def test_the_ratio_is_that_of_the_slowest_twentieth_to_the_same_alone() -> None:
    figures = during_import.summarize_waits(
        {"before": [10.0, 10.0], "writing": [30.0, 30.0, 30.0], "after": [20.0] * 9}
    )
    assert figures["writing"] == {"p50": 30.0, "p95": 30.0, "ratio": 1.5, "turns": 3}
    assert {step: values["ratio"] for step, values in figures.items()} == {"before": 0.5, "writing": 1.5, "after": 1.0}


def test_the_table_names_owner_and_step_of_each_figure() -> None:
    step = {"p50": 90.0, "p95": 120.4, "ratio": 1.2, "turns": 9}
    figures = {
        "megabytes": 2,
        "lines": 80,
        "stored": 80,
        "first_token_ms": {"another": {"writing": step}},
        "seconds": {"writing": 4.4},
        "worst_ratio": 1.2,
    }
    first, _head, row, *rest = during_import.format_table(figures)
    assert first == "2 MB, 80 lines, 80 of them stored"
    assert row.split() == ["another,", "writing", "90", "120", "1.20", "9"]
    assert rest == ["writing took 4 s", "at the 95th percentile at most 1.20 times as long as alone"]


@pytest.mark.installation
@pytest.mark.campaign
def test_pages_are_answered_while_a_file_comes_in(tmp_path: Path) -> None:
    sizes = ["--megabytes", "1", "--nodes", "40", "--turns", "3"]
    command = [sys.executable, "manage.py", "bench", "--json", "beside", *sizes]
    env = Installation(tmp_path).env
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    assert figures["stored"] == figures["lines"] > 1_000
    for steps in figures["first_token_ms"].values():
        assert {"before", "remembering", "after"} <= set(steps)
        assert steps["before"]["turns"] == steps["after"]["turns"] == 3
