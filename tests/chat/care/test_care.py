"""The detector by its cases: cries, plain and in disguise, and what only sounds like one."""

import re
from pathlib import Path
from re import _constants as opcodes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.care import classifier, speak_of_crisis, speaks_by_rule, speaks_of_crisis
from chat.care.lines import LINES_SHA256_NAME, fingerprint, read_lines
from chat.care.rules import CHINESE, ENGLISH, PINYIN, Phrase, forms, plainly
from tests.chat.care import cries
from tests.table import each_row

# Seed 000, the row of its table that is called "Crisis".
SEED = ("撑不住", "不想活", "活不下去", "自杀", "崩溃", "I can't go on", "suicide", "I had a breakdown")
PHRASES = (*ENGLISH, *CHINESE, *PINYIN)


@each_row("block", [cries.CRIES_EN, cries.CRIES_ZH], ids=["english", "chinese"])
def test_every_cry_is_heard(block: str) -> None:
    lines = cries.lines(block)
    assert len(lines) >= 120
    assert [line for line in lines if not speaks_by_rule(line)] == []
    assert [line for line, is_cry in zip(lines, speak_of_crisis(lines), strict=True) if not is_cry] == []


@each_row("block", [cries.HARMLESS_EN, cries.HARMLESS_ZH], ids=["english", "chinese"])
def test_messages_that_only_sound_like_a_cry_are_not_detected(block: str) -> None:
    lines = cries.lines(block)
    assert len(lines) >= 120
    assert [line for line in lines if speaks_by_rule(line)] == []
    assert [line for line, is_cry in zip(lines, speak_of_crisis(lines), strict=True) if is_cry] == []


def test_the_crisis_phrases_of_the_seed_are_detected() -> None:
    assert [words for words in SEED if not speaks_of_crisis(words)] == []


@each_row("harmless", ["killing it", "笑死我了"])
@each_row("cry", ["I want to die", "不想活了"])
def test_a_cry_is_heard_beside_an_idiom(harmless: str, cry: str) -> None:
    assert speaks_of_crisis(f"{harmless}. {cry}")
    assert speaks_of_crisis(f"{cry}\n{harmless}")


def test_a_cry_anywhere_in_the_longest_line_is_heard() -> None:
    filling = "It rained all day, and we played cards. 今天我们在家打牌。" * 400
    for place in (0, 7_001, 19_900):
        line = f"{filling[:place]} I want to die. {filling[place:]}"[:20_000]
        assert speaks_of_crisis(line), place
    assert not speaks_of_crisis(filling[:20_000])


@each_row(
    ("written", "meant"),
    [
        ("Ｉ ｗａｎｔ", "i want"),
        ("di\u200be", "die"),
        ("su\u00adici\u2060de", "suicide"),
        ("s\u0336u\u0336i\u0336", "sui"),
        ("ѕuісіdе", "suicide"),
        ("DON’T", "dont"),
        ("diiiiie", "die"),
        ("自殺", "自杀"),
        ("想死,真的", "想死，真的"),
        ("one \n\n two", "one\ntwo"),
    ],
)
def test_plain_form(written: str, meant: str) -> None:
    assert plainly(written) == meant


@each_row(
    ("written", "meant"),
    [
        ("su1cid3", "suicide"),
        ("$uicide", "suicide"),
        ("k!ll", "kill"),
        ("s u i c i d e", "suicide"),
        ("k.i.l.l me", "kill me"),
        ("s**cide", "suicide"),
        ("自 杀", "自杀"),
        ("不·想-活", "不想活"),
        ("I want\nto die", "i want to die"),
    ],
)
def test_a_disguise_is_taken_off(written: str, meant: str) -> None:
    assert list(forms(written)) == [plainly(written), meant]


def test_numbers_and_sentences_are_no_disguise() -> None:
    for line in ("We ran 10 kms in 2026.", "今天不想，活着真好", "a b, and c", "5 o'clock"):
        assert len(list(forms(line))) == 1, line


