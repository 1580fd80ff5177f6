"""Texts become vectors: those of several threads together, those of a moment ago not again."""

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from echovessel.embeddings import embedding
from tests.table import each_row


class Encoder:
    """Stands in for the model: writes down what it is given, and works only when it is let."""

    def __init__(self) -> None:
        self.calls: list[list[str]] = []
        self.let = threading.Event()
        self.let.set()

    def __call__(self, texts: Sequence[str], model: str) -> np.ndarray:
        self.calls.append(list(texts))
        assert self.let.wait(10)
        if "broken" in texts:
            raise embedding.EmbeddingUnavailable("the file is missing")
        return np.stack([np.full(embedding.DIMENSION, len(text), dtype=np.float32) for text in texts])


@pytest.fixture
def encoder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Encoder]:
    made = Encoder()
    monkeypatch.setattr(embedding, "_encode", made)
    monkeypatch.setattr(embedding, "_recent_vectors", embedding._RecentVectors())
    yield made
    made.let.set()


def cosine(one: str, other: str, model: str = embedding.BUNDLED) -> float:
    first, second = embedding.embed([one, other], model)
    return float(first @ second)


@pytest.mark.real_embeddings
@each_row(
    ("chinese", "like_it", "english", "other"),
    [
        ("她养了一只猫。", "家里有只小猫。", "She has a cat.", "公司要裁员了。"),
        ("妈妈生病住院了。", "我母亲在医院。", "My mother is ill in hospital.", "他们在海边结婚。"),
        ("我害怕坐飞机。", "飞行让我恐惧。", "I am afraid of flying.", "这家餐馆很好吃。"),
    ],
)
def test_chinese_lines_are_near_what_means_the_like_in_either_language(
    chinese: str, like_it: str, english: str, other: str
) -> None:
    nearest_stranger = max(cosine(chinese, other), cosine(english, other))
    assert cosine(chinese, like_it) > nearest_stranger + 0.1
    assert cosine(chinese, english) > nearest_stranger + 0.2
    assert cosine(chinese, english, embedding.PLAIN) < cosine(chinese, english) - 0.2


@pytest.mark.real_embeddings
@each_row(
    ("one", "other"),
    [
        ("妈妈去世了", "爸爸去世了"),
        ("猫生病了", "狗生病了"),
        ("张伟喜欢爬山", "王芳喜欢爬山"),
        ("妹妹小云在杭州读大学", "妹妹小雨在杭州读大学"),
        ("张伟", "王芳"),
    ],
)
def test_who_and_what_it_is_about_makes_a_difference_in_chinese(one: str, other: str) -> None:
    assert cosine(one, other) < 0.92
    assert cosine(one, other) < cosine(one, other, embedding.PLAIN)


@pytest.mark.real_embeddings
def test_english_has_the_same_vector_as_before_and_chinese_another() -> None:
    for text, is_same in (("Ana keeps bees.", True), ("安娜养蜜蜂。", False)):
        bundled, plain = embedding.embed([text], embedding.BUNDLED), embedding.embed([text], embedding.PLAIN)
        assert np.allclose(bundled, plain, atol=1e-6) == is_same


def test_the_plain_model_is_alike_where_there_is_no_chinese(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding, "_in_use", embedding.ModelInUse(embedding.BUNDLED))
    assert embedding.alike(embedding.BUNDLED, "猫")
    assert embedding.alike(embedding.PLAIN, "Ana's cat")
    assert not embedding.alike(embedding.PLAIN, "Ana的猫")
    assert not embedding.alike("another", "Ana's cat")
    monkeypatch.setattr(embedding, "_in_use", embedding.ModelInUse(embedding.PLAIN))
    assert embedding.alike(embedding.BUNDLED, "Ana's cat")
    assert not embedding.alike(embedding.BUNDLED, "Ana的猫")
    monkeypatch.setattr(embedding, "_in_use", embedding.ModelInUse("another"))
    assert not embedding.alike(embedding.PLAIN, "Ana's cat")


def test_the_bundled_model_goes_by_one_name() -> None:
    assert embedding.full_name(embedding.PLAIN) == embedding.full_name(embedding.BUNDLED) == embedding.BUNDLED


