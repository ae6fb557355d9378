"""One address for several servers: calls pass through as they are, with their caller's token, deadline and cancel.

What a caller may do is decided by the server that answers; here only a token that nobody knows is turned away.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, AsyncIterator
from functools import partial
from typing import TypeAlias

import grpc
from google.protobuf.descriptor import MethodDescriptor, ServiceDescriptor

from everfind_core.errors import UnavailableError
from everfind_rpc.channel import Endpoint, asynchronous_channel
from everfind_rpc.clients.call_errors import call_error
from everfind_rpc.logs import REQUEST_ID_KEY
from everfind_rpc.serving.service import Call, Proxied, Service
from everfind_rpc.tracing import client_span

_Unary: TypeAlias = "grpc.aio.UnaryUnaryMultiCallable[bytes, bytes]"
_Streaming: TypeAlias = "grpc.aio.UnaryStreamMultiCallable[bytes, bytes]"


def proxied_service(descriptor: ServiceDescriptor, endpoint: Endpoint) -> Service:
    """A service whose calls all servers at ``endpoint`` answer in turn.

    Raises:
        ConfigError: a TLS file cannot be used.
    """
    upstream = _Upstream(descriptor, endpoint)
    methods = {
        method.name: Proxied(partial(upstream.answers, method), streams=method.server_streaming)
        for method in descriptor.methods
    }
    return Service(descriptor, methods)


class _Upstream:
    """Servers behind this one. The channel belongs to the event loop, so that the first call opens it."""

    def __init__(self, descriptor: ServiceDescriptor, endpoint: Endpoint) -> None:
        self._descriptor = descriptor
        self._endpoint = endpoint
        self._channel: grpc.aio.Channel | None = None

    async def answers(self, method: MethodDescriptor, request: bytes, call: Call) -> AsyncIterator[bytes]:
        """What the server answers to one call."""
        if self._channel is None:
            self._channel = asynchronous_channel(self._endpoint, [self._descriptor])
        path = f"/{self._descriptor.full_name}/{method.name}"
        headers = {REQUEST_ID_KEY: call.request_id}
        if call.authorization:
            headers["authorization"] = call.authorization
        with client_span(path, headers, call.request_id) as ended:
            passed_on = self._passed_on(path, request, headers, call, streams=method.server_streaming)
            try:
                async with contextlib.aclosing(passed_on):
                    async for answer in passed_on:
                        yield answer
            except grpc.aio.AioRpcError as error:
                ended(error.code())
                raise self._error(error) from None

    async def _passed_on(
        self, path: str, request: bytes, headers: dict[str, str], call: Call, *, streams: bool
    ) -> AsyncGenerator[bytes]:
        assert self._channel is not None
        metadata, timeout = tuple(headers.items()), call.cancel.remaining()
        if not streams:
            unary: _Unary = self._channel.unary_unary(path)
            yield await unary(request, timeout=timeout, metadata=metadata)
            return
        streaming: _Streaming = self._channel.unary_stream(path)
        stream = streaming(request, timeout=timeout, metadata=metadata)
        try:
            async for answer in stream:
                yield answer
        finally:
            stream.cancel()

    def _error(self, error: grpc.aio.AioRpcError) -> Exception:
        if error.code() is grpc.StatusCode.UNAVAILABLE and not error.trailing_metadata():
            name = self._descriptor.name.removesuffix("Service").lower()
            return UnavailableError(
                f"the {name} does not answer: {error.details()}",
                hint="Try again; if it lasts, look at its log where the servers run.",
            )
        return call_error(error, self._endpoint.address)
