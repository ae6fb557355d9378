"""Expected values are worked out by hand from the definitions (log2(2) = 1, log2(3) = 1.58496, log2(4) = 2)."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everfind_gateway.evaluation.measures import Answer, RankedChunk, dcg, mean, measure

LOG3 = math.log2(3)


def ranking(*paths: str) -> list[RankedChunk]:
    return [RankedChunk(path, 1, 10) for path in paths]


def test_first_place_is_perfect() -> None:
    assert measure(ranking("a", "b"), [Answer("a")]) == {
        "MRR@10": 1.0,
        "R@1": 1.0,
        "R@5": 1.0,
        "R@10": 1.0,
        "Hit@10": 1.0,
        "nDCG@10": 1.0,
        "chunk_nDCG@10": 1.0,
    }


def test_nothing_found() -> None:
    assert set(measure(ranking("x", "y"), [Answer("a")]).values()) == {0.0}
    assert set(measure([], [Answer("a", (1, 2))]).values()) == {0.0}


def test_two_answers_at_second_and_third_place() -> None:
    got = measure(ranking("x", "a", "b"), [Answer("a"), Answer("b")])
    assert got["MRR@10"] == 0.5
    assert (got["R@1"], got["R@5"], got["R@10"]) == (0.0, 1.0, 1.0)
    assert got["nDCG@10"] == pytest.approx((1 / LOG3 + 1 / 2) / (1 + 1 / LOG3))


def test_chunks_of_one_file_are_one_place_by_file_and_several_by_chunk() -> None:
    got = measure(ranking("x", "x", "a"), [Answer("a")])
    assert got["nDCG@10"] == pytest.approx(1 / LOG3)
    assert got["chunk_nDCG@10"] == pytest.approx(1 / 2)
    assert got["MRR@10"] == 0.5


def test_the_eleventh_place_does_not_count() -> None:
    others = [f"x{n}" for n in range(10)]
    assert set(measure(ranking(*others, "a"), [Answer("a")]).values()) == {0.0}
    tenth = measure(ranking(*others[:9], "a"), [Answer("a")])
    assert tenth["MRR@10"] == 0.1
    assert tenth["nDCG@10"] == pytest.approx(1 / math.log2(11))
    assert (tenth["R@5"], tenth["R@10"], tenth["Hit@10"]) == (0.0, 1.0, 1.0)


def test_more_than_ten_answers_can_still_be_perfect() -> None:
    paths = [f"a{n}" for n in range(12)]
    got = measure(ranking(*paths), [Answer(path) for path in paths])
    assert got["nDCG@10"] == pytest.approx(1.0)
    assert got["R@10"] == pytest.approx(10 / 12)


def test_grades_are_linear_gain() -> None:
    got = measure(ranking("low", "high"), [Answer("high", grade=3), Answer("low")])
    assert got["nDCG@10"] == pytest.approx(1.0)
    assert got["nDCGg@10"] == pytest.approx((1 + 3 / LOG3) / (3 + 1 / LOG3))
    assert "nDCGg@10" not in measure(ranking("low"), [Answer("low")])


def test_lines_count_by_chunk() -> None:
    chunks = [RankedChunk("a", 1, 20), RankedChunk("b", 1, 20), RankedChunk("a", 21, 40)]
    got = measure(chunks, [Answer("a", (40, 45))])
    assert got["LineHit@5"] == 1.0
    assert got["LineMRR@10"] == pytest.approx(1 / 3)
    assert got["chunk_nDCG@10"] == pytest.approx(1 / 2)
    assert got["nDCG@10"] == 1.0
    missed = measure(chunks, [Answer("a", (41, 45))])
    assert (missed["LineHit@5"], missed["LineMRR@10"], missed["chunk_nDCG@10"]) == (0.0, 0.0, 0.0)


def test_one_chunk_can_hold_several_answers_but_is_one_place() -> None:
    answers = [Answer("a", (1, 2)), Answer("a", (3, 4))]
    assert measure([RankedChunk("a", 1, 10)], answers)["chunk_nDCG@10"] == pytest.approx(1 / (1 + 1 / LOG3))


def test_ignored_files_leave_the_ranking() -> None:
    got = measure(ranking("source", "a"), [Answer("a")], ignore={"source"})
    assert (got["MRR@10"], got["chunk_nDCG@10"]) == (1.0, 1.0)


@pytest.mark.parametrize(
    ("paths", "stale_first", "fresh"),
    [
        (["old", "new"], 1.0, 0.0),
        (["new", "old"], 0.0, 1.0),
        (["x", "new"], 0.0, 0.0),
        (["old"], 1.0, 0.0),
        (["x"], 0.0, 0.0),
    ],
)
def test_superseded_files_above_their_successors(paths: list[str], stale_first: float, fresh: float) -> None:
    got = measure(ranking(*paths), [Answer("new")], stale={"old"})
    assert (got["stale_first"], got["fresh@1"]) == (stale_first, fresh)


def test_a_mean_is_over_the_questions_that_have_the_measure() -> None:
    assert mean([{"a": 1.0, "b": 1.0}, {"a": 0.0}]) == {"a": 0.5, "b": 1.0}
    assert mean([]) == {}


def test_dcg_by_hand() -> None:
    assert dcg([3, 2, 1]) == pytest.approx(3 + 2 / LOG3 + 1 / 2)
    assert dcg([]) == 0


PATHS = st.sampled_from("abcdef")
CHUNKS = st.builds(lambda p, s, n: RankedChunk(p, s, s + n), PATHS, st.integers(1, 50), st.integers(0, 20))
LINES = st.one_of(st.none(), st.tuples(st.integers(1, 50), st.integers(50, 80)))
ANSWERS = st.lists(st.builds(Answer, PATHS, LINES, st.sampled_from([1, 2, 3])), min_size=1, max_size=5)


@given(st.lists(CHUNKS, max_size=20), ANSWERS, st.sets(PATHS, max_size=2), st.sets(PATHS, max_size=2))
@settings(deadline=None)
def test_every_measure_is_a_share(
    chunks: list[RankedChunk], answers: list[Answer], ignore: set[str], stale: set[str]
) -> None:
    got = measure(chunks, answers, ignore=ignore, stale=stale)
    assert all(0 <= value <= 1 + 1e-12 for value in got.values())
    assert got["R@1"] <= got["R@5"] <= got["R@10"]
    assert (got["MRR@10"] > 0) == (got["Hit@10"] == 1)
