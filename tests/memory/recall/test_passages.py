"""Passages and choosing, on a few lines made by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.recall import lexical, passages
from memory.recall.passages import Around, Sessions
from memory.recall.select import Candidate, select_within_budget


def test_an_answer_profits_from_the_question_before_it() -> None:
    talks = Sessions.from_messages({1: [10, 11, 12]})
    found = passages.score_messages(
        talks, np.array([1.0, 0, 0]), np.zeros(1), Around(adjacent=0.4, pair=0.3, session=0.4)
    )
    assert found.tolist() == pytest.approx([1.3, 0.7, 0.0])


def test_a_message_has_no_neighbours_beyond_its_session() -> None:
    talks = Sessions.from_messages({1: [10], 2: [20]})
    assert passages.score_messages(talks, np.array([1.0, 0]), np.array([0, 0.5]), Around())[1] == pytest.approx(0.2)


def test_without_sessions_there_is_nothing_to_score() -> None:
    nothing = Sessions.from_messages({})
    assert passages.score_messages(nothing, np.zeros(0), np.zeros(0), Around()).tolist() == []
    assert nothing.before(nothing.messages).tolist() == nothing.after(nothing.messages).tolist() == []


def test_a_message_that_asks_holds_less_than_one_that_tells() -> None:
    assert passages.statement_weight("去哪里了？") < passages.statement_weight("去海边了。")


def test_a_rare_word_is_worth_more_than_a_common_one() -> None:
    assert lexical.rarity(1, 1_000) > lexical.rarity(500, 1_000) > 0


def test_in_a_memory_of_one_row_no_word_is_common() -> None:
    assert lexical.rarity(1, 1) > 3


def line(key: int, score: float, *, tokens: int = 10, before: int | None = None, after: int | None = None) -> Candidate:
    return Candidate(key, False, score, tokens, frozenset([key]), before=before, after=after, joined_tokens=tokens - 3)


def node(key: int, score: float, *lines: int, tokens: int = 10, only_excepted: bool = False) -> Candidate:
    return Candidate(key, True, score, tokens, frozenset(lines), only_excepted=only_excepted, text=f"node {key}")


def test_messages_that_follow_each_other_become_one_passage() -> None:
    choice = select_within_budget([line(1, 2.0, after=2), line(2, 1.5, before=1, after=3), line(9, 1.0)], 100)
    assert [[candidate.key for candidate in item.passage] for item in choice.items] == [[1, 2], [9]]
    assert choice.tokens == 10 + 7 + 10


def test_a_passage_ends_at_its_longest() -> None:
    choice = select_within_budget(
        [line(1, 3.0, after=2), line(2, 2.0, before=1, after=3), line(3, 1.0, before=2)], 100, longest_passage=2
    )
    assert [len(item.passage) for item in choice.items] == [2, 1]


def test_a_message_that_a_chosen_memory_rests_on_is_shown_once() -> None:
    choice = select_within_budget([node(1, 3.0, 7), line(7, 2.0)], 100)
    assert [item.best.key for item in choice.items] == [1]
    assert choice.removed == {(False, 7): "shown_already"}


def test_messages_of_the_window_are_not_repeated() -> None:
    assert select_within_budget([line(7, 2.0)], 100, window={7}).removed == {(False, 7): "in_window"}


def test_what_does_not_fit_leaves_room_for_what_does() -> None:
    choice = select_within_budget([node(1, 3.0, tokens=90), node(2, 2.0, tokens=50), node(3, 1.0, tokens=10)], 100)
    assert [item.best.key for item in choice.items] == [1, 3]
    assert choice.removed == {(True, 2): "no_room"}


def test_what_is_only_an_exception_takes_at_most_half() -> None:
    choice = select_within_budget([node(key, 3.0 - key / 10, tokens=10, only_excepted=True) for key in range(10)], 60)
    assert len(choice.items) == 3
    assert "excepted_only" in choice.removed.values()


def test_what_is_far_weaker_than_the_best_falls_off() -> None:
    assert select_within_budget([node(1, 3.0), node(2, 0.3)], 100, fall_off=0.2).removed == {(True, 2): "fell_off"}


@given(st.lists(st.tuples(st.booleans(), st.floats(0, 10), st.integers(1, 400)), max_size=40), st.integers(0, 1_500))
def test_a_budget_is_never_exceeded_and_the_best_comes_first(made: list[tuple[bool, float, int]], budget: int) -> None:
    offers = [
        Candidate(
            key,
            is_node,
            score,
            cost,
            frozenset([key]),
            joined_tokens=cost,
            before=key - 1,
            after=key + 1,
            text=str(key),
        )
        for key, (is_node, score, cost) in enumerate(made)
    ]
    choice = select_within_budget(offers, budget)
    assert choice.tokens <= budget
    assert len(choice.removed) + sum(max(1, len(item.passage)) for item in choice.items) == len(offers)
    assert choice == select_within_budget(list(reversed(offers)), budget)
