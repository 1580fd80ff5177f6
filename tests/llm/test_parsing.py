"""Lenient about form, never about content."""

import pytest
from pydantic import BaseModel

from echovessel.llm.parsing import Unreadable, parsed


class Mood(BaseModel):
    """A small schema."""

    words: str
    impact: int = 0
    tags: list[str] = []


@pytest.mark.parametrize(
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
        '{"words": "calm", "impact": 4, "tags": ["a", "b',
    ],
)
def test_these_are_one_answer(text: str) -> None:
    value = parsed(text, Mood)
    assert (value.words, value.impact) == ("calm", 4)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no JSON object"),
        ("I would rather not.", "no JSON object"),
        ("[]", "no JSON object"),
        ('{"impact": 4}', "words: Field required"),
        ('{"words": "calm", "impact": "heavy"}', "impact: Input should be a valid integer"),
        ('{"words": "calm", "impact":', "impact"),
        ("{", "words"),
    ],
)
def test_these_are_no_answer_and_say_why(text: str, why: str) -> None:
    with pytest.raises(Unreadable, match=why):
        parsed(text, Mood)


def test_signs_and_braces_inside_words_stay() -> None:
    assert parsed('{"words": "+1 for {me}\\n```json", "impact": 1}', Mood).words == "+1 for {me}\n```json"


def test_a_half_answer_is_not_completed_where_that_is_forbidden() -> None:
    with pytest.raises(Unreadable, match="cut off"):
        parsed('{"words": "calm", "tags": ["a", "b', Mood, mend=False)
    assert parsed('{"words": "calm"}', Mood, mend=False).words == "calm"
