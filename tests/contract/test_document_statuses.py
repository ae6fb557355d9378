"""Replaced documents over every transport: the same hits, counts, relations and filters."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from everfind_core.model import Filters, GatherRequest, Hidden, IndexRequest, Relation, SearchRequest
from everfind_core.ports import Embedder, Searcher
from tests.contract.conftest import open_engines, store_of
from tests.support.serving import connected, serving

FILES = {
    "decisions/0002-cookies.md": "# 2. Sessions live in cookies\n\nStatus: superseded by [3](0003-tokens.md)\n"
    "Date: 2025-01-10\n\nA session cookie is signed and lives for a day.\n",
    "decisions/0003-tokens.md": "# 3. Sessions live in tokens\n\nStatus: accepted\nDate: 2026-03-01\n\n"
    "A session has a token that the gateway renews.\n",
    "decisions/0004-paper.md": "# 4. Sessions on paper\n\nStatus: rejected\n\nA session is written down by a clerk.\n",
}
OLD, NEW, REJECTED = FILES
QUESTION = "how long does a signed session cookie live"


@pytest.fixture(scope="module", params=["direct", "aio", "sqlite"])
def searcher(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, embedder: Embedder
) -> Iterator[Searcher]:
    base: Path = tmp_path_factory.mktemp("lifecycle")
    with contextlib.ExitStack() as stack:
        engines = stack.enter_context(open_engines(base, embedder, store_of(request.param)))
        for name, text in FILES.items():
            (base / "docs" / name).write_text(text)
        engines.indexer.index(IndexRequest(), lambda _event: None)
        if request.param == "aio":
            yield stack.enter_context(connected(stack.enter_context(serving(engines.services())))).searcher
        else:
            yield engines.searcher


def paths(searcher: Searcher, filters: Filters) -> list[str]:
    hits = searcher.search(SearchRequest(QUESTION, filters=filters, min_score=-1.0)).hits
    return [hit.path for hit in hits if hit.path in FILES]


def test_the_successor_answers_for_a_hidden_document(searcher: Searcher) -> None:
    answer = searcher.search(SearchRequest(QUESTION, explain=True))
    best = answer.hits[0]
    assert (best.path, best.relation, best.relation_path) == (NEW, Relation.SUCCESSOR, OLD)
    assert {hit.path for hit in answer.hits}.isdisjoint({OLD, REJECTED})
    assert answer.hidden == Hidden(2, {"superseded": 1, "rejected": 1}, OLD, "docs")
    assert answer.warnings == (f"the best match, {OLD}, is superseded; {NEW} replaces it",)
    assert best.score == pytest.approx(sum(part.value for part in best.explain))
    gathered = searcher.gather(GatherRequest(SearchRequest(QUESTION, limit=1)))
    assert f"[successor of {OLD}]" in gathered.markdown


def test_all_shows_old_and_new_side_by_side(searcher: Searcher) -> None:
    answer = searcher.search(SearchRequest(QUESTION, filters=Filters(all_statuses=True)))
    old, new = answer.hits[:2]
    assert (old.path, old.status, old.successor, old.date) == (OLD, "superseded", NEW, "2025-01-10")
    assert old.lifecycle == f"superseded → {NEW}; 2025-01-10"
    assert (new.path, new.relation, new.relation_to) == (NEW, Relation.SUCCESSOR, old.chunk_id)
    assert answer.hidden == Hidden()


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        (Filters(statuses=("accepted",)), [NEW]),
        (Filters(statuses=("rejected", "superseded")), [OLD, REJECTED]),
        (Filters(exclude_statuses=("accepted",)), []),
        (Filters(since="2026-01-01"), [NEW]),
        (Filters(before="2026-01-01", all_statuses=True), [OLD]),
        (Filters(before="2026-01-01"), []),
        (Filters(exclude=("docs//decisions",)), []),
        (Filters(exclude=("code//decisions",)), [NEW]),
        (Filters(folders=("code",)), []),
    ],
)
def test_filters(searcher: Searcher, filters: Filters, found: list[str]) -> None:
    assert paths(searcher, filters) == found
