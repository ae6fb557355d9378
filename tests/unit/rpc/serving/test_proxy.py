"""The proxy: calls reach the servers behind it with token, deadline, cancel and request id; errors come back whole."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from everfind_core.cancellation import Cancellation
from everfind_core.errors import (
    CancelledError,
    DeadlineExceededError,
    EverfindError,
    IndexDamagedError,
    InvalidRequestError,
    StorageFullError,
    UnauthenticatedError,
    UnavailableError,
)
from everfind_core.errors import PermissionDeniedError as ScopeError
from everfind_core.model import IndexRequest, RunEvent, SearchAnswer, SearchRequest
from everfind_indexer.servicer import indexer_service
from everfind_rpc.auth import Scope, TokenFile
from everfind_rpc.channel import Endpoint
from everfind_rpc.clients import indexer, searcher
from everfind_rpc.logs import REQUEST_ID, JsonFormatter
from everfind_rpc.serving.proxy import proxied_service
from everfind_rpc.serving.server import ServerSettings
from everfind_searcher.servicer import searcher_service
from tests.support.gateway import FakeEngines
from tests.support.serving import Remote, connected, serving

SETTINGS = ServerSettings("127.0.0.1:0", drain_seconds=0.0, grace_seconds=3.0)


@dataclass
class Chain:
    """Engines, a server of them, a proxy before that, and a client of the proxy."""

    engines: FakeEngines
    tokens: TokenFile
    address: str
    remote: Remote


@contextlib.contextmanager
def proxied(address: str, settings: ServerSettings = SETTINGS) -> Iterator[str]:
    """A proxy of the server at ``address``."""
    services = [proxied_service(service, Endpoint(address)) for service in (indexer.SERVICE, searcher.SERVICE)]
    with serving(services, settings) as front:
        yield front


@pytest.fixture
def chain(tmp_path: Path) -> Iterator[Chain]:
    engines = FakeEngines()
    tokens = TokenFile(tmp_path / "tokens.json")
    guarded = ServerSettings("127.0.0.1:0", tokens=tokens, drain_seconds=0.0, grace_seconds=3.0)
    with (
        serving([indexer_service(engines), searcher_service(engines, engines.status)], guarded) as behind,
        proxied(behind, guarded) as front,
        connected(front) as remote,
    ):
        yield Chain(engines, tokens, front, remote)


def test_answers_and_streams_pass_as_they_are(chain: Chain) -> None:
    assert chain.remote.searcher.search(SearchRequest("x")) == chain.engines.search(SearchRequest("x"))
    local: list[RunEvent] = []
    events: list[RunEvent] = []
    report = chain.engines.index(IndexRequest(), local.append)
    assert chain.remote.indexer.index(IndexRequest(), events.append) == report
    assert events == local


@pytest.mark.parametrize(
    "error",
    [
        InvalidRequestError.of("filters.folders", "there is none", hint="See the list."),
        StorageFullError("no space left", hint="Free some."),
        IndexDamagedError("damaged", hint="Rebuild.", details={"path": "/x"}),
    ],
)
def test_errors_come_back_whole(chain: Chain, error: EverfindError) -> None:
    chain.engines.error = error
    with pytest.raises(type(error)) as caught:
        chain.remote.searcher.search(SearchRequest("x"))
    found = caught.value
    assert (found.message, found.hint, dict(found.details), found.violations) == (
        error.message, error.hint, dict(error.details), error.violations,
    )  # fmt: skip


def test_the_server_behind_decides_by_the_callers_own_token(chain: Chain) -> None:
    _, secret = chain.tokens.create("guest", [Scope.SEARCH])
    with pytest.raises(UnauthenticatedError):
        chain.remote.searcher.search(SearchRequest("x"))
    with connected(chain.address, secret) as guest:
        assert guest.searcher.search(SearchRequest("x")).query == "x"
        with pytest.raises(ScopeError, match="lacks the scope index"):
            guest.indexer.index(IndexRequest(), lambda _event: None)
    chain.tokens.revoke("guest")
    with connected(chain.address, secret) as guest, pytest.raises(UnauthenticatedError):
        guest.searcher.search(SearchRequest("x"))


def test_request_ids_cross_it(chain: Chain, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "everfind.calls")
    caplog.handler.setFormatter(JsonFormatter("test"))
    token = REQUEST_ID.set("outer-7")
    chain.remote.searcher.search(SearchRequest("x"))
    REQUEST_ID.reset(token)
    assert [json.loads(line)["request_id"] for line in caplog.text.splitlines()] == ["outer-7"] * 2


@dataclass
class Slow(FakeEngines):
    """Searches until its caller is gone."""

    left: threading.Event = field(default_factory=threading.Event)

    def search(self, request: SearchRequest, *, cancel: Cancellation | None = None) -> SearchAnswer:
        assert cancel is not None
        try:
            while True:
                cancel.wait(0.01)
        finally:
            self.left.set()


@pytest.mark.parametrize("error", [DeadlineExceededError, CancelledError])
def test_deadline_and_cancel_reach_the_engine(error: type[EverfindError]) -> None:
    engines = Slow()
    with (
        serving([searcher_service(engines, engines.status)], SETTINGS) as behind,
        proxied(behind) as front,
        connected(front) as remote,
    ):
        cancel = Cancellation(time.monotonic() + 0.3 if error is DeadlineExceededError else None)
        if error is CancelledError:
            threading.Timer(0.4, cancel.cancel).start()
        with pytest.raises(error):
            remote.searcher.search(SearchRequest("x"), cancel=cancel)
        assert engines.left.wait(30)


def test_an_absent_server_is_named_by_what_it_is() -> None:
    with proxied("127.0.0.1:1") as front, connected(front) as remote:
        with pytest.raises(UnavailableError, match="the searcher does not answer"):
            remote.searcher.search(SearchRequest("x"))
        with pytest.raises(UnavailableError, match="the indexer does not answer"):
            remote.indexer.folders()