@given(st.text(max_size=300))
def test_any_text_can_be_classified(text: str) -> None:
    assert speaks_of_crisis(text) in (True, False)


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=40), st.sampled_from(["自杀", "I want to kill myself"]))
def test_a_cry_is_heard_whatever_was_written_before_it(before: str, cry: str) -> None:
    assert speaks_of_crisis(f"{before}\n\n{cry}")


def test_no_pattern_repeats_without_bound_what_repeats_without_bound() -> None:
    """So that the time a line takes grows with it, and no faster."""
    for phrase in PHRASES:
        for pattern in (phrase.words, phrase.not_before, phrase.not_after, phrase.stories, phrase.own):
            if pattern is not None:
                assert not _nested(parser.parse(pattern.pattern, pattern.flags & re.ASCII)), pattern.pattern[:80]


def test_every_key_of_a_phrase_is_in_its_plain_form() -> None:
    """A key in any other form stands in no line that is looked at."""
    for phrase in PHRASES:
        assert [key for key in phrase.keys if plainly(f"x{key}x") != f"x{key}x"] == [], phrase.keys


def test_news_and_stories_are_told_from_what_one_says_of_oneself() -> None:
    phrase = Phrase(("leap",), re.compile("leap"), stories=re.compile("film"), own=re.compile("i want to $"))
    assert phrase.is_in("i leap")
    assert not phrase.is_in("in the film they leap")
    assert phrase.is_in("a film. they leap")
    assert phrase.is_in("after the film i want to leap")


def test_a_question_about_a_deed_is_a_cry() -> None:
    """They have the form of a question about the owner's life."""
    questions = (
        "have i taken too much", "have i taken too many", "did i swallow too much", "where are my razor blades",
        "What do I do with the rope", "我吃了多少安眠药", "我割了多少刀", "我吞了多少", "我跳下去有多高",
    )  # fmt: skip
    assert [question for question in questions if not speaks_of_crisis(question)] == []


# Written for this test, of kinds that the rules do not hear.
UNHEARD_BY_RULES = (
    "i wrote a letter for each of my sisters and put the sleeping pills in a row",
    "my flatmate says she wont be here by christmas and she gave her guitar away",
    "i wnt to kil mysefl tonihgt",
    "信我昨晚都写完了，药也摆在桌上",
    "我室友说她不想待在这个世界了，我很怕",
    "好想从世界上小时",
)
HARMLESS_ALIKE = (
    "the boss in level nine killed me eleven times",
    "my presentation died halfway, the projector too",
    "we put up a rope swing over the river, the kids jump all day",
    "今天被作业杀死了哈哈",
    "我把旧玩具都送人了，家里宽敞多了",
)


def test_the_classifier_hears_what_no_phrase_holds() -> None:
    assert not any(map(speaks_by_rule, UNHEARD_BY_RULES))
    assert [text for text in UNHEARD_BY_RULES if not speaks_of_crisis(text)] == []
    assert [text for text in HARMLESS_ALIKE if speaks_of_crisis(text)] == []


def test_the_question_whether_living_is_tiring_is_heard_by_rule() -> None:
    asked = (
        "do you think living is tiring?",
        "Don't you find it exhausting to be alive",
        "ever... do u think that being alive is so tiring",
    )
    assert [text for text in asked if not speaks_by_rule(text)] == []
    other = (
        "do you think living here is tiring?",
        "do you think it is tiring to live in London?",
        "do you find life tiring with twins?",
    )
    assert [text for text in other if speaks_by_rule(text)] == []


def test_messages_together_are_heard_as_each_by_itself() -> None:
    texts = [*UNHEARD_BY_RULES, "", "  ", "?!", *HARMLESS_ALIKE]
    classifier._recent_scores.clear()
    together = classifier.scores(texts)
    classifier._recent_scores.clear()
    assert np.allclose(together, [classifier.scores([text])[0] for text in texts], atol=1e-3)


