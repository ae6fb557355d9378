"""Against the formula of Cormack, Clarke and Büttcher (SIGIR 2009): RRFscore(d) = Σ 1/(k + r(d)), k = 60."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everfind_core.ranking.fusion import rrf

RANKINGS = st.lists(st.lists(st.integers(0, 20), unique=True, max_size=15), max_size=4)


def test_two_rankings_by_hand() -> None:
    fused = rrf([["a", "b", "c"], ["c", "a", "d"]])
    assert [item for item, _ in fused] == ["a", "c", "b", "d"]
    assert dict(fused) == pytest.approx(
        {"a": 1 / 61 + 1 / 62, "c": 1 / 63 + 1 / 61, "b": 1 / 62, "d": 1 / 63}, rel=1e-12
    )


def test_k_decides_how_much_a_first_place_is_worth() -> None:
    one_first, two_thirds = ["x", "p", "y"], ["q", "r", "y"]
    assert rrf([one_first, two_thirds], k=60)[0][0] == "y"
    assert rrf([one_first, two_thirds], k=0)[0][0] == "x"


def test_ties_go_to_the_better_rank_then_to_the_earlier_ranking() -> None:
    assert [item for item, _ in rrf([["a", "b"], ["b", "a"]])] == ["a", "b"]
    assert [item for item, _ in rrf([["b", "a"], ["a", "b"]])] == ["b", "a"]
    assert [item for item, _ in rrf([["left"], ["right"]])] == ["left", "right"]


def test_a_repeated_item_counts_at_its_first_place() -> None:
    assert rrf([["a", "a", "b"]]) == rrf([["a", "b"]])


def test_nothing_ranked() -> None:
    assert rrf([]) == []
    assert rrf([[], []]) == []


@given(RANKINGS, st.integers(0, 1000))
@settings(deadline=None)
def test_equals_the_formula(rankings: list[list[int]], k: int) -> None:
    expected: dict[int, Fraction] = {}
    for ranking in rankings:
        for item in ranking:
            expected[item] = expected.get(item, Fraction(0)) + Fraction(1, k + ranking.index(item) + 1)
    fused = rrf(rankings, k)
    assert len(fused) == len(expected)
    for item, score in fused:
        assert score == pytest.approx(float(expected[item]), rel=1e-12)
    scores = [score for _, score in fused]
    assert scores == sorted(scores, reverse=True)


@given(RANKINGS)
@settings(deadline=None)
def test_one_ranking_keeps_its_order_and_twice_the_same_is_the_same(rankings: list[list[int]]) -> None:
    assert rrf(rankings) == rrf(rankings)
    for ranking in rankings:
        assert [item for item, _ in rrf([ranking])] == ranking
        assert [item for item, _ in rrf([ranking, ranking])] == ranking
