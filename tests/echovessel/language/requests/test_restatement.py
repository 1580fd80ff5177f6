"""How a memory would read after what is said of it later: pairs of a memory and a sentence, in both languages."""

import csv
import json
from pathlib import Path

import pytest

from echovessel.language.requests.restatement import (
    MAX_RESTATEMENTS,
    MAX_SENTENCE,
    read_change,
    read_claim,
    read_restatements,
)
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


def test_who_takes_something_back_may_change_what_could_hold_beside_it() -> None:
    for memory, said, right in [
        ("Ana likes jazz.", "You got that wrong, I like blues.", "Ana likes blues."),
        ("Ana wants a garden.", "I want a balcony, not a garden.", "Ana wants a balcony."),
        ("Ana bought a red bicycle.", "Actually I bought a green bicycle.", "Ana bought a green bicycle."),
        ("Ana met Ben in Rome.", "I actually met Zoe in Rome.", ""),
        ("Ana怕狗。", "不对，我怕猫", "Ana怕猫。"),
        ("Ana怕狗。", "其实我怕猫", ""),
        ("Ana爱喝绿茶。", "更正一下，我爱喝红茶", "Ana爱喝红茶。"),
    ]:
        assert rewritten(memory, said) == right, said


def test_a_long_message_restates_few_things_and_what_is_only_denied_restates_none() -> None:
    for line in ("Actually Nora lives in Oslo. ", "其实小雨住在大理。"):
        assert len(list(read_restatements((line * 800)[:10_000]))) == MAX_RESTATEMENTS
    for line in ("I don't like the work in the garden. ", "我不是很喜欢在花园里工作。"):
        assert len(line) < MAX_SENTENCE
        assert not list(read_restatements((line * 800)[:10_000]))


@pytest.mark.parametrize("language", ["en", "zh"])
def test_what_people_say_every_day_rewrites_no_memory(language: str) -> None:
    memories = {memory for memory, _said, _right in pairs(language)}
    texts = (HERE / "aside" / f"{language}_lookalikes.jsonl").read_text(encoding="utf-8").splitlines()
    said = [json.loads(text)["text"] for text in texts]
    said += everyday_messages(language)
    claims = [(one.subject, read_claim(one.subject)) for text in said for one in read_restatements(text)]
    assert len(claims) > 20
    taken = {words for words, claim in claims if any(read_change(memory, claim, "Ana") for memory in memories)}
    assert len(taken) <= 2, taken
