"""Lenient about form, never about content; whatever comes is read or is Unreadable."""

import json
from typing import Any

import json_repair
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from echovessel.llm.structured_answers import MAX_CHARACTERS, MAX_MENDABLE, Unreadable, parse_answer
from memory.consolidation.answer_schema import ExtractionAnswer, ReflectionAnswer
from tests.table import each_row


class Mood(BaseModel):
    """A small schema."""

    words: str
    impact: int = 0
    tags: list[str] = []


@each_row(
    "text",
    [
        '{"words": "calm", "impact": 4}',
        '```json\n{"words": "calm", "impact": 4}\n```',
        '```\n{"words": "calm", "impact": 4}\n```\nThat is all.',
        'Here it is: {"words": "calm", "impact": 4}. I hope it helps.',
        '<think>{"no": 1}</think>{"words": "calm", "impact": 4}',
        '{"words": "calm", "impact": +4}',
        '{"words": "calm", "impact": 4,}',
        '{"words": "calm", "impact": "4"}',
        "{'words': 'calm', 'impact': 4}",
        '{"words": "", "impact": 4, "words": "calm"}',
        '{"words": "calm", "impact": 4, "words": ""}',
        '{"words": "calm", "impact": 4, "tags": ["a", "b"]',
        '{"words": "calm", "impact": 4, "words": "",}',
        'As for {her}: {"words": "calm", "impact": 4}',
        'so {"no": 1}, then</think>{"words": "calm", "impact": 4}',
        '{"words": "calm", "impact": 4, "other": [NaN, -Infinity, 1e999]}',
        '{"words": "calm", "impact": 4, "other": "a 6" nail"}',
        '{"words": "calm" "impact": 4}',
        '{"words": "calm", "impact": 4, "other": %s}' % ("1" * 5_000),
    ],
)
def test_these_are_one_answer(text: str) -> None:
    value = parse_answer(text, Mood)
    assert (value.words, value.impact) == ("calm", 4)


@each_row(
    ("text", "why"),
    [
        ("", "no JSON object"),
        ("I would rather not.", "no JSON object"),
        ("[]", "no JSON object"),
        ('{"impact": 4}', "words: Field required"),
        ('{"words": "calm", "impact": "heavy"}', "impact: Input should be a valid integer"),
        ('{"words": "calm", "impact":', "cut off"),
        ('{"words": "calm", "impact": 4, "tags": ["a", "b', "cut off"),
        ('{"words": "calm", "impact": 4, "tags": ["a"], "mo', "cut off"),
        ("{", "cut off"),
        ('<think>perhaps {"words": "calm"}', "no JSON object"),
        ('{"words": "calm", "impact": %s}' % ("9" * 5_000), "impact"),
        ('{"words": "calm", "impact": NaN}', "impact"),
        ('{"words": "calm", "impact": Infinity}', "impact"),
        ('{"words": "calm", "tags": %s' % ("[" * 5_000), "nested|cut off"),
        ('{"words": "calm", "tags": ' + "[" * 100_000 + "]" * 100_000 + "}", "nested"),
        ("{'words': " + "[" * 5_000 + "]" * 5_000 + "}", "JSON"),
        ("x{" * 2_500_000, "too long"),
    ],
)
def test_these_are_no_answer_and_say_why(text: str, why: str) -> None:
    with pytest.raises(Unreadable, match=why):
        parse_answer(text, Mood)


def test_signs_and_braces_inside_words_stay() -> None:
    assert parse_answer('{"words": "+1 for {me}\\n```json", "impact": 1}', Mood).words == "+1 for {me}\n```json"


def test_a_half_answer_is_not_completed_where_that_is_forbidden() -> None:
    with pytest.raises(Unreadable, match="cut off"):
        parse_answer('{"words": "calm", "tags": ["a", "b"]', Mood, mend=False)
    assert parse_answer('{"words": "calm"}', Mood, mend=False).words == "calm"


def test_what_is_too_long_to_be_mended_is_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """The work of mending grows with the square of the length."""
    lengths: list[int] = []
    monkeypatch.setattr(json_repair, "loads", lambda text: lengths.append(len(text)) or {"words": "calm"})
    sloppy = "{'words': '%s'}"
    with pytest.raises(Unreadable):
        parse_answer(sloppy % ("x" * MAX_MENDABLE), Mood)
    assert parse_answer(sloppy % "calm", Mood).words == "calm"
    assert lengths == [len(sloppy % "calm")]


