"""Quantized vectors are never further off than they say, so that what is found by them is exact."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from everfind_searcher.store import exact as exact_module
from everfind_searcher.store.copies import Copy
from everfind_searcher.store.exact import Nearest, Selection, cosines
from everfind_searcher.store.postings import Postings
from everfind_searcher.store.quantized import QuantizedVectors

Floats = npt.NDArray[np.float32]

DIMENSIONS = 24
NO_POSTINGS = Postings.counted([], np.zeros(0, np.int64), np.zeros(0, np.int64))


def kept(stored: npt.NDArray[np.float16], column_bytes: int = 0) -> Copy:
    return Copy.of([], stored, NO_POSTINGS, column_bytes)


def matrix(rows: int, seed: int, spread: float) -> npt.NDArray[np.float16]:
    """Vectors of all kinds of length and evenness, one of them zero."""
    random = np.random.default_rng(seed)
    found = random.standard_normal((rows, DIMENSIONS)) ** 3 * np.exp(spread * random.standard_normal((rows, 1)))
    found[rows // 2] = 0
    return found.astype(np.float16)


def exact(stored: npt.NDArray[np.float16], query: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]:
    wide = stored.astype(np.float64)
    asked = query.astype(np.float16).astype(np.float64)
    cosines: npt.NDArray[np.float64] = (
        wide @ asked / np.maximum(np.linalg.norm(wide, axis=1) * np.linalg.norm(asked), 1e-300)
    )
    return cosines


@given(st.integers(0, 10**6), st.floats(0, 1))
def test_doubt_bounds_what_is_wrong(seed: int, spread: float) -> None:
    stored = matrix(50, seed, spread)
    query = np.random.default_rng(seed + 1).standard_normal(DIMENSIONS).astype(np.float32)
    asked = query.astype(np.float16).astype(np.float32)
    rows, one = QuantizedVectors.of(stored.astype(np.float32)), QuantizedVectors.of(asked[None])
    lengths = np.linalg.norm(stored.astype(np.float64), axis=1)
    there = lengths > 0
    products = rows.products(one, slice(None)).astype(np.float64) * rows.scales * one.scales[0]
    cosines = products[there] / (lengths[there] * np.linalg.norm(asked.astype(np.float64)))
    assert np.abs(cosines - exact(stored, query)[there]).max() <= rows.doubt(one)


@given(st.integers(0, 10**6), st.floats(0, 1), st.integers(1, 40), st.booleans())
def test_the_nearest_of_several_copies_are_those_of_all_rows(seed: int, spread: float, count: int, stays: bool) -> None:
    parts = [matrix(rows, seed + rows, spread) for rows in (1, 30, 90)]
    query = np.random.default_rng(seed).standard_normal(DIMENSIONS).astype(np.float32)
    selections = []
    for number, stored in enumerate(parts):
        places = np.arange(len(stored), dtype=np.int32)
        copy = kept(stored) if stays else Copy.transient(stored)
        selections.append(Selection.of(copy, places.astype(np.uint64) + np.uint64(number << 32), places))
    _, scores = Nearest(selections, query).best(count)
    with_vector = np.concatenate([exact(part, query)[np.any(part != 0, axis=1)] for part in parts])
    assert scores.tolist() == pytest.approx(np.sort(with_vector)[::-1][:count].tolist(), abs=1e-5)


@given(st.integers(0, 10**6), st.sampled_from([2, 30, 90, 100]), st.integers(1, 40))
def test_parts_of_a_selection_together_are_what_the_whole_is(seed: int, most: int, count: int) -> None:
    """Whether the rows lie near each other or far apart, and whoever compares them."""
    random = np.random.default_rng(seed)
    stored = matrix(100, seed, 0.5)
    query = random.standard_normal(DIMENSIONS).astype(np.float32)
    places = np.sort(random.choice(100, most, replace=False)).astype(np.int32)
    selection = Selection.of(kept(stored), places.astype(np.uint64), places)
    rows, scores = Nearest([selection], query).best(count)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(exact_module, "_ROWS_AT_ONCE", 7)
        in_parts = Nearest([selection], query).best(count)
        patched.setattr(exact_module, "_FAR_APART", 0)
        alone = Nearest([selection], query).best(count)
    for found in (in_parts, alone):
        assert found[0].tolist() == rows.tolist()
        assert found[1].tolist() == scores.tolist()


def test_few_rows_are_compared_by_their_own_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 5,000 evenly spread ones; the count depends on no machine."""
    random = np.random.default_rng(7)
    stored = random.standard_normal((5_000, 96))
    stored /= np.linalg.norm(stored, axis=1, keepdims=True)
    places = np.arange(5_000, dtype=np.int32)
    compared: list[int] = []

    def counted(stored: Floats, lengths: Floats, query: Floats) -> Floats:
        compared.append(len(stored))
        return cosines(stored, lengths, query)

    monkeypatch.setattr(exact_module, "cosines", counted)
    selection = Selection.of(kept(stored.astype(np.float16)), places, places)
    Nearest([selection], random.standard_normal(96).astype(np.float32)).best(20)
    assert compared[0] == 20
    assert compared[1] <= 30


def test_no_rows_have_no_nearest() -> None:
    rows, scores = Nearest([], np.ones(DIMENSIONS, np.float32)).best(5)
    assert (len(rows), len(scores)) == (0, 0)


def test_size_counts_both_forms_of_vectors() -> None:
    stored = matrix(10, 1, 0)
    copy = kept(stored, 1_000)
    assert copy.size == 1_000 + NO_POSTINGS.nbytes + 10 * (2 * DIMENSIONS + DIMENSIONS + 4 + 4)
