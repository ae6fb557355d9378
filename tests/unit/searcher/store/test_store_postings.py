"""Postings in memory say where terms stand, and BM25 over them is what its formula says."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from everfind_searcher.store import postings as postings_module
from everfind_searcher.store.bm25 import TermScorer, highest, tokens_of
from everfind_searcher.store.postings import Postings, Renumbered
from tests.support.inverted_fragments import FRAGMENTS, WORDS, inverted


def bm25(rows: Sequence[Sequence[str]], live: Sequence[bool], query: Sequence[str]) -> list[float]:
    """By the formula, in double precision."""
    counted = [row for row, there in zip(rows, live, strict=True) if there and row]
    average = sum(map(len, counted)) / len(counted) if any(counted) else 1.0
    scores = [0.0] * len(rows)
    for term in query:
        frequency = sum(term in row for row in counted)
        weight = math.log(1 + (len(counted) - frequency + 0.5) / (frequency + 0.5))
        for place, row in enumerate(rows):
            count = row.count(term)
            scores[place] += weight * count * 2.2 / (count + 1.2 * (0.25 + 0.75 * len(row) / average))
    return scores


@given(st.lists(WORDS, max_size=20))
def test_each_term_is_found_where_it_stands(rows: list[list[str]]) -> None:
    postings = inverted(rows)
    assert postings.lengths.tolist() == [len(row) for row in rows]
    assert postings.find("nowhere") is None
    for term in {word for row in rows for word in row}:
        found = postings.find(term)
        assert found is not None
        assert found.left_out == 0
        places, counts = found.places.tolist(), found.counts.tolist()
        assert dict(zip(places, counts, strict=True)) == {n: c for n, r in enumerate(rows) if (c := Counter(r)[term])}
        assert places == sorted(places)


@given(FRAGMENTS, st.data(), st.booleans())
def test_joined_postings_are_those_of_all_rows_that_are_not_left_out(
    fragments: list[list[list[str]]], data: st.DataObject, in_parts: bool
) -> None:
    rows = [row for fragment in fragments for row in fragment]
    kept = np.array(data.draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows))), dtype=bool)
    numbers = np.split(np.where(kept, np.cumsum(kept) - 1, -1), np.cumsum([len(one) for one in fragments])[:-1])
    wanted = inverted([row for row, there in zip(rows, kept.tolist(), strict=True) if there])
    with pytest.MonkeyPatch.context() as patch:
        if in_parts:
            patch.setattr(postings_module, "_JOINED_AT_ONCE", 100)
        parts = [Renumbered(inverted(own), new) for own, new in zip(fragments, numbers, strict=True)]
        joined = Postings.joined(parts, wanted.lengths)
    for name in ("terms", "starts", "places", "counts", "lengths"):
        assert getattr(joined, name).tolist() == getattr(wanted, name).tolist()
        assert getattr(joined, name).dtype == getattr(wanted, name).dtype


@given(FRAGMENTS, st.data(), st.integers(1, 40))
def test_the_best_rows_are_those_of_the_formula(
    fragments: list[list[list[str]]], data: st.DataObject, count: int
) -> None:
    postings = [inverted(rows) for rows in fragments]
    rows = [row for fragment in fragments for row in fragment]
    live, passing = (data.draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows))) for _ in range(2))
    query = ["two", "zwölf", "nowhere", "one"]
    mask = np.array(live, dtype=bool) & np.array(passing, dtype=bool)
    scorer = TermScorer([one.lengths for one in postings], np.array(live, dtype=bool))
    found, scores = highest(scorer.scores([one.find for one in postings], query, mask), count)
    wanted = bm25(rows, live, query)
    matching = sorted((score for score, there in zip(wanted, mask, strict=False) if there and score > 0), reverse=True)
    assert scores.tolist() == pytest.approx(matching[:count], rel=1e-4)
    assert [wanted[row] for row in found.tolist()] == pytest.approx(scores.tolist(), rel=1e-4)
    assert mask[found].all()


def test_postings_take_three_bytes_each_where_rows_and_counts_are_few() -> None:
    rows = [[f"w{number}" for number in range(50)] for _ in range(1_000)]
    postings = inverted(rows)
    assert postings.nbytes == 3 * 50 * 1_000 + 4 * 1_000 + 8 * 50 + 4 * 51


def test_tokens_are_texts_that_a_store_can_hold_each_once() -> None:
    assert tokens_of(["a b", "b", " ", "\udc80"]) == ["a", "b", "?"]
