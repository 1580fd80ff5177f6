"""One plain form for all that compares texts: what nobody sees and nobody minds makes no difference."""

import re
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from chat.care.rules import plainly
from echovessel.language.plain_text import comparable_form, plain_form, simplify
from tests.table import each_row

ROOT = Path(__file__).parents[3]

SAME = (
    ("My cat Milo died in Lisbon.", "my  CAT milo, died in Lisbon"),
    ("My cat Milo died", "My c\u00ada\u200bt M\u2060ilo d\ufeffied"),
    ("My cat Milo died", "Ｍｙ ｃａｔ Ｍｉｌｏ ｄｉｅｄ"),
    ("My cat Milo died", "Mу саt Milо diеd"),  # Cyrillic letters
    ("It's José's", "Its Jose\u0301\u2019s"),
    ("小黑昨天走丢了", "小黑昨天走丟了"),
    ("我們後來發現頭髮乾了", "我们后来发现头发干了"),
    ("憂鬱的颱風", "忧郁的台风"),
    ("小黑昨天走丢了", "小 黑 昨天\u3000走丢了。"),
    ("小黑昨天走丢了", "小\u200b黑\u200d昨\ufe0f天走丢了"),
    ("我爱Milo很久了", "我爱 Milo 很久了"),
    ("昨日ねこが死んだ", "昨日 ねこ が 死んだ"),
    ("แมวของฉันตายแล้ว", "แมว ของ ฉัน ตาย แล้ว"),
    ("Моя кошка умерла", "моя кошка  умерла!"),
)
DIFFERENT = (
    ("Ana's mother died.", "Ana's father died."),
    ("我们周五见面", "我们周六见面"),
    ("not here", "nothere"),
    ("내 고양이가 죽었다", "내고양이가죽었다"),  # Korean is written with spaces
    ("ตา", "ตี"),
    ("I have 3 cats", "I have 2 cats"),
    ("?!", "..."),
)


def test_two_writings_of_the_same_words_have_one_form_and_other_words_another() -> None:
    assert [pair for pair in SAME if comparable_form(pair[0]) != comparable_form(pair[1])] == []
    assert [pair for pair in DIFFERENT if comparable_form(pair[0]) == comparable_form(pair[1])] == []


@each_row("form", [plain_form, comparable_form])
def test_a_text_of_nothing_has_no_form(form) -> None:  # type: ignore[no-untyped-def]
    assert [form(text) for text in ("", " \n\t", "\u200b\ufeff")] == ["", "", ""]


@given(st.text(alphabet="abc é小黑 \u200b丟，.\n'ไา한й"))
def test_the_form_of_a_form_is_itself(text: str) -> None:
    assert comparable_form(comparable_form(text)) == comparable_form(text)


@given(st.text(alphabet="ab AB'`_-.\n\t\x1f\x7f0"))
def test_plain_ascii_is_read_by_a_shorter_way_to_the_same_form(text: str) -> None:
    assert comparable_form(text) == comparable_form(f"{text} \u200b")


def test_letters_with_marks_of_their_own_keep_them_beside_an_accent() -> None:
    assert plain_form("café й が 한") == "cafe й が 한"


def test_the_crisis_detector_reads_the_same_form() -> None:
    assert plainly is plain_form


def test_no_list_of_ours_is_written_in_characters_that_are_folded_away() -> None:
    others = (ROOT / "echovessel/language/requests").glob("*.py")
    for path in (*(ROOT / "chat/care").rglob("*.py"), *others):
        written = re.sub(r"#.*|\"\"\".*?\"\"\"", "", path.read_text(encoding="utf-8"), flags=re.S)
        assert {one for one in written if simplify(one) != one} <= set("殺妳"), path
