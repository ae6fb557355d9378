"""What a server does around every call: limits, deadlines, cancellation, errors, request ids, health, its end."""

from __future__ import annotations

import contextlib
import json
import logging
import re
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import grpc
import pytest
from google.rpc.error_details_pb2 import RetryInfo
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
from grpc_status import rpc_status

from everfind.searcher.v1 import searcher_service_pb2 as pb
from everfind_core.cancellation import Cancellation
from everfind_core.errors import (
    CancelledError,
    ConfigError,
    DeadlineExceededError,
    InternalError,
    InvalidRequestError,
    OverloadedError,
    UnavailableError,
)
from everfind_core.model import (
    Coverage,
    GatherAnswer,
    GatherRequest,
    RelatedAnswer,
    RelatedRequest,
    SearchAnswer,
    SearchRequest,
    WorkspaceStatus,
)
from everfind_rpc.channel import Connection, Endpoint
from everfind_rpc.clients.searcher import SERVICE, RemoteSearcher
from everfind_rpc.logs import REQUEST_ID, JsonFormatter
from everfind_rpc.serving.server import Server, ServerSettings
from everfind_searcher.servicer import searcher_service
from tests.support.serving import raw_call, serves, serving

NAME = "everfind.searcher.v1.SearcherService"


@dataclass
class Engine:
    """A searcher that waits until it is let go, and keeps the cancellations that it got."""

    go: threading.Event = field(default_factory=threading.Event)
    cancels: list[Cancellation] = field(default_factory=list)
    stopped: threading.Event = field(default_factory=threading.Event)
    fault: Exception | None = None
    request_ids: list[str] = field(default_factory=list)
    text: str = ""

    def search(self, request: SearchRequest, *, cancel: Cancellation | None = None) -> SearchAnswer:
        assert cancel is not None
        self.cancels.append(cancel)
        self.request_ids.append(REQUEST_ID.get())
        if self.fault is not None:
            raise self.fault
        try:
            while not self.go.is_set():
                cancel.wait(0.01)
        except (CancelledError, DeadlineExceededError):
            self.stopped.set()
            raise
        return SearchAnswer(request.query, 1, (), Coverage(), warnings=(self.text,))

    def gather(self, request: GatherRequest, *, cancel: Cancellation | None = None) -> GatherAnswer:
        raise NotImplementedError

    def related(self, request: RelatedRequest, *, cancel: Cancellation | None = None) -> RelatedAnswer:
        raise NotImplementedError

    def close(self) -> None:
        pass

    def status(self) -> WorkspaceStatus:
        return WorkspaceStatus("", "", 1, (), Coverage())


@dataclass
class Served:
    engine: Engine
    address: str
    connection: Connection
    searcher: RemoteSearcher


def settings(**changes: Any) -> ServerSettings:
    return ServerSettings(**{"listen": "127.0.0.1:0", "drain_seconds": 0.0, "grace_seconds": 3.0, **changes})


@pytest.fixture
def served() -> Iterator[Served]:
    engine = Engine()
    with (
        serving([searcher_service(engine, engine.status)], settings(threads=2, max_calls=3)) as address,
        Connection(Endpoint(address), [SERVICE]) as connection,
    ):
        yield Served(engine, address, connection, RemoteSearcher(connection))
        engine.go.set()


def test_the_deadline_of_a_caller_reaches_the_engine(served: Served) -> None:
    with pytest.raises(DeadlineExceededError):
        served.searcher.search(SearchRequest("x"), cancel=Cancellation(time.monotonic() + 0.2))
    remaining = served.engine.cancels[0].deadline
    assert remaining is not None
    assert remaining <= time.monotonic()
    assert served.engine.stopped.wait(30)


def test_a_caller_that_gives_up_stops_the_work(served: Served) -> None:
    cancel = Cancellation()
    threading.Timer(0.2, cancel.cancel).start()
    started = time.monotonic()
    with pytest.raises(CancelledError):
        served.searcher.search(SearchRequest("x"), cancel=cancel)
    assert time.monotonic() - started < 30
    assert served.engine.stopped.wait(30)
    assert served.engine.cancels[0].cancelled


def test_a_client_forgets_the_cancellations_of_calls_that_are_over(served: Served) -> None:
    served.engine.go.set()
    cancel = Cancellation()
    for _ in range(3):
        served.searcher.search(SearchRequest("x"), cancel=cancel)
    assert cancel._callbacks == []


def test_more_calls_than_the_limit_are_refused_with_the_time_to_wait(served: Served) -> None:
    with ThreadPoolExecutor(4) as threads:
        waiting = [threads.submit(served.searcher.search, SearchRequest(str(n))) for n in range(3)]
        _until(lambda: len(served.engine.cancels) == 2)
        time.sleep(0.1)
        with pytest.raises(OverloadedError, match="3 calls under way"):
            served.searcher.search(SearchRequest("one too many"))
        method = raw_call(served.connection, f"{NAME}/Search")
        with pytest.raises(grpc.RpcError) as caught:
            method(b"", timeout=30)
        assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        retry = RetryInfo()
        assert isinstance(caught.value, grpc.Call)
        details = rpc_status.from_call(caught.value).details
        assert any(detail.Unpack(retry) for detail in details)
        assert retry.retry_delay.seconds == 1
        served.engine.go.set()
        assert sorted(call.result().query for call in waiting) == ["0", "1", "2"]
    assert served.searcher.search(SearchRequest("again")).query == "again"


def test_a_fault_is_told_without_its_inside(served: Served, caplog: pytest.LogCaptureFixture) -> None:
    served.engine.fault = RuntimeError("the password is hunter2")
    with pytest.raises(InternalError) as caught:
        served.searcher.search(SearchRequest("x"))
    assert "hunter2" not in str(caught.value) + caught.value.hint + str(caught.value.details)
    assert caught.value.details["request_id"]
    assert "hunter2" in caplog.text


