"""The questions of which a question is made."""

from hypothesis import given
from hypothesis import strategies as st

from echovessel.language.question_parts import MAX_PARTS, parts_of
from tests.table import each_row


@each_row(
    ("text", "parts"),
    [
        # Clauses that ask.
        ("Where does Ruth live, and what does Tom do?", ("Where does Ruth live", "what does Tom do")),
        ("How is Ruth? Where does she live?", ("How is Ruth", "Where does she live")),
        ("弟弟现在在哪儿，妹妹做什么工作？", ("弟弟现在在哪儿", "妹妹做什么工作")),
        # Things that are joined or compared.
        ("Did I like Lisbon or Porto more?", ("Did I like Lisbon more?", "Did I like Porto more?")),
        (
            "What do my sister and my boss have in common?",
            ("What do my sister have in common?", "What do my boss have in common?"),
        ),
        ("What do both Ruth and Tom drink?", ("What do Ruth drink?", "What do Tom drink?")),
        ("How are Tom's dog and Ruth's cat?", ("How are Tom's dog?", "How are Ruth's cat?")),
        (
            "What did I say about Lisbon, Porto and Rome?",
            ("What did I say about Lisbon?", "What did I say about Porto?", "What did I say about Rome?"),
        ),
        ("What have I bought or made for her?", ("What have I bought for her?", "What have I made for her?")),
        ("小王和小李都喜欢什么？", ("小王都喜欢什么？", "小李都喜欢什么？")),
        ("我喜欢咖啡还是茶？", ("我喜欢咖啡", "茶？")),
        (
            "我去过北京、上海和广州的哪些地方？",
            ("我去过北京的哪些地方？", "我去过上海的哪些地方？", "我去过广州的哪些地方？"),
        ),
        # One thing, a statement, nothing.
        ("Where does Ruth live?", ()),
        ("When and where?", ()),
        ("What do you and I do?", ()),
        ("I like Lisbon and Porto.", ()),
        ("我在哪里工作？", ()),
        ("and?", ()),
        ("", ()),
    ],
)
def test_a_question_is_taken_apart_where_it_asks_several_things(text: str, parts: tuple[str, ...]) -> None:
    assert parts_of(text) == parts


@given(
    st.text(max_size=300)
    | st.lists(st.sampled_from(["and", "or", ",", "what", "Ruth", "my", "和", "?", "is"])).map(" ".join)
)
def test_any_text_can_be_taken_apart(text: str) -> None:
    parts = parts_of(text)
    assert len(parts) <= MAX_PARTS
    assert len(parts) != 1
    assert all(part.strip() for part in parts)
