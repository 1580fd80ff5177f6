"""Quotes are found up to form, and come back as they stand in the message."""

from hypothesis import given
from hypothesis import strategies as st

from memory.consolidation.evidence import find
from tests.table import each_row


@each_row(
    ("quote", "content", "passage"),
    [
        ("a white cat", "I have a white cat.", "a white cat"),
        ("A White Cat", "I have a white cat.", "a white cat"),
        ('he said "no"', "Then he said “no” again.", "he said “no”"),
        ("I'm fine", "Well, I’m fine.", "I’m fine"),
        ("我养了只白猫,叫小黑", "我养了只白猫，叫小黑。", "我养了只白猫，叫小黑"),
        ("叫 小黑", "我养了只白猫，叫小黑。", "叫小黑"),
        ("养了 只白猫", "我养了\n只白猫", "养了\n只白猫"),
        ("two  words", "one two\n  words three", "two\n  words"),
        ("３ cats", "I have 3 cats", "3 cats"),
        ("well - maybe", "well — maybe", "well — maybe"),
        ('"a white cat"', "I have a white cat.", "a white cat"),
        ("I have a white…", "I have a white cat.", "I have a white"),
        ("ﬁne", "I am fine.", "fine"),
        ("art", "A party of art", "art"),
        ("Milo", "我的猫叫Milo。", "Milo"),
        ("猫叫", "我的猫叫Milo。", "猫叫"),
        ("是", "是。", "是"),
        ("y", " Y! ", "Y"),
    ],
)
def test_a_quote_is_found_up_to_form(quote: str, content: str, passage: str) -> None:
    span = find(quote, content)
    assert span is not None
    assert span.text == passage == content[span.start : span.end]


@each_row(
    ("quote", "content"),
    [
        ("a black cat", "I have a white cat."),
        ("", "I have a white cat."),
        ("   ", "I have a white cat."),
        ('""', "I have a white cat."),
        ("I have a white cat and a dog", "I have a white cat."),
        ("whitecat", "I have a white cat."),
        ("小白", "我养了只白猫，叫小黑。"),
        ("a", "I have a white cat."),
        ('"a"', "I have a white cat."),
        ("猫", "我养了只白猫"),
        ("art", "a party"),
        ("ART", "a party"),
        ("par", "a party"),
        ("3 cats", "13 cats"),
        ("I have a whi…", "I have a white cat."),
    ],
)
def test_text_absent_from_the_message_is_not_found(quote: str, content: str) -> None:
    assert find(quote, content) is None


def _cut(before: str, after: str) -> bool:
    """Whether a word may go on from the one to the other."""
    return before[-1:].isalnum() and after[:1].isalnum()


@given(st.text(), st.integers(0, 40), st.integers(1, 40))
def test_any_part_of_a_message_is_found_in_it(content: str, start: int, length: int) -> None:
    part = content[start : start + length]
    span = find(part, content)
    if len(part.strip()) < 2:
        assert span is None or span.text.strip()
    elif not _cut(content[:start], part) and not _cut(part, content[start + length :]):
        assert span is not None
        assert span.text == content[span.start : span.end] == part.strip()


@given(st.text(max_size=30), st.text(max_size=60))
def test_a_span_always_points_into_the_message(quote: str, content: str) -> None:
    span = find(quote, content)
    if span:
        assert 0 <= span.start < span.end <= len(content)
        assert span.text == content[span.start : span.end]