@each_row("text", ["", " ", "😀", "的", "她", "㐀", "\0", "猫" * 10_000])
def test_whatever_is_said_has_a_vector_of_unit_length(text: str) -> None:
    assert np.linalg.norm(embedding.embed([text], embedding.BUNDLED)) == pytest.approx(1, abs=1e-4)


def test_vectors_come_in_the_order_of_their_texts_repeats_included(encoder: Encoder) -> None:
    assert embedding.embed(["a", "bbb", "a"])[:, 0].tolist() == [1, 3, 1]
    assert encoder.calls == [["a", "bbb"]]
    assert embedding.embed([]).shape == (0, embedding.DIMENSION)


def test_what_was_embedded_lately_is_not_embedded_again(encoder: Encoder) -> None:
    embedding.embed(["a", "bb"])
    assert embedding.embed(["bb", "ccc"])[:, 0].tolist() == [2, 3]
    assert encoder.calls == [["a", "bb"], ["ccc"]]


def test_a_caller_who_changes_a_vector_changes_nobody_elses(encoder: Encoder) -> None:
    embedding.embed(["a"])[:] = 0
    assert embedding.embed(["a"])[0, 0] == 1


def test_only_so_many_are_remembered_and_no_words(encoder: Encoder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding._recent_vectors, "_limit", 2)
    embedding.embed(["a", "bb", "ccc"])
    embedding.embed(["bb", "ccc"])
    assert len(encoder.calls) == 1
    embedding.embed(["a"])
    assert encoder.calls[1:] == [["a"]]
    assert not {text.encode() for text in ("a", "bb", "ccc")} & set(embedding._recent_vectors.keys())


def test_texts_that_wait_for_the_encoder_are_embedded_in_one_batch(encoder: Encoder) -> None:
    encoder.let.clear()
    with ThreadPoolExecutor(5) as people:
        first = people.submit(embedding.embed, ["first"])
        while not encoder.calls:
            pass
        others = [people.submit(embedding.embed, [f"other {'x' * number}"]) for number in range(4)]
        while len(embedding._waiting_requests) < 4:
            pass
        encoder.let.set()
        assert first.result()[0, 0] == 5
        assert [other.result()[0, 0] for other in others] == [6, 7, 8, 9]
    assert [len(call) for call in encoder.calls] == [1, 4]


def test_when_the_model_is_missing_everybody_is_told(encoder: Encoder) -> None:
    for _ in range(2):
        with pytest.raises(embedding.EmbeddingUnavailable, match="missing"):
            embedding.embed(["broken"])
    assert embedding.embed(["whole"])[0, 0] == 5


def test_an_embedding_begun_early_is_computed_once(encoder: Encoder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding, "_is_loaded", lambda: True)
    for _ in range(2):
        embedding.soon("early")
    assert embedding.embed(["early"])[0, 0] == 5
    assert encoder.calls == [["early"]]


def test_nothing_is_begun_early_for_which_a_model_would_have_to_load(
    encoder: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding, "_is_loaded", lambda: False)
    embedding.soon("early")
    assert embedding.embed(["late"])[0, 0] == 4
    assert encoder.calls == [["late"]]


def test_the_first_of_many_do_not_wait_for_the_last(encoder: Encoder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding, "_is_loaded", lambda: True)
    encoder.let.clear()
    embedding.soon("first")
    while not encoder.calls:
        pass
    for number in range(embedding.MAX_BATCH + 2):
        embedding.soon(f"other {number}")
    encoder.let.set()
    embedding.embed([f"other {embedding.MAX_BATCH + 1}"])
    assert [len(call) for call in encoder.calls] == [1, embedding.MAX_BATCH, 2]


def test_warming_loads_what_a_text_needs_and_only_once(encoder: Encoder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding, "_is_loaded", lambda: False)
    embedding.warm("你好").result()
    monkeypatch.setattr(embedding, "_is_loaded", lambda: True)
    embedding.warm("你好").result()
    embedding.warm("Hello").result()
    embedding.embed(["Hello"])
    assert encoder.calls == [["你好"], ["Hello"]]


def test_where_nothing_can_be_loaded_warming_says_so_and_breaks_nothing(
    encoder: Encoder, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(embedding, "_is_loaded", lambda: False)
    embedding.warm("broken").result()
    assert "the file is missing" in caplog.text
