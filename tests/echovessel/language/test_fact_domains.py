"""What a question about somebody's life is about."""

from echovessel.language.fact_domains import asks_of_listener, domains_asked
from tests.table import each_row


@each_row(
    ("text", "domains"),
    [
        ("What's my job?", {"work"}),
        ("Where do I live now?", {"home"}),
        ("Do I have any family in England?", {"people"}),
        ("What can't I eat?", {"health", "likes"}),
        ("Do you remember my dog?", {"belongings"}),
        ("How old am I?", {"about"}),
        ("What was I planning for next summer?", {"plans"}),
        ("Am I religious?", {"beliefs"}),
        ("我做什么工作？", {"work"}),
        ("我对什么过敏？", {"health"}),
        ("我妹妹在哪儿？", {"people"}),
        ("I love my job.", set()),
        ("How is the weather?", set()),
        ("", set()),
    ],
)
def test_a_question_names_its_domains(text: str, domains: set[str]) -> None:
    assert set(domains_asked(text)) == domains


def test_a_question_about_the_companion_is_told_from_one_about_the_owner() -> None:
    assert asks_of_listener("Do you have a pet?")
    assert asks_of_listener("你住在哪里？")
    assert not asks_of_listener("Do you remember my pet?")
    assert not asks_of_listener("我住在哪里？")
