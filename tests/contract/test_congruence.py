"""The same index asked directly and over gRPC: equal values, order, JSON and errors, for every call."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from everfind_core.answers.json_form import file_json, gather_json, grep_json, search_json, status_json
from everfind_core.errors import EverfindError
from everfind_core.model import (
    Filters,
    GatherRequest,
    GrepRequest,
    IndexRequest,
    InputKind,
    ReadFileRequest,
    RelatedRequest,
    SearchMode,
    SearchRequest,
)
from everfind_core.ports import Embedder, Indexer, Searcher
from tests.contract.conftest import CONTAINERS, Deployment, Engines, open_engines
from tests.support.corpus import FILES
from tests.support.serving import Remote, connected, serving


@dataclass(frozen=True)
class Both:
    direct: Engines
    remote: Remote


@pytest.fixture(scope="module", params=["aio", CONTAINERS])
def both(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, embedder: Embedder
) -> Iterator[Both]:
    with contextlib.ExitStack() as stack:
        if request.param == "containers":
            deployed: Deployment = request.getfixturevalue("deployment")
            yield Both(stack.enter_context(open_engines(deployed.base, embedder)), deployed.remote)
            return
        direct = stack.enter_context(open_engines(tmp_path_factory.mktemp("both"), embedder))
        (direct.base / "code" / "logo.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
        direct.indexer.index(IndexRequest(), lambda _event: None)
        yield Both(direct, stack.enter_context(connected(stack.enter_context(serving(direct.services())))))


SEARCHES = [
    *(SearchRequest(query, mode=mode) for query in ("token refresh", "登录鉴权", "1.0.21") for mode in SearchMode),
    SearchRequest("token", limit=100, explain=True),
    SearchRequest("token", limit=2, max_tokens=100),
    SearchRequest("token", limit=2, max_tokens=400, further=5),
    SearchRequest("token", filters=Filters(folders=("docs",), include=("*.md",), exclude=("decisions",))),
    SearchRequest("token", filters=Filters(languages=("go",), all_statuses=True)),
    SearchRequest("token", min_score=0.999),
]


@pytest.mark.parametrize("request_", SEARCHES, ids=range(len(SEARCHES)))
def test_search_and_gather_give_the_same_json(both: Both, request_: SearchRequest) -> None:
    direct, remote = both.direct.searcher, both.remote.searcher
    _same(search_json(direct.search(request_)), search_json(remote.search(request_)))
    gathered = GatherRequest(request_, context_lines=3)
    _same(gather_json(direct.gather(gathered)), gather_json(remote.gather(gathered)))


def test_pages_can_change_sides(both: Both) -> None:
    first = both.direct.searcher.search(SearchRequest("token", limit=3))
    second = SearchRequest("token", limit=3, cursor=first.next_cursor)
    _same(search_json(both.direct.searcher.search(second)), search_json(both.remote.searcher.search(second)))


@pytest.mark.parametrize("name", FILES)
def test_files_and_grep_give_the_same_json(both: Both, name: str) -> None:
    folder, _, path = name.partition("/")
    read = ReadFileRequest(folder, path, 1, 4)
    assert file_json(both.direct.indexer.read_file(read)) == file_json(both.remote.indexer.read_file(read))
    grep = GrepRequest("[a-z]{4}", regex=True, globs=(path.replace("[", "\\[").replace("]", "\\]"),))
    assert grep_json(both.direct.indexer.grep(grep)) == grep_json(both.remote.indexer.grep(grep))


def test_status_and_folders_give_the_same_json(both: Both) -> None:
    direct, remote = (x.indexer.status(skipped_files=True) for x in (both.direct, both.remote))
    assert len(direct.skipped_files) == 1
    assert status_json(direct, skipped_files=True) == status_json(remote, skipped_files=True)
    assert list(both.direct.indexer.folders()) == list(both.remote.indexer.folders())
    seen = both.remote.searcher.status()
    assert (seen.generation, seen.coverage, seen.model) == (direct.generation, direct.coverage, direct.model)


def test_vectors_are_the_same_to_the_bit(both: Both) -> None:
    texts = ["x " * 3_000, *(["a", "token refresh", "登录", "", "é\u0301"] * 110)]
    for kind in InputKind:
        direct, remote = (x.embedder.embed(texts, kind) for x in (both.direct, both.remote))
        assert direct.dtype == remote.dtype == np.float32
        np.testing.assert_array_equal(direct, remote)
    tokenizer = both.remote.embedder.tokenizer()
    tokens = [tokenizer.encode(text).ids[:200] for text in texts]
    direct, remote = (x.embedder.embed_tokens(tokens) for x in (both.direct, both.remote))
    np.testing.assert_array_equal(direct, remote)
    assert both.remote.embedder.embed([], InputKind.QUERY).shape == (0, 384)
    assert both.remote.embedder.model() == both.direct.embedder.model()


def test_the_tokenizer_is_the_models_own(both: Both) -> None:
    direct, remote = both.direct.embedder.tokenizer(), both.remote.embedder.tokenizer()
    assert direct.sliceable == remote.sliceable
    for text in (*FILES.values(), "[SEP] <s>", "\ud800", "a\0b", "😀👩‍👩‍👧"):
        one, other = direct.encode(text), remote.encode(text)
        np.testing.assert_array_equal(one.ids, other.ids)
        np.testing.assert_array_equal(one.starts, other.starts)


@pytest.mark.parametrize(
    "call",
    [
        lambda e: e.searcher.search(SearchRequest("")),
        lambda e: e.searcher.search(SearchRequest("x", limit=101)),
        lambda e: e.searcher.search(SearchRequest("x", graph_hops=2)),
        lambda e: e.searcher.search(SearchRequest("x", max_tokens=-1)),
        lambda e: e.searcher.search(SearchRequest("x", min_score=2.0)),
        lambda e: e.searcher.search(SearchRequest("x", cursor="bm9uc2Vuc2U=")),
        lambda e: e.searcher.search(SearchRequest("x", filters=Filters(folders=("nope",)))),
        lambda e: e.searcher.gather(GatherRequest(SearchRequest("x"), context_lines=201)),
        lambda e: e.searcher.gather(GatherRequest(SearchRequest(""))),
        lambda e: e.indexer.read_file(ReadFileRequest("nope", "a")),
        lambda e: e.indexer.read_file(ReadFileRequest("code", "../docs/auth.md")),
        lambda e: e.indexer.read_file(ReadFileRequest("code", "a\0b")),
        lambda e: e.indexer.read_file(ReadFileRequest("code", "absent.py")),
        lambda e: e.indexer.read_file(ReadFileRequest("code", "src/session.py", 5, 4)),
        lambda e: e.indexer.grep(GrepRequest("(", regex=True)),
        lambda e: e.indexer.grep(GrepRequest("a", seconds=-1)),
        lambda e: e.indexer.grep(GrepRequest("a", max_results=0)),
        lambda e: e.indexer.grep(GrepRequest("a", folders=("nope",))),
        lambda e: e.indexer.index(IndexRequest(folders=("nope",)), lambda _event: None),
        lambda e: e.indexer.index(IndexRequest(below="src"), lambda _event: None),
        lambda e: e.indexer.index(IndexRequest(folders=("code",), below="../x"), lambda _event: None),
        lambda e: e.indexer.index(IndexRequest(max_files=-1), lambda _event: None),
        lambda e: e.indexer.index(IndexRequest(folders=("code",), rebuild=True), lambda _event: None),
        lambda e: e.embedder.embed_tokens([np.ones(1_000, np.int64)]),
        *(
            lambda e, asked=asked, call=call: call(e, asked)
            for asked in ("nope", "/nowhere", "code")
            for call in (
                lambda e, asked: e.searcher.search(SearchRequest("x", workspace=asked)),
                lambda e, asked: e.searcher.gather(GatherRequest(SearchRequest("x", workspace=asked))),
                lambda e, asked: e.searcher.related(RelatedRequest(symbol="refresh_token", workspace=asked)),
                lambda e, asked: e.indexer.grep(GrepRequest("x", workspace=asked)),
                lambda e, asked: e.indexer.read_file(ReadFileRequest("code", "package.json", workspace=asked)),
                lambda e, asked: e.indexer.index(IndexRequest(workspace=asked), lambda _event: None),
            )
        ),
    ],
)
def test_errors_are_the_same(both: Both, call: Callable[[Any], object]) -> None:
    direct, remote = _error(call, both.direct), _error(call, both.remote)
    assert type(direct) is type(remote)
    assert (direct.message, direct.hint) == (remote.message, remote.hint)


def _error(call: Callable[[Any], object], side: Engines | Remote) -> EverfindError:
    with pytest.raises(EverfindError) as caught:
        call(side)
    return caught.value


def _same(one: Any, other: Any, place: str = "$") -> None:
    """Equal JSON; numbers within 1e-4."""
    assert type(one) is type(other), place
    if isinstance(one, dict):
        assert list(one) == list(other), place
        for key in one:
            _same(one[key], other[key], f"{place}.{key}")
    elif isinstance(one, list):
        assert len(one) == len(other), place
        for n, (a, b) in enumerate(zip(one, other, strict=True)):
            _same(a, b, f"{place}[{n}]")
    elif isinstance(one, float):
        assert math.isclose(one, other, abs_tol=1e-4), place
    else:
        assert one == other, place


def test_both_sides_are_ports(both: Both) -> None:
    sides: list[tuple[Embedder, Indexer, Searcher]] = [
        (both.direct.embedder, both.direct.indexer, both.direct.searcher),
        (both.remote.embedder, both.remote.indexer, both.remote.searcher),
    ]
    assert len(sides) == 2
