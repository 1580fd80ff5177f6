"""What a question about somebody's life is about."""

from echovessel.language.fact_domains import domains_asked, person_asked_about
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


@each_row(
    ("text", "person"),
    [
        ("Where do I live?", "user"),
        ("我住在哪里？", "user"),
        ("What's my sister called?", "user"),
        ("What does Ana do for a living?", "user"),
        ("Mira, what's my job?", "user"),
        ("我的狗叫什么呀，米拉？", "user"),
        # A frame around the question is about nobody.
        ("Do you remember my pet?", "user"),
        ("Did I tell you what my boat is called?", "user"),
        ("Can you tell me where Ana was born?", "user"),
        ("你还记得我的生日吗？", "user"),
        ("我跟你说过我的工作是什么吗？", "user"),
        ("Do you have a pet?", "persona"),
        ("Can you tell me what your favourite song is?", "persona"),
        ("你住在哪里？", "persona"),
        ("Where did Mira learn to paint?", "persona"),
        ("Mira在哪儿学的画？", "persona"),
        # Of both, of others, and no question.
        ("Where did we go last summer?", ""),
        ("What do Ana and Mira have in common?", ""),
        ("我们去年夏天去了哪里？", ""),
        ("What did you give me?", ""),
        ("What is Ruth's job?", ""),
        ("Is it about Anatolia or Miranda?", ""),
        ("I live in Basel.", ""),
        ("", ""),
    ],
)
def test_a_question_says_whose_matter_it_is(text: str, person: str) -> None:
    assert person_asked_about(text, "Ana", "米拉" if "米拉" in text else "Mira") == person


def test_a_name_may_hold_any_signs() -> None:
    assert person_asked_about("Is A+ (the bot) asleep?", "", "A+ (the bot)") == "persona"