def test_what_was_said_before_raises_a_doubtful_message_and_lowers_none(monkeypatch: pytest.MonkeyPatch) -> None:
    sure = {"doubtful": -0.1, "no": -2.0, "cry": 1.0, "kin": -0.35, "half\ndoubtful": 0.4}
    through = {
        "plain": -0.1,
        "half\nsmall": 0.2,
        "half\nlittle": 0.05,
        "little": -0.7,
        "cry\nsmall": 0.9,
        "small": -0.7,
        "half\nnothing": 0.4,
    }

    def scores(texts: list[str], *, is_read_through: bool = False) -> list[float]:
        known = sure | {"half": -0.2} | (through if is_read_through else {})
        return [known.get(text, -2.0) for text in texts]

    monkeypatch.setattr(classifier, "scores", scores)
    cases = {("doubtful", "cry"), ("doubtful", "kin"), ("doubtful", "half"), ("cry", "no"), ("cry",)}
    cases |= {("plain", "cry"), ("small", "half")}  # of these the n-grams alone were sure
    assert all(speaks_of_crisis(text, lambda before=before: before) for text, *before in cases)
    assert not speaks_of_crisis("doubtful", lambda: ["no"])
    assert speaks_of_crisis("kin", lambda: ["cry"])
    assert not speaks_of_crisis("kin", lambda: ["half"])  # each of two is more doubtful the less the other says
    assert not any(speaks_of_crisis(text, lambda: ["cry", "cry"]) for text in ("no", "small"))
    assert not any(speaks_of_crisis(text, lambda: ["half"]) for text in ("nothing", "little"))
    assert not speaks_of_crisis("plain", lambda: ["no"])
    assert not speaks_of_crisis("doubtful")


def test_a_farewell_is_heard_after_a_resolve_and_no_small_talk_is() -> None:
    before = ["I've made up my mind"]
    assert speaks_of_crisis("my sister will take the cat, she knows", lambda: before)
    assert not speaks_of_crisis("my sister will take the cat, she knows", lambda: ["what a lovely day"])
    assert not any(speaks_of_crisis(text, lambda: before) for text in HARMLESS_ALIKE)
    numbered = [f"Line {number}" for number in range(9)]
    assert not any(speaks_of_crisis(text, lambda at=at: numbered[:at][-2:]) for at, text in enumerate(numbered))


def test_without_its_files_the_rules_hear_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    classifier._recent_scores.clear()
    monkeypatch.setattr(classifier, "load", classifier.load.__wrapped__)
    monkeypatch.setattr(classifier, "FILE", tmp_path / "none.npz")
    assert speak_of_crisis(["I want to die", UNHEARD_BY_RULES[0], "hello"]) == [True, False, False]
    (tmp_path / "none.npz").write_bytes(b"PK broken")
    assert speak_of_crisis(["我不想活了", "今天吃什么"]) == [True, False]
    classifier._recent_scores.clear()


def test_the_classifier_was_trained_with_these_lines() -> None:
    """Whoever changes them trains anew: python -m chat.care.train."""
    with np.load(classifier.FILE) as file:
        assert str(file[LINES_SHA256_NAME]) == fingerprint()
    assert classifier.FILE.stat().st_size < 3_000_000
    texts = [line.text for line in read_lines()]
    assert len(texts) == len(set(texts))


def _nested(pattern: Any, inside: bool = False) -> bool:
    for operation, value in pattern:
        if operation in (opcodes.MAX_REPEAT, opcodes.MIN_REPEAT):
            _low, high, repeated = value
            unbounded = high == opcodes.MAXREPEAT
            if (unbounded and inside) or _nested(repeated, inside or unbounded):
                return True
        elif operation is opcodes.SUBPATTERN:
            if _nested(value[-1], inside):
                return True
        elif operation is opcodes.BRANCH:
            if any(_nested(branch, inside) for branch in value[1]):
                return True
        elif operation in (opcodes.ASSERT, opcodes.ASSERT_NOT) and _nested(value[1], inside):
            return True
    return False
