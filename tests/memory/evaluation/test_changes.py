"""Two told stories of nothing but changes: in part, from A to B to C, back to A, no longer, of somebody else, on a day.

The author of the rule wrote the stories, their truth and the replies to the first question in `changes/replies`, which
name what each item replaces and nothing that only rests on it. The verdicts of the second question are those of a
model's stand-in that saw the prompts alone.
"""

from pathlib import Path
from typing import Any

import pytest

from memory.consolidation import reconciliation
from tests.memory.evaluation.test_eval_memory import measured

FOLDER = Path(__file__).parent / "changes"

pytestmark = pytest.mark.django_db(transaction=True)


def told(**options: Any) -> dict[str, float]:
    figures: dict[str, float] = measured(stories=FOLDER / "stories", **options)["all"]
    return figures


def test_with_the_second_question_only_the_present_is_told_as_present() -> None:
    figures = told(replay=True, replies=FOLDER / "replies")
    assert (figures["replaced"], figures["facts kept"], figures["nothing invented"]) == (1.0, 1.0, 1.0)


@pytest.mark.campaign
def test_without_the_second_question_the_past_is_told_as_present(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 22 that have ended 14 are told as past: 0.64."""
    monkeypatch.setattr(reconciliation, "reconcile", lambda lease: None)
    assert told(replay=True, replies=FOLDER / "replies")["replaced"] < 0.8


@pytest.mark.campaign
def test_memory_s_own_rules_make_nothing_up_of_changes() -> None:
    """Measured on 2026-11-23: replaced 0.73, facts 0.69."""
    figures = told()
    assert figures["nothing invented"] == 1.0
    assert figures["replaced"] >= 0.6
