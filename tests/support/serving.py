"""A server in this process, on loopback, with its event loop in a thread of its own."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import grpc
from grpc_health.v1 import health_pb2

from everfind_rpc.channel import Connection, Endpoint
from everfind_rpc.clients import embedder as embedder_client
from everfind_rpc.clients import indexer as indexer_client
from everfind_rpc.clients import searcher as searcher_client
from everfind_rpc.clients.embedder import RemoteEmbedder
from everfind_rpc.clients.indexer import RemoteIndexer
from everfind_rpc.clients.searcher import RemoteSearcher
from everfind_rpc.serving.metrics import Metrics
from everfind_rpc.serving.server import Server, ServerSettings
from everfind_rpc.serving.service import Service
from everfind_rpc.tls import ClientTls

SERVICES = (embedder_client.SERVICE, indexer_client.SERVICE, searcher_client.SERVICE)


@contextlib.contextmanager
def serving(
    services: Sequence[Service], settings: ServerSettings | None = None, metrics: Metrics | None = None
) -> Iterator[str]:
    """Serve within the block; gives the address."""
    settings = settings or ServerSettings(listen="127.0.0.1:0", drain_seconds=0.0, grace_seconds=5.0)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="server")
    thread.start()
    try:
        server = asyncio.run_coroutine_threadsafe(_started(services, settings, metrics), loop).result(30)
        try:
            yield f"127.0.0.1:{server.port}"
        finally:
            asyncio.run_coroutine_threadsafe(server.stop(), loop).result(60)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()


async def _started(services: Sequence[Service], settings: ServerSettings, metrics: Metrics | None) -> Server:
    server = Server(services, settings, metrics)
    await server.start()
    return server


@dataclass(frozen=True)
class Remote:
    """The ports of a server."""

    connection: Connection
    embedder: RemoteEmbedder
    indexer: RemoteIndexer
    searcher: RemoteSearcher


@contextlib.contextmanager
def connected(address: str, token: str = "", tls: ClientTls | None = None) -> Iterator[Remote]:
    """Clients of the server at ``address``."""
    with Connection(Endpoint(address, token, tls), SERVICES) as connection:
        yield Remote(connection, RemoteEmbedder(connection), RemoteIndexer(connection), RemoteSearcher(connection))


def raw_call(connection: Connection, name: str) -> grpc.UnaryUnaryMultiCallable[bytes, bytes]:
    """A call of ``service/method`` with bytes in and out, as a client without our stubs could make it."""
    method: grpc.UnaryUnaryMultiCallable[bytes, bytes] = connection.channel.unary_unary(f"/{name}")
    return method


def serves(connection: Connection, service: str) -> bool:
    """Whether a service is healthy."""
    request = health_pb2.HealthCheckRequest(service=service)
    answer = raw_call(connection, "grpc.health.v1.Health/Check")(request.SerializeToString(), timeout=30)
    return health_pb2.HealthCheckResponse.FromString(answer).status == health_pb2.HealthCheckResponse.SERVING
