"""The embedder behind a server: queries find room beside any number of documents, and who left is not worked for."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace

import grpc
import numpy as np
import pytest
from google.rpc.error_details_pb2 import RetryInfo
from grpc_status import rpc_status

from everfind.embedder.v1 import embedder_service_pb2 as pb
from everfind_core.cancellation import Cancellation
from everfind_core.errors import CancelledError, DeadlineExceededError, OverloadedError
from everfind_core.model import InputKind, Vectors
from everfind_core.ports import TokenIds
from everfind_embedder.encoder import Encoder
from everfind_embedder.engine import OnnxEmbedder
from everfind_embedder.loading.packaged import load_packaged
from everfind_embedder.servicer import embedder_service
from everfind_rpc.serving.metrics import PrometheusMetrics
from everfind_rpc.serving.server import ServerSettings
from tests.support.serving import Remote, connected, raw_call, serving
from tests.support.waiting import wait_until

DOCUMENT = "a document that is longer than any of the queries of this test"
DOCUMENT_CALLS = 3
WAITING_TOKENS = 60


class Gate:
    """An encoder that keeps documents until it is open."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self.open = threading.Event()
        self.entered = threading.Event()

    def run(self, ids: TokenIds) -> Vectors:
        if ids.shape[1] > 10:
            self.entered.set()
            assert self.open.wait(20)
        return self._encoder.run(ids)


@dataclass
class Served:
    engine: OnnxEmbedder
    gate: Gate
    address: str
    remote: Remote
    callers: ThreadPoolExecutor

    def documents(self, count: int = 1, cancel: Cancellation | None = None) -> Future[Vectors]:
        """A call that embeds documents, once it has reached the engine."""
        pool = self.engine.pools[InputKind.DOCUMENT]
        first, before = not self.gate.entered.is_set(), pool.waiting
        texts = [DOCUMENT] * count
        call = self.callers.submit(self.remote.embedder.embed, texts, InputKind.DOCUMENT, cancel=cancel)
        wait_until(self.gate.entered.is_set if first else lambda: pool.waiting > before)
        return call


@pytest.fixture
def served() -> Iterator[Served]:
    """One thread embeds, and is busy with a document."""
    model = load_packaged()
    gate = Gate(model.encoder)
    engine = OnnxEmbedder(lambda: replace(model, encoder=gate), 1, waiting_tokens=WAITING_TOKENS)
    with contextlib.ExitStack() as stack:
        service = embedder_service(engine, document_calls=DOCUMENT_CALLS)
        settings = ServerSettings("127.0.0.1:0", threads=8, drain_seconds=0.0, grace_seconds=5.0)
        address = stack.enter_context(serving([service], settings))
        remote = stack.enter_context(connected(address))
        remote.embedder.model()
        callers = stack.enter_context(ThreadPoolExecutor(8))
        stack.callback(gate.open.set)
        yield Served(engine, gate, address, remote, callers)
    engine.close()


def test_a_query_is_answered_beside_waiting_documents(served: Served) -> None:
    calls = [served.documents() for _ in range(DOCUMENT_CALLS)]
    query = served.remote.embedder.embed(["open a file"], InputKind.QUERY)
    assert not any(call.done() for call in calls)
    served.gate.open.set()
    np.testing.assert_array_equal(query, served.engine.embed(["open a file"], InputKind.QUERY))
    for call in calls:
        np.testing.assert_array_equal(call.result(20), served.engine.embed([DOCUMENT], InputKind.DOCUMENT))


def test_too_many_calls_with_documents_are_told_when_to_come_again(served: Served) -> None:
    calls = [served.documents() for _ in range(DOCUMENT_CALLS)]
    with pytest.raises(OverloadedError, match="calls that embed documents"):
        served.remote.embedder.embed([DOCUMENT], InputKind.DOCUMENT)
    request = pb.EmbedRequest(kind=pb.INPUT_KIND_DOCUMENT, texts=pb.TextBatch(texts=[DOCUMENT]))
    with pytest.raises(grpc.RpcError) as caught:
        raw_call(served.remote.connection, "everfind.embedder.v1.EmbedderService/Embed")(request.SerializeToString())
    assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    status = rpc_status.from_call(caught.value)  # type: ignore[arg-type]  # it has the three methods that it asks for
    assert status is not None
    retry = RetryInfo()
    assert any(detail.Unpack(retry) for detail in status.details)
    assert retry.retry_delay.ToTimedelta().total_seconds() > 0
    served.gate.open.set()
    for call in calls:
        call.result(20)
    served.remote.embedder.embed([DOCUMENT], InputKind.DOCUMENT)


def test_too_many_tokens_are_told_to_come_later(served: Served) -> None:
    first = served.documents()
    second = served.documents(8)
    with pytest.raises(OverloadedError, match="tokens waiting, more than its limit of 60"):
        served.remote.embedder.embed([DOCUMENT], InputKind.DOCUMENT)
    served.gate.open.set()
    first.result(20)
    second.result(20)


def test_what_was_cancelled_or_is_late_leaves_the_queue(served: Served) -> None:
    pool = served.engine.pools[InputKind.DOCUMENT]
    first, cancel = served.documents(), Cancellation()
    gone = served.documents(2, cancel)
    cancel.cancel()
    with pytest.raises(CancelledError):
        gone.result(20)
    wait_until(lambda: pool.waiting == 0)
    late = served.documents(2, Cancellation(time.monotonic() + 0.5))
    with pytest.raises(DeadlineExceededError):
        late.result(20)
    wait_until(lambda: pool.waiting == 0)
    served.gate.open.set()
    first.result(20)


def test_runs_and_what_waits_are_measured(served: Served) -> None:
    metrics = PrometheusMetrics()
    embedder_service(served.engine).measure(metrics)

    def value(name: str, kind: InputKind) -> float | None:
        return metrics.registry.get_sample_value(f"everfind_embedding_{name}", {"kind": kind.value})

    served.engine.embed(["open a file", "read a line"], InputKind.QUERY)
    assert value("run_sequences_sum", InputKind.QUERY) == 2
    assert value("run_sequences_count", InputKind.QUERY) == 1
    assert value("tokens_total", InputKind.QUERY) == 10
    first = served.documents()
    waiting = served.documents(2)
    tokens = value("waiting_tokens", InputKind.DOCUMENT)
    served.gate.open.set()
    first.result(20)
    waiting.result(20)
    assert value("tokens_total", InputKind.DOCUMENT) == 1.5 * (tokens or 0)
    assert value("waiting_tokens", InputKind.DOCUMENT) == 0
