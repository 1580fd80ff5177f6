"""The score, against numbers made by hand, and its laws."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.recall import scoring
from memory.recall.scoring import Profile

SEEDS = Profile()
unit = st.floats(0, 1)


def test_the_plain_sum_of_the_seeds_is_0_5_3_2_1_and_1_5() -> None:
    made = scoring.classic(recency=1, relevance=0.5, impact=0.9, relational=0.5, anchor=1, weights=SEEDS)
    assert made == pytest.approx(0.5 + 1.5 + 1.8 + 0.5 + 1.5)


def test_recency_halves_every_fortnight() -> None:
    assert scoring.recency(0, 14) == 1
    assert scoring.recency(14, 14) == pytest.approx(0.5)
    assert scoring.recency(28, 14) == pytest.approx(0.25)
    assert scoring.recency(-3, 14) == 1


def test_dense_relevance_reads_the_euclidean_distance() -> None:
    assert scoring.dense_relevance(0) == 1
    assert scoring.dense_relevance(math.sqrt(2)) == pytest.approx(0.293, abs=1e-3)
    assert scoring.dense_relevance(2) == 0
    assert scoring.dense_relevance(2.0001) == 0


def test_a_right_angle_is_below_the_floor_of_0_4() -> None:
    assert scoring.dense_relevance(math.sqrt(2)) < 0.4 < scoring.dense_relevance(math.sqrt(2 - 2 * 0.29))


def test_impact_forgets_the_sign_and_ends_at_one() -> None:
    assert (scoring.impact(-9), scoring.impact(9), scoring.impact(-10), scoring.impact(0)) == (0.9, 0.9, 1.0, 0.0)


def test_without_the_dense_arm_words_are_all_there_is() -> None:
    assert scoring.fuse(np.nan, 0.7, 0.6) == 0.7
    assert scoring.fuse(scoring.ORTHOGONAL, 0.7, 0.6) == pytest.approx(0.28)


def test_the_parts_make_the_total() -> None:
    parts = scoring.bounded_parts(
        relevance=0.6, recency=0.5, impact=0.8, relational=0.5, anchor=1, floor=0.2, weights=SEEDS, dense=0.5, words=0.7
    )
    lifted = 0.5
    assert parts.relevance == pytest.approx(1.8)
    assert parts.total == pytest.approx(1.8 + lifted * (0.25 + 1.6 + 0.5 + 1.5))
    assert sum(parts.weighted().values()) == pytest.approx(parts.total, abs=1e-3)


def test_what_is_disputed_or_doubtful_loses_and_the_loss_is_shown() -> None:
    sure = scoring.bounded_parts(relevance=0.6, recency=0, floor=0.1, weights=SEEDS)
    disputed = scoring.bounded_parts(relevance=0.6, recency=0, floor=0.1, weights=SEEDS, disputed=True)
    doubtful = scoring.bounded_parts(relevance=0.6, recency=0, floor=0.1, weights=SEEDS, confidence=0.5)
    assert disputed.total == pytest.approx(0.7 * sure.total)
    assert doubtful.total == pytest.approx(0.85 * sure.total)
    assert disputed.weighted()["penalty"] < 0


@given(recency=unit, relational=st.sampled_from([0, 0.5]), unrelated=st.floats(0, 1), relevant=st.floats(0.5, 1))
def test_an_unrelated_event_of_impact_10_never_outranks_a_clearly_relevant_flat_one(
    recency: float, relational: float, unrelated: float, relevant: float
) -> None:
    floor = 0.2
    heavy = scoring.bounded_parts(
        relevance=unrelated * floor, recency=recency, impact=1.0, relational=relational, floor=floor, weights=SEEDS
    )
    flat = scoring.bounded_parts(relevance=relevant, recency=0.0, floor=floor, weights=SEEDS)
    assert heavy.total < flat.total


def test_the_plain_sum_would_let_it() -> None:
    heavy = scoring.classic(recency=1, relevance=0.4, impact=1, relational=0.5, weights=SEEDS)
    assert heavy > scoring.classic(recency=0, relevance=0.9, impact=0, relational=0, weights=SEEDS)


@given(relevance=unit, recency=unit, impact=unit, relational=unit, anchor=unit)
def test_with_plain_weights_the_total_is_the_plain_sum(**terms: float) -> None:
    plain = replace(SEEDS, plain=True)
    assert scoring.bounded_parts(**terms, floor=0.2, weights=plain).total == pytest.approx(
        scoring.classic(**terms, weights=SEEDS)
    )


@given(low=unit, more=unit, recency=unit, impact=unit)
def test_more_relevance_never_means_a_lower_score(low: float, more: float, recency: float, impact: float) -> None:
    high = low + (1 - low) * more
    scores = [
        scoring.bounded_parts(relevance=value, recency=recency, impact=impact, floor=0.2, weights=SEEDS).total
        for value in (low, high)
    ]
    assert scores[0] <= scores[1] + 1e-9


def test_the_parts_of_many_are_those_of_each() -> None:
    relevance, impact, confidence = np.array([0.6, 0.1, 0.9]), np.array([0.8, 1.0, 0.0]), np.array([1.0, 0.5, 0.2])
    many = scoring.bounded_parts(
        relevance=relevance, recency=0.5, impact=impact, confidence=confidence, floor=0.2, weights=SEEDS
    )
    each = [
        scoring.bounded_parts(relevance=one, recency=0.5, impact=heavy, confidence=sure, floor=0.2, weights=SEEDS)
        for one, heavy, sure in zip(relevance, impact, confidence, strict=True)
    ]
    assert [parts.as_json() for parts in many.each(np.array([0, 1, 2]))] == [parts.as_json() for parts in each]
    assert many.each(np.array([2]))[0].total == pytest.approx(many.total[2])


def test_what_is_confirmed_comes_before_what_fits_alike_and_before_nothing_else() -> None:
    terms = {"relevance": np.array([0.6, 0.6, 0.65, 0.05]), "recency": 0.5, "floor": 0.1, "weights": scoring.profile()}
    found = scoring.bounded_parts(**terms, confirmed=np.array([True, False, False, True]))
    sure, unsure, nearer, below = found.total
    assert unsure < sure < nearer
    assert below == scoring.bounded_parts(**(terms | {"relevance": 0.05})).total
    assert found.each(np.array([0]))[0].weighted()["confirmed"] > 0
