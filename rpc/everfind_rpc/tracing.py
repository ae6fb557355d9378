"""Spans of calls for OpenTelemetry, where its own variables (``OTEL_…``) ask for them; nothing is loaded otherwise."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from typing import TYPE_CHECKING

import grpc

from everfind_core import __version__
from everfind_core.errors import ConfigError

if TYPE_CHECKING:
    from opentelemetry.trace import Span, SpanKind, TracerProvider

REQUEST_ID_ATTRIBUTE = "everfind.request_id"
_ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")

_provider: TracerProvider | None = None

Ended = Callable[[grpc.StatusCode], None]
"""Takes the status of a call, before its span ends."""


def is_asked_for(environment: Mapping[str, str]) -> bool:
    """Whether the variables of OpenTelemetry say where to send spans, and do not switch it off."""
    if environment.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return False
    return environment.get("OTEL_TRACES_EXPORTER") != "none" and any(map(environment.get, _ENDPOINTS))


def configure_tracing(service: str) -> Callable[[], None]:
    """Send spans where the environment says, if it does; gives what sends the last ones and ends that.

    Raises:
        ConfigError: it does, and the packages are not installed.
    """
    if not is_asked_for(os.environ):
        return lambda: None
    try:
        from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        raise ConfigError(
            "traces need OpenTelemetry's packages", hint="Install everfind[otel], or unset OTEL_EXPORTER_OTLP_ENDPOINT."
        ) from error
    name = os.environ.get("OTEL_SERVICE_NAME") or f"everfind-{service}"
    provider = TracerProvider(resource=Resource.create({"service.name": name, "service.version": __version__}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    use(provider)

    def end() -> None:
        use(None)
        provider.shutdown()

    return end


def use(provider: TracerProvider | None) -> None:
    """Make spans with ``provider`` from now on; None makes none."""
    global _provider  # noqa: PLW0603 - one for the process, as logging is
    _provider = provider


@contextlib.contextmanager
def server_span(call: str, metadata: Mapping[str, str | bytes], request_id: str) -> Iterator[Ended]:
    """Around the answering of ``service/method``, below the caller's span; calls made meanwhile are below this one."""
    if _provider is None:
        yield _nothing
        return
    from opentelemetry import context, propagate, trace

    parent = propagate.extract({key: value for key, value in metadata.items() if isinstance(value, str)})
    with _span(call, trace.SpanKind.SERVER, request_id, parent) as (span, ended):
        # For the rest of the call's own task, whose context ends with it: nothing to detach.
        context.attach(trace.set_span_in_context(span, parent))
        yield ended


@contextlib.contextmanager
def client_span(call: str, headers: MutableMapping[str, str], request_id: str) -> Iterator[Ended]:
    """Around a call of ``service/method`` to another server, whose ``headers`` get the span to go on with."""
    if _provider is None:
        yield _nothing
        return
    from opentelemetry import propagate, trace

    with _span(call, trace.SpanKind.CLIENT, request_id, None) as (span, ended):
        propagate.inject(headers, trace.set_span_in_context(span))
        yield ended


@contextlib.contextmanager
def _span(call: str, kind: SpanKind, request_id: str, parent: object) -> Iterator[tuple[Span, Ended]]:
    """A span that ends with the block; without a status it was OK."""
    from opentelemetry.trace import StatusCode

    assert _provider is not None
    service, _, method = call.strip("/").partition("/")
    attributes = {"rpc.system": "grpc", "rpc.service": service, "rpc.method": method, REQUEST_ID_ATTRIBUTE: request_id}
    tracer = _provider.get_tracer("everfind", __version__)
    span = tracer.start_span(f"{service}/{method}", parent, kind, attributes)  # type: ignore[arg-type]  # a Context, which is a dict of its own
    code = grpc.StatusCode.OK

    def ended(status: grpc.StatusCode) -> None:
        nonlocal code
        code = status

    try:
        yield span, ended
    finally:
        span.set_attribute("rpc.grpc.status_code", int(code.value[0]))
        if code is not grpc.StatusCode.OK:
            span.set_status(StatusCode.ERROR, code.name)
        span.end()


def _nothing(_status: grpc.StatusCode) -> None:
    """Takes a status that no span wants."""
