"""Which texts hold which words: the same as looking through all of them."""

from collections.abc import Sequence
from itertools import accumulate, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.recall import inverted_index
from memory.recall.inverted_index import InvertedIndex
from memory.recall.lexical import count_words

WORDS = ["bee", "cat", "猫", "sofa", "rain", "tea"]
UNKNOWN = "unicorn"
BODIES = st.lists(st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join), max_size=40)


def pieces(bodies: Sequence[str], lengths: Sequence[int]) -> list[Sequence[str]]:
    """`bodies` cut into pieces of about these lengths, and what is left."""
    ends = [min(end, len(bodies)) for end in accumulate(lengths)]
    return [bodies[start:end] for start, end in pairwise([0, *ends, len(bodies)])]


@pytest.fixture(autouse=True)
def merged_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inverted_index, "MAX_RECENT", 4)


@given(bodies=BODIES, cuts=st.lists(st.integers(0, 7), max_size=20), most=st.integers(0, 9))
def test_every_word_leads_to_the_newest_texts_that_hold_it(bodies: list[str], cuts: list[int], most: int) -> None:
    index = InvertedIndex()
    for piece in pieces(bodies, cuts):
        index = index.add_texts(piece)
    assert len(index) == len(bodies)
    found = index.positions_of([*WORDS, UNKNOWN], most)
    assert list(found) == [*WORDS, UNKNOWN]
    for word, places in found.items():
        holding = [place for place, body in enumerate(bodies) if word in body.split()]
        assert places.tolist() == holding[::-1][:most]


@given(
    bodies=BODIES,
    cuts=st.lists(st.integers(0, 7), max_size=20),
    words=st.lists(st.sampled_from([*WORDS, UNKNOWN]), unique=True),
    wanted=st.sets(st.integers(0, 39)),
)
def test_texts_are_counted_as_they_were_told(
    bodies: list[str], cuts: list[int], words: list[str], wanted: set[int]
) -> None:
    index = InvertedIndex()
    for piece in pieces(bodies, cuts):
        index = index.add_texts(piece)
    places = sorted(place for place in wanted if place < len(bodies))
    found, told = (
        index.texts(np.array(places, dtype=np.int64), words),
        count_words([bodies[at] for at in places], words),
    )
    np.testing.assert_array_equal(found.counts, told.counts)
    np.testing.assert_array_equal(found.lengths, told.lengths)


@given(bodies=BODIES, dropped=st.sets(st.integers(0, 39)), more=st.lists(st.sampled_from(WORDS), max_size=6))
def test_dropped_texts_leave_the_vocabulary_and_the_index_continues(
    bodies: list[str], dropped: set[int], more: list[str]
) -> None:
    rows = np.array([place not in dropped for place in range(len(bodies))], dtype=bool)
    index = InvertedIndex().add_texts(bodies[:9]).add_texts(bodies[9:]).keep_rows(rows)
    left = [body for body, kept in zip(bodies, rows, strict=True) if kept]
    assert set(index.vocabulary) == set(" ".join(left).split())
    index, told = index.add_texts(more), [*left, *more]
    for word, places in index.positions_of(WORDS, 99).items():
        assert places.tolist() == [place for place, body in enumerate(told) if word in body.split()][::-1]
    every = np.arange(len(told))
    np.testing.assert_array_equal(index.texts(every, WORDS).counts, count_words(told, WORDS).counts)


def test_a_word_that_comes_later_is_known_from_then_on_alone() -> None:
    before = InvertedIndex().add_texts(["bee cat"] * 6)
    after = before.add_texts(["cat rain"])
    assert before.positions_of(["rain"], 9)["rain"].tolist() == []
    assert before.texts(np.array([0]), ["rain"]).counts.tolist() == [[0]]
    assert after.positions_of(["rain"], 9)["rain"].tolist() == [6]
    assert after.texts(np.array([0, 6]), ["rain", "cat"]).counts.tolist() == [[0, 1], [1, 1]]


def test_what_has_grown_takes_more_memory() -> None:
    index = InvertedIndex().add_texts(["bee cat"])
    assert index.add_texts(["bee cat"] * 9).nbytes > index.nbytes > 0
