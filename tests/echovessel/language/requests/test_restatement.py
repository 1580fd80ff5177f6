"""How a memory would read after what is said of it later: pairs of a memory and a sentence, in both languages."""

import csv
import json
from pathlib import Path

import pytest

from echovessel.language.requests.restatement import read_change, read_claim, read_restatements
from tests.everyday import everyday_messages

HERE = Path(__file__).parent


def pairs(language: str) -> list[tuple[str, str, str]]:
    with (HERE / f"restatements.{language}.tsv").open(encoding="utf-8") as lines:
        rows = csv.reader((line for line in lines if line[0] != "#"), "excel-tab", quoting=csv.QUOTE_NONE)
        return [(memory, said, right) for memory, said, right in rows]


def rewritten(memory: str, said: str) -> str:
    """The memory as it would read; "" where nothing is proposed."""
    for one in read_restatements(said):
        change = read_change(memory, read_claim(one.subject), "Ana")
        if change and change.new != memory[change.start : change.end]:
            return memory[: change.start] + change.new + memory[change.end :]
    return ""


@pytest.mark.parametrize("language", ["en", "zh"])
def test_what_is_said_otherwise_replaces_its_place_alone(language: str) -> None:
    told = [(*pair, rewritten(*pair[:2])) for pair in pairs(language)]
    wrong = [row for row in told if row[3] and row[3] != row[2]]
    missed = [row for row in told if row[2] and not row[3]]
    assert len(told) > 90
    assert len(wrong) <= 0.011 * len(told), wrong
    assert len(missed) <= 0.05 * len(told), missed


@pytest.mark.parametrize("language", ["en", "zh"])
def test_what_people_say_every_day_rewrites_no_memory(language: str) -> None:
    memories = {memory for memory, _said, _right in pairs(language)}
    texts = (HERE / "aside" / f"{language}_lookalikes.jsonl").read_text(encoding="utf-8").splitlines()
    said = [json.loads(text)["text"] for text in texts]
    said += everyday_messages(language)[::6]
    claims = [(one.subject, read_claim(one.subject)) for text in said for one in read_restatements(text)]
    assert len(claims) > 20
    taken = [(words, memory) for words, claim in claims for memory in memories if read_change(memory, claim, "Ana")]
    assert len(taken) <= 2, taken
