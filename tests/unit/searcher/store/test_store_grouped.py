"""Postings put together, dead rows apart, give the scores of those that they were made of, to the last bit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from everfind_searcher.store import grouped
from everfind_searcher.store.bm25 import Mask, TermScorer
from everfind_searcher.store.copies import Fragment
from everfind_searcher.store.grouped import PostingsGroup, VersionPostings
from tests.support.inverted_fragments import FRAGMENTS, WORDS, inverted

QUERY = ["two", "zwölf", "nowhere", "one"]


def singles(fragments: Sequence[Sequence[Sequence[str]]]) -> list[PostingsGroup]:
    return [PostingsGroup.single(Fragment(n, f"{n}"), inverted(rows)) for n, rows in enumerate(fragments)]


def some(data: st.DataObject, mask: Mask) -> Mask:
    """Some of these rows."""
    chosen: Mask = np.array(data.draw(st.lists(st.booleans(), min_size=len(mask), max_size=len(mask))), dtype=bool)
    return mask & chosen


def scores(postings: VersionPostings, live: Mask, *, counts_dead: bool) -> npt.NDArray[np.float32]:
    counted = np.ones_like(live) if counts_dead else live
    found = TermScorer(postings.lengths, counted).scores(postings.finds, QUERY, None)
    found[postings.gone] = 0
    return found


@given(FRAGMENTS, st.data(), st.booleans())
def test_scores_are_the_same_in_groups(
    fragments: list[list[list[str]]], data: st.DataObject, counts_dead: bool
) -> None:
    """Of rows that die before they are put together and after that, and of such that are put together again."""
    separate = singles(fragments)
    everything = np.ones(sum(map(len, fragments)), dtype=bool)
    first = some(data, everything)
    then = some(data, first)
    for live, parts in (
        (first, [PostingsGroup.joined(separate, first)]),
        (then, [PostingsGroup.joined(separate, first)]),
        (then, [PostingsGroup.joined([PostingsGroup.joined(separate, first)], then)]),
        (then, [PostingsGroup.joined(separate[:1], first[: len(fragments[0])]), *separate[1:]]),
    ):
        told, wanted = VersionPostings.of(parts, (), live), VersionPostings.of((), separate, live)
        assert told is not None
        assert wanted is not None
        found = scores(told, live, counts_dead=counts_dead)
        assert found.tobytes() == scores(wanted, live, counts_dead=counts_dead).tobytes()
        assert not found[~live].any()


@given(FRAGMENTS, st.data())
def test_a_fragment_that_went_leaves_nothing(fragments: list[list[list[str]]], data: st.DataObject) -> None:
    separate = singles(fragments)
    live = some(data, np.ones(sum(map(len, fragments)), dtype=bool))
    kept = data.draw(st.lists(st.booleans(), min_size=len(fragments), max_size=len(fragments)))
    own = [one for one, stays in zip(separate, kept, strict=True) if stays]
    found = PostingsGroup.joined(separate, live).only({fragment for one in own for fragment in one.fragments})
    if not own:
        assert not found.fragments
        return
    marks = np.split(live, np.cumsum([len(one.lived) for one in separate])[:-1])
    wanted = PostingsGroup.joined(own, np.concatenate([m for m, stays in zip(marks, kept, strict=True) if stays]))
    assert list(found.fragments) == list(wanted.fragments)
    for name in ("terms", "starts", "places", "counts"):
        for part in ("living", "dead"):
            assert getattr(getattr(found, part), name).tolist() == getattr(getattr(wanted, part), name).tolist()
    assert found.lengths.tolist() == wanted.lengths.tolist()


def test_a_row_that_was_dead_cannot_be_looked_for() -> None:
    separate = singles([[["one"], ["two"]]])
    group = PostingsGroup.joined(separate, np.array([True, False]))
    assert VersionPostings.of([group], (), np.array([True, True])) is None
    assert VersionPostings.of([group], (), np.array([True, False])) is not None
    assert VersionPostings.of([group], (), np.array([True, False, True])) is None  # a fragment has no postings


@given(st.lists(st.lists(WORDS, min_size=1, max_size=8), min_size=1, max_size=6), st.data())
def test_what_was_put_together_is_left_until_a_twentieth_changed(
    fragments: list[list[list[str]]], data: st.DataObject
) -> None:
    live = some(data, np.ones(sum(map(len, fragments)), dtype=bool))
    fresh = VersionPostings.of((), singles(fragments), live)
    assert fresh is not None
    groups = fresh.regrouped()
    assert groups is not None
    assert len(groups) == 1
    after = VersionPostings.of(groups, (), live)
    assert after is not None
    dead = int((groups[0].lived & ~live).sum())
    assert dead <= 0.05 * len(live)
    assert after.regrouped() is None
    assert len(after.gone) == dead


@pytest.mark.parametrize(("new", "died"), [(5, 0), (0, 5), (2, 3), (6, 0), (0, 6), (3, 4)])
def test_new_and_dead_rows_are_counted_together(new: int, died: int) -> None:
    groups = singles([[["one"]] * (100 - new)])
    others = [PostingsGroup.single(Fragment(9, "9"), inverted([["two"]] * new))] if new else []
    live = np.ones(100, dtype=bool)
    live[:died] = False
    found = VersionPostings.of(groups, others, live)
    assert found is not None
    assert (found.regrouped() is None) == (new + died <= 5)


def test_a_group_takes_no_more_rows_than_16_bits_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grouped, "MOST_ROWS", 10)
    sizes = (4, 5, 12, 10, 1, 3)
    separate = singles([[["one"]] * size for size in sizes])
    fresh = VersionPostings.of((), separate, np.ones(sum(sizes), dtype=bool))
    assert fresh is not None
    groups = fresh.regrouped()
    assert groups is not None
    assert [list(group.rows) for group in groups] == [[4, 5], [12], [10], [1, 3]]
    assert groups[1] is separate[2]
    assert groups[2] is separate[3]
