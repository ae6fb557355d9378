"""A full volume: the run ends with a sentence, searches go on, and space is the way out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from everfind_core.errors import StorageFullError
from everfind_core.model import IndexRequest, SearchRequest
from tests.containers.conftest import FILES, QUERIES, Truth, places
from tests.support.team import Team, team

pytestmark = [pytest.mark.containers, pytest.mark.timeout(900)]

FILL = """
import os
with open(os.environ["EVERFIND_INDEX_DIR"] + "/indexes/ballast", "wb", buffering=0) as ballast:
    try:
        while True:
            ballast.write(bytes(65536))
    except OSError:
        pass
"""
FREE = "import os; os.unlink(os.environ['EVERFIND_INDEX_DIR'] + '/indexes/ballast')"


@pytest.fixture(scope="module")
def small(own_base: Path) -> Iterator[Team]:
    settings = {"EVERFIND_FOLDERS": str(own_base / "modules")}
    with team(own_base, files=("tests/containers/full.yml",), settings=settings) as running:
        yield running


def python(team: Team, program: str) -> None:
    (indexer,) = team.containers("indexer")
    code, output = indexer.exec_run(["python", "-c", program])
    assert code == 0, output


def test_space_is_the_way_out(small: Team, truth: Truth) -> None:
    with small.client() as remote:
        first = remote.indexer.index(IndexRequest(max_files=10), lambda _event: None)
        assert first.indexed == 10
        before = {query: places(remote.searcher.search(SearchRequest(query))) for query in QUERIES}
        python(small, FILL)
        with pytest.raises(StorageFullError, match="no space left"):
            remote.indexer.index(IndexRequest(), lambda _event: None)
        assert {query: places(remote.searcher.search(SearchRequest(query))) for query in QUERIES} == before
        python(small, FREE)
        assert remote.indexer.index(IndexRequest(), lambda _event: None).unchanged == 10
        assert remote.searcher.status().coverage.files == FILES
        for query in QUERIES:
            assert places(remote.searcher.search(SearchRequest(query))) == truth.answers[query]
