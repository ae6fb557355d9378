"""Index runs of a server: found again by their request id, alive without watchers, seen whole over lost connections."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import pytest

from everfind.indexer.v1 import indexer_service_pb2 as pb
from everfind.indexer.v1 import run_pb2
from everfind.indexer.v1.indexer_service_pb2_grpc import IndexerServiceStub
from everfind_core.cancellation import Cancellation
from everfind_core.errors import (
    CancelledError,
    IndexLockedError,
    InternalError,
    InvalidRequestError,
    OverloadedError,
    RunNotFoundError,
    StorageFullError,
    UnavailableError,
)
from everfind_core.model import FileProcessed, IndexProgress, IndexRequest, RunEvent, RunFinished, RunState
from everfind_indexer.runs import MAX_UNFINISHED, IndexRuns
from everfind_indexer.servicer import indexer_service
from everfind_rpc.channel import Connection, Endpoint
from everfind_rpc.clients.calls import Calls
from everfind_rpc.clients.indexer import SERVICE, RemoteIndexer
from everfind_rpc.serving.server import ServerSettings
from tests.support.gateway import FakeEngines
from tests.support.serving import serving

SETTINGS = ServerSettings("127.0.0.1:0", drain_seconds=0.0, grace_seconds=3.0)


@dataclass
class Gate:
    """Lets runs go on, or ends them with their cancellation."""

    opened: threading.Event = field(default_factory=threading.Event)
    waiting: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))

    def __call__(self, cancel: Cancellation | None) -> None:
        assert cancel is not None
        self.waiting.release()
        while not self.opened.is_set():
            cancel.wait(0.01)


@dataclass
class Served:
    engines: FakeEngines
    gate: Gate
    address: str
    indexer: RemoteIndexer
    stub: IndexerServiceStub
    calls: Calls

    def create(self, request_id: str = "") -> run_pb2.IndexRun:
        message = run_pb2.CreateIndexRunRequest(request_id=request_id)
        return self.calls.unary(self.stub.CreateIndexRun, message, seconds=5).run


@pytest.fixture
def served() -> Iterator[Served]:
    gate = Gate()
    engines = FakeEngines(on_run=gate)
    with (
        serving([indexer_service(engines)], SETTINGS) as address,
        Connection(Endpoint(address), [SERVICE]) as connection,
    ):
        yield Served(
            engines, gate, address, RemoteIndexer(connection), IndexerServiceStub(connection.channel), Calls(connection)
        )
        gate.opened.set()


def test_the_events_and_the_report_are_those_of_a_local_run(served: Served) -> None:
    served.gate.opened.set()
    local: list[RunEvent] = []
    remote: list[RunEvent] = []
    report = served.engines.index(IndexRequest(), local.append, cancel=Cancellation())
    assert served.indexer.index(IndexRequest(), remote.append) == report
    assert remote == local
    assert isinstance(remote[-1], RunFinished)


def test_a_repeated_request_id_finds_the_first_run(served: Served) -> None:
    first = served.create("once")
    assert served.create("once").id == first.id
    assert served.create("twice").id != first.id
    assert served.create().id != served.create().id
    served.gate.opened.set()


def test_a_run_survives_its_watcher_and_is_seen_again_from_where_it_was(served: Served) -> None:
    run = served.create()
    watch = pb.WatchIndexRunRequest(run_id=run.id)
    events = served.calls.stream(served.stub.WatchIndexRun, watch, seconds=5)
    first = [next(events) for _ in range(3)]
    events.close()  # type: ignore[attr-defined]  # it is a generator
    assert [e.sequence for e in first] == [1, 2, 3]
    served.gate.opened.set()
    watch.after_sequence = 2
    rest = list(served.calls.stream(served.stub.WatchIndexRun, watch, seconds=5))
    assert [e.sequence for e in rest] == list(range(3, 9))
    assert rest[-1].finished.id == run.id
    watch.after_sequence = rest[-1].sequence
    assert list(served.calls.stream(served.stub.WatchIndexRun, watch, seconds=5)) == []


def test_two_watchers_see_the_same(served: Served) -> None:
    run = served.create()
    watch = pb.WatchIndexRunRequest(run_id=run.id)
    with ThreadPoolExecutor(2) as threads:
        seen = [
            threads.submit(lambda: list(served.calls.stream(served.stub.WatchIndexRun, watch, seconds=5)))
            for _ in range(2)
        ]
        served.gate.waiting.acquire()
        served.gate.opened.set()
        one, other = (watcher.result() for watcher in seen)
    assert one == other
    assert len(one) == 8


def test_a_caller_that_gives_up_ends_its_run(served: Served) -> None:
    cancel = Cancellation()
    threading.Timer(0.2, cancel.cancel).start()
    with pytest.raises(CancelledError):
        served.indexer.index(IndexRequest(), lambda _event: None, cancel=cancel)
    (run,) = served.calls.unary(served.stub.ListIndexRuns, pb.ListIndexRunsRequest(), seconds=5).runs
    _until(lambda: served.indexer.cancel_run(run.id).state is RunState.CANCELLED)


def test_a_run_that_is_cancelled_elsewhere_says_so(served: Served) -> None:
    with ThreadPoolExecutor(1) as threads:
        report = threads.submit(served.indexer.index, IndexRequest(), lambda _event: None)
        served.gate.waiting.acquire()
        (run,) = served.calls.unary(served.stub.ListIndexRuns, pb.ListIndexRunsRequest(), seconds=5).runs
        served.indexer.cancel_run(run.id)
        with pytest.raises(CancelledError):
            report.result(5)
    assert served.indexer.cancel_run(run.id).state is RunState.CANCELLED


@pytest.mark.parametrize("error", [StorageFullError("no space", hint="Free some."), RuntimeError("boom")])
def test_a_failed_run_ends_with_its_error(served: Served, error: Exception) -> None:
    if isinstance(error, StorageFullError):
        served.engines.error = error
        with pytest.raises(StorageFullError, match="no space") as caught:
            served.indexer.index(IndexRequest(), lambda _event: None)
        assert caught.value.hint == "Free some."
    else:
        served.engines.fault = error
        with pytest.raises(InternalError) as fault:
            served.indexer.index(IndexRequest(), lambda _event: None)
        assert "boom" not in fault.value.message


def test_a_locked_index_is_told_without_waiting(served: Served) -> None:
    served.engines.locked_by = "process 7"
    with pytest.raises(IndexLockedError, match="process 7"):
        served.indexer.index(IndexRequest(wait=False), lambda _event: None)


def test_runs_are_listed_newest_first_page_by_page(served: Served) -> None:
    served.gate.opened.set()
    created = [served.create(str(n)).id for n in range(5)]
    request = pb.ListIndexRunsRequest(page_size=2)
    found: list[str] = []
    while True:
        answer = served.calls.unary(served.stub.ListIndexRuns, request, seconds=5)
        found += [run.id for run in answer.runs]
        served.create()  # what comes in between moves nothing
        if not answer.next_page_token:
            break
        request.page_token = answer.next_page_token
    assert found == created[::-1]
    for name, wrong in (
        ("page_size", pb.ListIndexRunsRequest(page_size=-1)),
        ("page_token", pb.ListIndexRunsRequest(page_token="nonsense")),
        ("states", pb.ListIndexRunsRequest(states=[99])),  # type: ignore[list-item]  # a newer client's
    ):
        with pytest.raises(InvalidRequestError) as caught:
            served.calls.unary(served.stub.ListIndexRuns, wrong, seconds=5)
        assert caught.value.violations[0].field == name


def test_an_unknown_run_is_not_found(served: Served) -> None:
    with pytest.raises(RunNotFoundError):
        served.indexer.cancel_run("nope")
    with pytest.raises(RunNotFoundError):
        list(served.calls.stream(served.stub.WatchIndexRun, pb.WatchIndexRunRequest(run_id="nope"), seconds=5))


def test_too_many_unfinished_runs_are_refused(served: Served) -> None:
    for _ in range(MAX_UNFINISHED):
        served.create()
    with pytest.raises(OverloadedError):
        served.create()
    served.gate.opened.set()


def test_a_stopping_server_ends_its_runs_and_their_watches() -> None:
    gate = Gate()
    engines = FakeEngines(on_run=gate)
    runs = IndexRuns(engines)
    run = runs.create(IndexRequest())
    gate.waiting.acquire()
    runs.close()
    assert runs.get(run.id).state is RunState.FAILED
    assert runs.get(run.id).error_reason == "UNAVAILABLE"
    with pytest.raises(UnavailableError):
        runs.events(run.id, 0)
    with pytest.raises(UnavailableError):
        runs.create(IndexRequest())


def test_a_run_is_followed_over_a_restart_of_its_server() -> None:
    """The new server does not know the run: the client starts it again under its request id, and it resumes."""
    gate = Gate()
    first, second = FakeEngines(on_run=gate), FakeEngines()
    events: list[RunEvent] = []
    with ThreadPoolExecutor(1) as threads:
        with serving([indexer_service(first)], SETTINGS) as address:
            connection = Connection(Endpoint(address), [SERVICE])
            indexer = RemoteIndexer(connection, patience=20)
            report = threads.submit(indexer.index, IndexRequest(), events.append)
            gate.waiting.acquire()
        settings = ServerSettings(address, drain_seconds=0.0, grace_seconds=3.0)
        with serving([indexer_service(second)], settings):
            assert report.result(30).generation == 7
        connection.close()
    assert second.runs[0].request_id == first.runs[0].request_id
    assert isinstance(events[-1], RunFinished)


def test_a_watcher_that_finds_no_server_any_more_gives_up() -> None:
    gate = Gate()
    with ThreadPoolExecutor(1) as threads:
        with serving([indexer_service(FakeEngines(on_run=gate))], SETTINGS) as address:
            connection = Connection(Endpoint(address), [SERVICE])
            indexer = RemoteIndexer(connection, patience=0.5)
            report = threads.submit(indexer.index, IndexRequest(), lambda _event: None)
            gate.waiting.acquire()
        with pytest.raises(UnavailableError):
            report.result(30)
        connection.close()


def test_only_the_newest_events_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    class Chatty(FakeEngines):
        def index(self, request: Any, on_event: Any, *, cancel: Any = None) -> Any:
            for n in range(12_000):
                on_event(IndexProgress("api", n, 12_000, 0, 0, 0.0))
            return super().index(request, on_event, cancel=cancel)

    runs = IndexRuns(Chatty())
    run = runs.create(IndexRequest())
    _until(lambda: runs.get(run.id).finished > 0)
    events, over = runs.events(run.id, 0)
    assert (over, len(events), events[-1][1]) == (True, 10_000, runs.get(run.id))
    assert events[0][0] > 2_000
    assert any(isinstance(event, FileProcessed) for _, event in events)
    runs.close()


def _until(true: Callable[[], bool]) -> None:
    ends = time.monotonic() + 30
    while not true():
        assert time.monotonic() < ends
        time.sleep(0.01)
