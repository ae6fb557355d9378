"""Filters that nothing passes say which one it is, and what would pass."""

from __future__ import annotations

import pytest

from everfind_core.model import Filters
from everfind_core.ports import Labels
from everfind_searcher.answering.unmatched import unmatched

THERE = Labels.of(
    7,
    languages=["python", "", "markdown"],
    kinds=["function"],
    statuses=["accepted", ""],
    dates=["", "2025-03-01", "2024-01-01"],
    paths=["src/b.py", "docs/a.md"],
)


def labels(where: Filters) -> Labels:
    """The index has ``THERE`` in folder ``f``, and nothing matches ``*.rs``."""
    if "empty" in where.folders or "*.rs" in where.include or "*" in where.exclude:
        return Labels()
    return THERE


@pytest.mark.parametrize(
    ("filters", "sentence"),
    [
        (Filters(languages=("go", "rust")), "nothing has the language 'go' or 'rust'; the index has markdown, python"),
        (Filters(kinds=("klass",)), "nothing has the kind 'klass'; the index has function"),
        (Filters(statuses=("draft",)), "nothing has the status 'draft'; the index has accepted"),
        (Filters(include=("*.rs",)), "no path matches '*.rs'; one that is searched is 'docs/a.md'"),
        (Filters(exclude=("*",)), "'*' excludes every file"),
        (
            Filters(since="2026-01-01"),
            "no document has a date from 2026-01-01 on; the index has 2024-01-01 to 2025-03-01",
        ),
        (
            Filters(since="2000-01-01", before="2024-01-01"),
            "no document has a date from 2000-01-01 on and before 2024-01-01; the index has 2024-01-01 to 2025-03-01",
        ),
        (
            Filters(languages=("python",), kinds=("function",)),
            "each filter matches something, and nothing matches all of them",
        ),
        (Filters(folders=("empty",), languages=("python",)), "no file of these folders is searchable"),
    ],
)
def test_what_matches_nothing_is_named_with_what_would_match(filters: Filters, sentence: str) -> None:
    assert unmatched(filters, labels) == sentence


def test_of_many_values_the_first_are_named() -> None:
    many = Labels.of(1, languages=[f"l{n:02}" for n in range(30)], kinds=(), statuses=(), dates=(), paths=())
    said = unmatched(Filters(languages=("x",)), lambda _: many)
    assert said.endswith("l18, l19 and 10 more")


def test_an_index_without_labels_says_so() -> None:
    bare = Labels.of(1, languages=(), kinds=(), statuses=(), dates=(), paths=["a"])
    assert unmatched(Filters(kinds=("x",)), lambda _: bare) == "nothing has the kind 'x'; the index has none"
    assert unmatched(Filters(since="2020-01-01"), lambda _: bare).endswith("the index has none")
