"""Spans of a call over several servers: one trace, each below its caller, all with the request id."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from everfind.embedder.v1 import embedder_service_pb2
from everfind_core.errors import ConfigError, InternalError, ModelUnusableError
from everfind_core.model import InputKind
from everfind_embedder.servicer import embedder_service
from everfind_rpc import tracing
from everfind_rpc.channel import Endpoint
from everfind_rpc.logs import REQUEST_ID
from everfind_rpc.serving.proxy import proxied_service
from tests.support.fakes import FakeEmbedder
from tests.support.serving import Remote, connected, serving

EMBEDDER = embedder_service_pb2.DESCRIPTOR.services_by_name["EmbedderService"]
ENDPOINT = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4317"}


@pytest.fixture
def spans() -> Iterator[InMemorySpanExporter]:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracing.use(provider)
    yield exporter
    tracing.use(None)


@pytest.fixture
def remote() -> Iterator[Remote]:
    """An embedder whose second call fails, asked through a gateway."""
    with ExitStack() as stack:
        address = stack.enter_context(serving([embedder_service(FakeEmbedder(fail_after=1))]))
        through = stack.enter_context(serving([proxied_service(EMBEDDER, Endpoint(address))]))
        yield stack.enter_context(connected(through))


def chain(spans: InMemorySpanExporter, method: str) -> list[ReadableSpan]:
    """The four spans of a call, from its client down: each is the parent of the next."""
    ends = time.monotonic() + 30
    while sum(span.name.endswith(f"/{method}") for span in spans.get_finished_spans()) < 4:
        assert time.monotonic() < ends  # a server ends its span after the caller has its error
        time.sleep(0.01)
    finished = [span for span in spans.get_finished_spans() if span.name.endswith(f"/{method}")]
    found = {span.parent.span_id if span.parent else 0: span for span in finished}
    linked: list[ReadableSpan] = []
    while (span := found.get(linked[-1].context.span_id if linked and linked[-1].context else 0)) is not None:
        linked.append(span)
    assert all(span.name == f"everfind.embedder.v1.EmbedderService/{method}" for span in linked)
    return linked


def test_a_call_is_one_trace_through_all_servers(remote: Remote, spans: InMemorySpanExporter) -> None:
    REQUEST_ID.set("r-1")
    remote.embedder.embed(["x"], InputKind.QUERY)
    linked = chain(spans, "Embed")
    assert [span.kind.name for span in linked] == ["CLIENT", "SERVER", "CLIENT", "SERVER"]
    assert len({span.context.trace_id for span in linked if span.context}) == 1
    for span in linked:
        attributes = dict(span.attributes or {})
        assert attributes["everfind.request_id"] == "r-1"
        assert (attributes["rpc.method"], attributes["rpc.grpc.status_code"]) == ("Embed", 0)
        assert span.status.is_unset


def test_an_error_is_told_by_each_of_its_spans(remote: Remote, spans: InMemorySpanExporter) -> None:
    remote.embedder.embed(["x"], InputKind.QUERY)
    spans.clear()
    with pytest.raises(InternalError):
        remote.embedder.embed(["x"], InputKind.QUERY)
    linked = chain(spans, "Embed")
    assert all((span.attributes or {})["rpc.grpc.status_code"] == 13 for span in linked)
    assert not any(span.status.is_ok or span.status.is_unset for span in linked)


def test_a_stream_has_spans_too(remote: Remote, spans: InMemorySpanExporter) -> None:
    with pytest.raises(ModelUnusableError):  # the fake one has no tokenizer to send
        remote.embedder.tokenizer()
    assert [span.kind.name for span in chain(spans, "GetTokenizer")] == ["CLIENT", "SERVER", "CLIENT", "SERVER"]


def test_without_it_nothing_is_loaded(remote: Remote) -> None:
    program = (
        "import sys, everfind_rpc.serving.server, everfind_rpc.serving.proxy, everfind_rpc.clients.embedder; "
        "from everfind_rpc.tracing import configure_tracing; configure_tracing('x')(); "
        "print(sorted(name for name in sys.modules if name.startswith('opentelemetry')))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize(
    ("environment", "asked"),
    [
        ({}, False),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": ""}, False),
        (ENDPOINT, True),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://collector:4317"}, True),
        ({**ENDPOINT, "OTEL_TRACES_EXPORTER": "none"}, False),
        ({**ENDPOINT, "OTEL_SDK_DISABLED": "TRUE"}, False),
    ],
)
def test_the_environment_asks_for_it(environment: dict[str, str], asked: bool) -> None:
    assert tracing.is_asked_for(environment) is asked


def test_it_is_set_up_and_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    end = tracing.configure_tracing("searcher")
    end()
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    with pytest.raises(ConfigError, match="traces need"):
        tracing.configure_tracing("searcher")
