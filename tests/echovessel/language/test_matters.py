"""Whether a text speaks of a matter that was to be left alone: by its words, other words for it, and who is who."""

import time

import pytest

from echovessel.language.kinship import relatives_in
from echovessel.language.matters import matter_of, speaks_of
from tests.table import each_row

# Ruth is the mother, Karl the mother's husband, Ben a friend.
PEOPLE = {"ruth": frozenset({"mother"}), "karl": frozenset({"father"}), "露丝": frozenset({"mother"})}
FATHER, FATHER_ZH, EX, MOTHER = "my father", "我爸", "my ex", "my mother's health"
CASES = [
    (FATHER, "How is your dad these days?", True),
    (FATHER, "Did your father ever say why?", True),
    (FATHER, "Has your old man called?", True),
    (FATHER, "Does your mother's husband still sail?", True),
    (FATHER, "What does the husband of your mother think?", True),
    (FATHER, "Your sister's father must be proud.", True),
    (FATHER, "Is Ruth's husband well?", True),
    (FATHER, "Will your parents come for Christmas?", True),
    (FATHER, "Your dad's boat, is it sold?", True),
    (FATHER, "你爸爸身体还好吗？", True),
    (FATHER, "你父亲后来联系你了吗", True),
    (FATHER, "老爸最近怎么样", True),
    (FATHER, "你妈妈的老公还在开船吗", True),
    (FATHER, "露丝的丈夫好吗？", True),
    (FATHER, "Is Tom's father better?", False),
    (FATHER, "How is her dad?", True),
    (FATHER, "How did Tom and his dad get home?", False),
    (FATHER, "Does Ana miss her dad?", True),
    (FATHER, "Is your father-in-law still in hospital?", False),
    (FATHER, "How is your mother?", False),
    (FATHER, "Did Ben's wife like the cake?", False),
    (FATHER, "同事说他爸爸同意了吗", False),
    (FATHER, "她爸爸还好吗", True),
    (FATHER, "朋友的爸爸出院了吗", False),
    (FATHER, "你公公还好吗", False),
    (FATHER, "Did the exam go well?", False),
    (FATHER, "How is the cat?", False),
    (FATHER_ZH, "How is your dad?", True),
    (FATHER_ZH, "你父亲还好吗？", True),
    (FATHER_ZH, "咱爸喜欢什么？", True),
    (FATHER_ZH, "你妈的丈夫最近忙吗", True),
    (FATHER_ZH, "你妹妹的爸爸来过吗", True),
    (FATHER_ZH, "你爸妈过年回来吗", True),
    (FATHER_ZH, "爷爷的儿子都在国外吗", True),
    (FATHER_ZH, "你妈妈好吗", False),
    (FATHER_ZH, "同事的爸爸退休了吗", False),
    (FATHER_ZH, "闺蜜和她爸和好了吗", False),
    (FATHER_ZH, "猫怎么样了？", False),
    (EX, "Have you heard from your ex-boyfriend?", True),
    (EX, "你前男友联系你了吗", True),
    (EX, "What's your next example?", False),
    (EX, "How is your boyfriend?", False),
    (MOTHER, "Is your mum out of hospital?", True),
    (MOTHER, "What's the weather like?", False),
    ("my family", "How is your brother?", True),
    ("my family", "How is Tom's brother?", False),
    ("my kids' father", "Is your ex-husband back?", True),
    ("my drinking", "Did you have any alcohol?", True),
    ("my drinking", "Did you have any soup?", False),
    ("the accident", "那次车祸之后你还开车吗", True),
    ("the accident", "你今天开会了吗", False),
]


@each_row("matter, text, crosses", CASES)
def test_a_matter_is_spoken_of_in_other_words_and_by_who_is_who(matter: str, text: str, crosses: bool) -> None:
    assert speaks_of(text, matter, (), PEOPLE, "Ana") is crosses


@each_row(
    "wish, matter",
    [
        ("Never ask about my father.", "my father"),
        ("Steer clear of my father, please", "my father"),
        ("Avoid the topic of my weight.", "my weight"),
        ("别再提我前任了", "前任"),
        ("我爸的事别问", ""),
    ],
)
def test_a_wish_says_what_it_is_about(wish: str, matter: str) -> None:
    assert matter_of(wish) == matter


@pytest.mark.parametrize("text", ["dad " * 2_000, "your mother's " * 500, "我妈的" * 2_000, "x's " * 2_000])
def test_a_long_text_takes_no_long_time(text: str) -> None:
    began = time.perf_counter()
    relatives_in(text)
    assert time.perf_counter() - began < 1