def test_what_is_no_message_is_an_invalid_request(served: Served) -> None:
    method = raw_call(served.connection, f"{NAME}/Search")
    for content in (b"\xff", b"\x12\xffx", b"\x12\x02\xc3\x28"):
        with pytest.raises(grpc.RpcError) as caught:
            method(content, timeout=30)
        assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT


def test_a_request_beyond_the_message_limit_is_refused(served: Served) -> None:
    with pytest.raises((InternalError, InvalidRequestError)) as caught:
        served.searcher.search(SearchRequest("x" * (17 << 20)))
    assert "16" in caught.value.message or "large" in caught.value.message
    served.engine.go.set()
    assert served.searcher.search(SearchRequest("x")).query == "x"


def test_an_answer_beyond_the_message_limit_is_an_error(served: Served) -> None:
    served.engine.go.set()
    served.engine.text = "x" * (17 << 20)
    with pytest.raises(InternalError, match="16 MiB"):
        served.searcher.search(SearchRequest("x"))


def test_a_call_that_the_contract_does_not_have_is_unimplemented(served: Served) -> None:
    method = raw_call(served.connection, f"{NAME}/Nothing")
    with pytest.raises(grpc.RpcError) as caught:
        method(b"", timeout=30)
    assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED


def test_the_request_id_comes_with_the_call_or_is_made(served: Served, caplog: pytest.LogCaptureFixture) -> None:
    served.engine.go.set()
    caplog.set_level(logging.INFO, "everfind.calls")
    method = raw_call(served.connection, f"{NAME}/Search")
    request = pb.SearchRequest(query="x").SerializeToString()
    for given, kept in (("abc-1", True), ("x" * 65, False), ("a b", False)):
        _, call = method.with_call(request, timeout=30, metadata=(("x-request-id", given),))
        (answered,) = [value for key, value in call.trailing_metadata() if key == "x-request-id"]
        assert (answered == given) is kept
        assert served.engine.request_ids[-1] == answered
    token = REQUEST_ID.set("outer")
    served.searcher.search(SearchRequest("x"))
    REQUEST_ID.reset(token)
    assert served.engine.request_ids[-1] == "outer"
    _until(lambda: len(caplog.records) >= 4)
    line = json.loads(JsonFormatter("searcher").format(caplog.records[0]))
    assert (line["call"], line["code"], line["service"]) == (f"{NAME}/Search", "OK", "searcher")
    assert line["ms"] >= 0


def test_health_is_told_by_service_name(served: Served) -> None:
    assert serves(served.connection, "")
    assert serves(served.connection, NAME)
    with pytest.raises(grpc.RpcError) as caught:
        serves(served.connection, "nope")
    assert caught.value.code() is grpc.StatusCode.NOT_FOUND


def test_reflection_names_the_services(served: Served) -> None:
    stub: Any = reflection_pb2_grpc.ServerReflectionStub(served.connection.channel)
    asked = iter(
        [
            reflection_pb2.ServerReflectionRequest(list_services=""),
            reflection_pb2.ServerReflectionRequest(file_containing_symbol=NAME),
        ]
    )
    names, file = stub.ServerReflectionInfo(asked, timeout=30)
    assert NAME in [service.name for service in names.list_services_response.service]
    assert len(file.file_descriptor_response.file_descriptor_proto) > 1


def test_calls_under_way_end_before_the_server_does() -> None:
    engine = Engine()
    with ThreadPoolExecutor(1) as threads, contextlib.ExitStack() as clients:
        with serving([searcher_service(engine, engine.status)], settings()) as address:
            connection = clients.enter_context(Connection(Endpoint(address), [SERVICE]))
            answer = threads.submit(RemoteSearcher(connection).search, SearchRequest("slow"))
            _until(lambda: bool(engine.cancels))
            threading.Timer(0.3, engine.go.set).start()
        assert answer.result(30).query == "slow"


def test_a_server_that_is_not_there_is_named() -> None:
    with Connection(Endpoint("127.0.0.1:1"), [SERVICE]) as connection:
        started = time.monotonic()
        with pytest.raises(UnavailableError, match=r"127\.0\.0\.1:1"):
            RemoteSearcher(connection).search(SearchRequest("x"))
        assert time.monotonic() - started < 30


def test_a_taken_port_is_named(served: Served, capfd: pytest.CaptureFixture[str]) -> None:
    refused = pytest.raises(ConfigError, match=r"^cannot listen on 127\.0\.0\.1:\d+: Address already in use$")
    with refused, serving([], settings(listen=served.address)):
        pass
    assert "add_port" not in capfd.readouterr().err


@pytest.mark.parametrize("listen", ["", "foo", "127.0.0.1", ":1", "127.0.0.1:x", "127.0.0.1:70000", "::1:1", "[::1"])
def test_an_address_that_is_none_is_refused(listen: str) -> None:
    with pytest.raises(ConfigError, match=f"^listen: {re.escape(repr(listen))} is no HOST:PORT$"):
        Server([], settings(listen=listen))


@pytest.mark.parametrize("listen", ["0.0.0.0:1", "[::]:1", "192.0.2.1:1", "example.org:1", "127.0.0.1.example.org:1"])
def test_beyond_loopback_needs_a_token(listen: str) -> None:
    with pytest.raises(ConfigError, match="without a token"):
        Server([], settings(listen=listen))


def _until(true: Any) -> None:
    ends = time.monotonic() + 30
    while not true():
        assert time.monotonic() < ends
        time.sleep(0.01)
