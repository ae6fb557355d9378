"""A run behind `codebase_search` stops with the last call that waits for it; nobody waits for one that stops."""

from __future__ import annotations

import threading
from typing import Any, cast

import pytest

from everfind_core.cancellation import Cancellation
from everfind_core.errors import CancelledError
from everfind_core.model import IndexReport, IndexRequest
from everfind_gateway.mcp.background import BackgroundRun
from everfind_gateway.mcp.calls import Call
from tests.support.agents import Engines, Served, serve_engines

SECONDS = 60.0


class HeldIndexer:
    """Indexes as soon as it is let."""

    def __init__(self) -> None:
        self.let = threading.Event()

    def index(self, _request: IndexRequest, _on_event: object, *, cancel: Cancellation) -> IndexReport:
        """Raises what a cancelled run raises."""
        assert self.let.wait(SECONDS)
        cancel.check()
        return IndexReport()


@pytest.fixture
def indexer() -> HeldIndexer:
    return HeldIndexer()


@pytest.fixture
def held(served: Served, indexer: HeldIndexer) -> Served:
    nobody = cast("Any", None)
    return serve_engines(served.config, Engines(cast("Any", indexer), nobody, nobody))


def test_a_call_that_leaves_stops_the_run_and_no_other_joins_it(held: Served, indexer: HeldIndexer) -> None:
    corpus = held.corpus()
    run = BackgroundRun(corpus, IndexRequest())
    _leave(run, Call(corpus))
    assert not run.join()
    indexer.let.set()
    corpus.close()


def test_a_run_goes_on_for_a_call_that_joined_before_the_other_left(held: Served, indexer: HeldIndexer) -> None:
    corpus = held.corpus()
    run = BackgroundRun(corpus, IndexRequest())
    assert run.join()
    _leave(run, Call(corpus))
    indexer.let.set()
    run.wait_for_words(Call(corpus))
    assert run.done_at is not None
    corpus.close()


def _leave(run: BackgroundRun, call: Call) -> None:
    call.cancel.cancel()
    with pytest.raises(CancelledError):
        run.wait_for_words(call)
