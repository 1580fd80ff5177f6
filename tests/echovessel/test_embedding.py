"""Texts become vectors: those of several threads together, those of a moment ago not again."""

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from echovessel import embedding


class Encoder:
    """Stands in for the model: writes down what it is given, and works only when it is let."""

    def __init__(self) -> None:
        self.calls: list[list[str]] = []
        self.let = threading.Event()
        self.let.set()

    def __call__(self, texts: Sequence[str]) -> np.ndarray:
        self.calls.append(list(texts))
        assert self.let.wait(10)
        if "broken" in texts:
            raise embedding.EmbeddingUnavailable("the file is missing")
        return np.stack([np.full(embedding.DIMENSION, len(text), dtype=np.float32) for text in texts])


@pytest.fixture
def encoder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Encoder]:
    made = Encoder()
    monkeypatch.setattr(embedding, "_encode", made)
    monkeypatch.setattr(embedding, "_lately", embedding._Lately())
    yield made
    made.let.set()


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
    monkeypatch.setattr(embedding, "REMEMBERED", 2)
    embedding.embed(["a", "bb", "ccc"])
    embedding.embed(["bb", "ccc"])
    assert len(encoder.calls) == 1
    embedding.embed(["a"])
    assert encoder.calls[1:] == [["a"]]
    assert not {text.encode() for text in ("a", "bb", "ccc")} & embedding._lately._vectors.keys()


def test_what_waits_meanwhile_is_embedded_together(encoder: Encoder) -> None:
    encoder.let.clear()
    with ThreadPoolExecutor(5) as people:
        first = people.submit(embedding.embed, ["first"])
        while not encoder.calls:
            pass
        others = [people.submit(embedding.embed, [f"other {'x' * number}"]) for number in range(4)]
        while len(embedding._wishes) < 4:
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