def test_long_answers_with_the_usual_slips_are_read_all_the_same() -> None:
    item = '{"words": "a, +1 and ,] stay", "impact": +4,},'
    text = '{"words": "calm", "tags": [%s],}' % (item * 1_000)
    assert MAX_MENDABLE < len(text) < MAX_CHARACTERS

    class Many(BaseModel):
        tags: list[Mood]

    tags = parse_answer(text, Many).tags
    assert len(tags) == 1_000
    assert {(one.words, one.impact) for one in tags} == {("a, +1 and ,] stay", 4)}


# --- laws -------------------------------------------------------------------------------------------------------------
FRAGMENTS = st.sampled_from(
    ["{", "}", "[", "]", '"', "'", ",", ":", "\\", "+4", "-0", "1e999", "NaN", "null", "true", "\n", "```", "```json\n",
     "<think>", "</think>", '"events"', '"events": [', '"description"', '"emotional_impact"', "\\ud83d",
     "\ud800", "//", "\x00"]
)  # fmt: skip
GARBAGE = st.one_of(
    st.text(max_size=200), st.lists(st.one_of(FRAGMENTS, st.text(max_size=5)), max_size=40).map("".join)
)
ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=30)  # halves of surrogate pairs, too
VALUES: Any = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), ANY_TEXT),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=10), inner, max_size=4)),
    max_leaves=10,
)
GOOD_EVENT = {"description": "Ana has a cat.", "emotional_impact": 2, "subject": "user", "evidence": []}
SOME_EVENT = st.fixed_dictionaries({}, optional=dict.fromkeys((*GOOD_EVENT, "event_time", "confidence"), VALUES))
FIELDS = ("events", "mentioned_entities", "intentions", "entity_clarification", "session_mood_signal",
          "session_summary", "crisis_messages", "self_check_notes")  # fmt: skip
ANSWERS = st.fixed_dictionaries(
    {}, optional={name: st.one_of(VALUES, st.lists(st.one_of(SOME_EVENT, VALUES), max_size=4)) for name in FIELDS}
)


def read(text: str, schema: Any, **how: Any) -> Any:
    """The value, or None; whatever else is raised fails the test."""
    try:
        return parse_answer(text, schema, **how)
    except Unreadable:
        return None


@given(GARBAGE, st.booleans())
def test_any_text_is_read_or_is_unreadable(text: str, mend: bool) -> None:
    for schema in (Mood, ExtractionAnswer, ReflectionAnswer):
        value = read(text, schema, mend=mend)
        assert value is None or isinstance(value, schema)


@given(GARBAGE)
def test_garbage_before_and_after_an_answer_never_makes_an_empty_one_of_it(garbage: str) -> None:
    whole = json.dumps({"events": [GOOD_EVENT]})
    for text in (f"{garbage}\n{whole}", f"{whole}\n{garbage}"):
        value = read(text, ExtractionAnswer)
        assert value is None or len(value.events) >= 1


@given(ANSWERS)
def test_any_object_is_an_answer_that_can_be_stored_or_is_unreadable(answer: dict[str, Any]) -> None:
    value = read(json.dumps(answer), ExtractionAnswer)
    if value is not None:
        json.dumps(value.model_dump(mode="json"), allow_nan=False, ensure_ascii=False).encode()


@given(st.lists(st.one_of(SOME_EVENT, VALUES), max_size=4), st.lists(VALUES, max_size=4))
def test_a_readable_event_is_never_lost_because_of_its_neighbours(before: list[Any], after: list[Any]) -> None:
    value = read(json.dumps({"events": [*before, GOOD_EVENT, *after]}), ExtractionAnswer)
    assert value is not None
    assert "Ana has a cat." in [event.description for event in value.events]
    assert value.dropped + len(value.events) == len(before) + 1 + len(after)


@given(st.integers(min_value=0, max_value=400))
def test_an_answer_that_breaks_off_anywhere_is_never_taken_for_one_with_fewer_events(at: int) -> None:
    whole = json.dumps({"events": [GOOD_EVENT, GOOD_EVENT], "session_summary": "A talk.", "self_check_notes": ""})
    for text in (whole[:at], "```json\n" + whole[:at]):
        value = read(text, ExtractionAnswer)
        assert value is None or len(value.events) == 2
        cut = read(text, ExtractionAnswer, mend=False)
        assert cut is None or len(cut.events) == 2
