"""Words weighed: which rows come first, and how much of an answer a text holds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.recall import candidates, lexical
from memory.recall.lexical import Held


def rows(*ids: int) -> np.ndarray:
    return np.array(ids, dtype=np.int64)


def test_rows_with_the_worthiest_words_come_first_of_equals_the_newest() -> None:
    holding = {"sofa": (2.0, rows(5, 3)), "cat": (1.0, rows(9, 5, 1))}
    assert lexical.best(holding, 10) == [5, 3, 9, 1]
    assert lexical.best(holding, 2) == [5, 3]
    assert lexical.best({}, 2) == []


@given(st.lists(st.tuples(st.floats(0.1, 9), st.sets(st.integers(1, 50))), max_size=8))
def test_every_row_comes_once_and_no_better_one_after_it(words: list[tuple[float, set[int]]]) -> None:
    holding = {str(number): (worth, rows(*held)) for number, (worth, held) in enumerate(words)}
    found = lexical.best(holding, 100)
    scores = [sum(worth for worth, held in words if row in held) for row in found]
    assert sorted(found) == sorted(set().union(*(held for _, held in words)))
    assert scores == pytest.approx(sorted(scores, reverse=True))


def test_common_words_are_not_looked_at_while_rarer_ones_remain() -> None:
    weights = {"the": 1.0, "harbour": 1.0, "unicorn": 1.0}
    assert candidates.telling_words(weights, {"the": candidates.COMMON, "harbour": 7, "unicorn": 0}) == ["harbour"]
    assert candidates.telling_words(weights, {"the": candidates.COMMON}) == ["the"]


def test_the_rows_that_are_looked_at_are_bounded_the_rarest_words_first() -> None:
    many = {f"word {number}": candidates.COMMON - number for number in range(1, 64)}
    told = candidates.telling_words(dict.fromkeys(many, 1.0), many)
    assert told[0] == "word 63"
    assert candidates.MOST_ROWS <= sum(many[word] for word in told) < candidates.MOST_ROWS + candidates.COMMON


def test_a_text_that_says_a_word_more_often_scores_more_and_a_longer_one_less() -> None:
    weights = lexical.weighed({"cat": 1.0, "sofa": 1.0}, {"cat": 3}, 100, [Held({}, 10)])
    once, twice, long = Held({"cat": 1}, 10), Held({"cat": 2}, 10), Held({"cat": 1}, 40)
    assert lexical.score(twice, weights) > lexical.score(once, weights) > lexical.score(long, weights) > 0
    assert lexical.score(Held({}, 10), weights) == 0


def test_texts_together_hold_what_each_holds() -> None:
    words = {"cat", "sofa"}
    together = lexical.together([lexical.held("the cat on the sofa", words), lexical.held("a cat", words)])
    assert together == lexical.held("the cat on the sofa a cat", words)
