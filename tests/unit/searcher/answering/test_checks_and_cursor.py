from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everfind_core.errors import InvalidRequestError
from everfind_core.index.directory import FolderCoverage, IndexCoverage
from everfind_core.model import Coverage, Filters, Folder, GatherRequest, SearchRequest
from everfind_searcher.answering.cursor import Cursor, decode_cursor, encode_cursor
from everfind_searcher.asking.checks import check_folders, check_gather, check_search


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        (SearchRequest(""), "query"),
        (SearchRequest(" \n\t"), "query"),
        (SearchRequest("x" * 10_001), "query"),
        (SearchRequest("x", limit=0), "limit"),
        (SearchRequest("x", limit=101), "limit"),
        (SearchRequest("x", max_tokens=-1), "max_tokens"),
        (SearchRequest("x", further=101), "further"),
        (SearchRequest("x", min_score=1.5), "min_score"),
        (SearchRequest("x", relative_cutoff=-0.1), "relative_cutoff"),
        (SearchRequest("x", wait_seconds=601.0), "wait_seconds"),
        (SearchRequest("x", wait_seconds=-1.0), "wait_seconds"),
        (SearchRequest("x", graph_hops=2), "graph_hops"),
        (SearchRequest("x", filters=Filters(include=("",))), "filters.include"),
        (SearchRequest("x", filters=Filters(exclude=("a\0",))), "filters.exclude"),
        (SearchRequest("x", filters=Filters(languages=("l",) * 201)), "filters.languages"),
        (SearchRequest("x", filters=Filters(kinds=("k" * 5000,))), "filters.kinds"),
        (SearchRequest("x", filters=Filters(since="2026-13-01")), "filters.since"),
        (SearchRequest("x", filters=Filters(before="yesterday")), "filters.before"),
        (SearchRequest("x", filters=Filters(before="20260301")), "filters.before"),
    ],
)
def test_what_cannot_be_answered_is_refused_naming_the_field(request_: SearchRequest, field: str) -> None:
    with pytest.raises(InvalidRequestError) as caught:
        check_search(request_)
    assert [v.field for v in caught.value.violations] == [field]


@pytest.mark.parametrize(
    "query", ["x" * 10_000, '"', "--", "AND OR NOT", "the and of", "😀", "登录", "a\0b", "(", "*", "\\"]
)
def test_any_other_text_is_a_query(query: str) -> None:
    check_search(SearchRequest(query))


def test_gather_bounds_its_context() -> None:
    check_gather(GatherRequest(SearchRequest("x"), 200))
    for lines in (-1, 201):
        with pytest.raises(InvalidRequestError, match="context_lines"):
            check_gather(GatherRequest(SearchRequest("x"), lines))


def test_an_unknown_folder_is_refused_with_the_known_ones() -> None:
    coverage = IndexCoverage((FolderCoverage(Folder("api", "/api"), Coverage()),))
    check_folders(Filters(folders=("api",)), coverage)
    with pytest.raises(InvalidRequestError, match="no folder 'web'; it has api"):
        check_folders(Filters(folders=("web",)), coverage)


@given(st.text(min_size=1, max_size=30), st.integers(0, 10**6), st.integers(0, 10**12))
def test_a_cursor_round_trips_with_its_query(query: str, offset: int, generation: int) -> None:
    request = SearchRequest(query)
    cursor = Cursor(offset, generation)
    text = encode_cursor(cursor, request)
    assert decode_cursor(replace(request, cursor=text, limit=50)) == cursor


@pytest.mark.parametrize("text", ["x", "!!!", "AAAA", "WzEsMl0=", "bnVsbA==", "é"])
def test_a_made_up_cursor_is_refused(text: str) -> None:
    with pytest.raises(InvalidRequestError, match="cursor"):
        decode_cursor(SearchRequest("x", cursor=text))


def test_a_cursor_of_another_query_is_refused() -> None:
    text = encode_cursor(Cursor(10, 1), SearchRequest("one"))
    for other in (
        SearchRequest("two", cursor=text),
        SearchRequest("one", cursor=text, filters=Filters(folders=("a",))),
    ):
        with pytest.raises(InvalidRequestError):
            decode_cursor(other)
    assert decode_cursor(SearchRequest("one")) is None
