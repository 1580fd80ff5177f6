"""Words weighed: which rows come first, and how much of an answer a text holds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.recall import lexical, retrievers


def rows(*ids: int) -> np.ndarray:
    return np.array(ids, dtype=np.int64)


def test_rows_with_the_worthiest_words_come_first_of_equals_the_newest() -> None:
    holding = [(2.0, rows(5, 3)), (1.0, rows(9, 5, 1))]
    assert lexical.best(holding, 10).tolist() == [5, 3, 9, 1]
    assert lexical.best(holding, 2).tolist() == [5, 3]
    assert lexical.best([], 2).tolist() == []


@given(st.lists(st.tuples(st.floats(0.1, 9), st.sets(st.integers(1, 50))), max_size=8))
def test_every_row_comes_once_and_no_better_one_after_it(words: list[tuple[float, set[int]]]) -> None:
    holding = [(worth, rows(*held)) for worth, held in words]
    found = lexical.best(holding, 100).tolist()
    scores = [sum(worth for worth, held in words if row in held) for row in found]
    assert sorted(found) == sorted(set().union(*(held for _, held in words)))
    assert scores == pytest.approx(sorted(scores, reverse=True))


def test_common_words_are_not_looked_at_while_rarer_ones_remain() -> None:
    weights = {"the": 1.0, "harbour": 1.0, "unicorn": 1.0}
    assert retrievers.rarest_words(weights, {"the": retrievers.COMMON, "harbour": 7, "unicorn": 0}) == ["harbour"]
    assert retrievers.rarest_words(weights, {"the": retrievers.COMMON}) == ["the"]


def test_the_rows_that_are_looked_at_are_bounded_the_rarest_words_first() -> None:
    many = {f"word {number}": retrievers.COMMON - number for number in range(1, 64)}
    told = retrievers.rarest_words(dict.fromkeys(many, 1.0), many)
    assert told[0] == "word 63"
    assert retrievers.MAX_ROWS <= sum(many[word] for word in told) < retrievers.MAX_ROWS + retrievers.COMMON


def test_a_text_that_says_a_word_more_often_scores_more_and_a_longer_one_less() -> None:
    texts = lexical.count_words(
        ["cat" + " and" * 9, "cat cat" + " and" * 8, "cat" + " and" * 39, "and" * 10], ["cat", "sofa"]
    )
    once, twice, long, never = lexical.scores(texts, lexical.worth({"cat": 1.0, "sofa": 1.0}, {"cat": 3}, 100))
    assert twice > once > long > never == 0


def test_half_of_the_words_are_half_of_an_answer() -> None:
    worth = lexical.worth({"cat": 1.0, "sofa": 1.0}, {}, 100)
    texts = lexical.count_words(["a cat", "the cat on the sofa", "cat cat", ""], ["cat", "sofa"])
    assert lexical.coverage(texts, worth, 100).tolist() == pytest.approx([0.5, 1.0, 0.5, 0.0])


def test_nobody_repeats_four_lines_six_rare_words_are_an_answer() -> None:
    words = [f"word{number}" for number in range(12)]
    worth = lexical.worth(dict.fromkeys(words, 1.0), {}, 100)
    told = lexical.count_words([" ".join(words[:7]), words[0]], words)
    assert lexical.coverage(told, worth, 100)[0] == 1.0
    assert 0.1 < lexical.coverage(told, worth, 100)[1] < 0.3


def test_without_texts_or_words_there_is_no_score() -> None:
    nothing = lexical.count_words([], [])
    assert lexical.scores(nothing, np.zeros(0)).tolist() == lexical.coverage(nothing, np.zeros(0), 0).tolist() == []
    assert lexical.coverage(lexical.count_words(["a cat"], []), np.zeros(0), 0).tolist() == [0.0]


texts = st.lists(st.lists(st.sampled_from(["cat", "sofa", "tea", "sea"]), max_size=6).map(" ".join), max_size=8)


@given(texts, st.lists(st.sampled_from(["cat", "sofa", "rum"]), unique=True))
def test_every_word_of_every_text_is_counted(bodies: list[str], words: list[str]) -> None:
    found = lexical.count_words(bodies, words)
    assert found.counts.tolist() == [[body.split().count(word) for word in words] for body in bodies]
    assert found.lengths.tolist() == [len(body.split()) for body in bodies]


@given(texts, st.lists(st.integers(0, 2), min_size=8, max_size=8))
def test_texts_together_hold_what_each_holds(bodies: list[str], of: list[int]) -> None:
    words = ["cat", "sofa"]
    together = lexical.join_texts(lexical.count_words(bodies, words), np.array(of[: len(bodies)], dtype=np.int64), 3)
    joined = [" ".join(body for body, part in zip(bodies, of, strict=False) if part == each) for each in range(3)]
    assert together.counts.tolist() == lexical.count_words(joined, words).counts.tolist()
    assert together.lengths.tolist() == lexical.count_words(joined, words).lengths.tolist()
