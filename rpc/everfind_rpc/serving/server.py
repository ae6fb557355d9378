"""One way to serve: health and reflection beside the services, limits, TLS, tokens, and an orderly end."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_health.v1.health import aio as health
from grpc_reflection.v1alpha import reflection

from everfind_core.causes import cause
from everfind_core.errors import ConfigError
from everfind_rpc.auth import TokenFile
from everfind_rpc.channel import KEEPALIVE_SECONDS, MAX_MESSAGE_BYTES
from everfind_rpc.hosts import is_loopback
from everfind_rpc.serving.handlers import MAX_CALL_SECONDS, Handlers
from everfind_rpc.serving.metrics import Metrics
from everfind_rpc.serving.service import Service
from everfind_rpc.tls import ServerTls, server_credentials

_BUSY_LOOK_SECONDS = 1.0

_log = logging.getLogger("everfind.server")


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """Where and how to serve.

    ``listen`` is HOST:PORT; on loopback ``tokens`` are asked for as soon as there is one, elsewhere always.
    ``threads`` run calls, of which ``max_calls`` may be under way or waiting; ``max_streams`` is apart, for those need
    no thread. At the end the server says for ``drain_seconds`` that it stops, so that clients turn to another one, then
    waits ``grace_seconds`` for calls under way. A connection is renewed after ``max_connection_seconds``, which lets
    clients find servers that joined later. After ``idle_seconds`` without a call the server ends; 0 is never.
    """

    listen: str = "127.0.0.1:50051"
    tokens: TokenFile | None = None
    tls: ServerTls | None = None
    threads: int = 16
    max_calls: int = 128
    max_streams: int = 256
    drain_seconds: float = 1.0
    grace_seconds: float = 20.0
    max_connection_seconds: float = 300.0
    idle_seconds: float = 0.0


class Server:
    """A server of some services. Made, started and stopped in one event loop."""

    def __init__(self, services: Sequence[Service], settings: ServerSettings, metrics: Metrics | None = None) -> None:
        """Prepare to serve.

        Raises:
            ConfigError: it would be open to other machines without a token.
        """
        check_listen(settings)
        self._services = services
        self._settings = settings
        metrics = metrics or Metrics()
        for service in services:
            service.measure(metrics)
        self._handlers = Handlers(
            settings.tokens,
            metrics,
            needs_tokens=not is_loopback(settings.listen.rpartition(":")[0]),
            threads=settings.threads,
            max_calls=settings.max_calls,
            max_streams=settings.max_streams,
        )
        self._health = health.HealthServicer()
        self._server = grpc.aio.server(options=_options(settings))
        self.port = 0

    async def start(self) -> None:
        """Listen; ``port`` is known then.

        Raises:
            ConfigError: the address cannot be listened on, or a TLS file cannot be used.
        """
        self._server.add_generic_rpc_handlers([self._handlers.generic(service) for service in self._services])
        # Health and reflection answer without a token: they tell what is public, the contracts and whether we are up.
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._server)
        names = [service.name for service in self._services]
        reflection.enable_server_reflection(
            [*names, health_pb2.DESCRIPTOR.services_by_name["Health"].full_name, reflection.SERVICE_NAME], self._server
        )
        self.port = self._bind()
        await self._server.start()
        for name in names:
            await self._health.set(name, health_pb2.HealthCheckResponse.SERVING)

    async def idle(self) -> None:
        """Return once nothing was asked, and no run was under way, for ``idle_seconds``; never for 0."""
        seconds = self._settings.idle_seconds
        if not seconds:
            await asyncio.Event().wait()
        while (left := seconds - self._handlers.idle_for()) > 0 or any(service.busy() for service in self._services):
            await asyncio.sleep(max(left, _BUSY_LOOK_SECONDS))

    async def stop(self, *, drain: bool = True) -> None:
        """Turn new callers away, let calls under way end, and stop."""
        await self._health.enter_graceful_shutdown()
        if drain:
            await asyncio.sleep(self._settings.drain_seconds)
        for service in self._services:
            await asyncio.to_thread(service.stop)
        await self._server.stop(self._settings.grace_seconds if drain else 0)
        self._handlers.close()

    def _bind(self) -> int:
        listen, tls = self._settings.listen, self._settings.tls
        _check_free(listen)
        try:
            if tls is not None:
                return self._server.add_secure_port(listen, server_credentials(tls))
            return self._server.add_insecure_port(listen)
        except (RuntimeError, ValueError) as error:
            raise ConfigError(
                f"cannot listen on {listen}", hint="Is the port taken? Choose another with --listen HOST:PORT."
            ) from error


def _check_free(listen: str) -> None:
    """Say why nothing can listen there: gRPC tells the cause in its own log only.

    Raises:
        ConfigError: none of the addresses that ``listen`` means can be taken.
    """
    host, _, port = listen.rpartition(":")
    try:
        meant = socket.getaddrinfo(host.strip("[]"), int(port), type=socket.SOCK_STREAM)
        refusals: list[OSError | None] = [_refusal(family, address) for family, _, _, _, address in meant]
    except OSError as error:  # a name that nothing resolves
        refusals = [error]
    known = [one for one in refusals if one is not None]
    if known and len(known) == len(refusals):
        raise ConfigError(
            f"cannot listen on {listen}: {cause(known[0])}",
            hint="Choose another address or port with --listen HOST:PORT.",
        )


def _refusal(family: socket.AddressFamily, address: tuple[object, ...]) -> OSError | None:
    """Why an address cannot be taken; None if it can."""
    try:
        with socket.socket(family, socket.SOCK_STREAM) as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            trial.bind(address)
    except OSError as error:
        return error
    return None


def run_server(
    services: Sequence[Service],
    settings: ServerSettings,
    metrics: Metrics | None = None,
    *,
    on_ready: Callable[[int], None] = lambda _port: None,
) -> None:
    """Serve until SIGTERM, SIGINT or ``idle_seconds``; a second signal ends at once. ``on_ready`` gets the port.

    Raises:
        ConfigError: see :class:`Server`.
    """

    async def serve() -> None:
        await _serve(Server(services, settings, metrics), on_ready)

    asyncio.run(serve())


async def _serve(server: Server, on_ready: Callable[[int], None]) -> None:
    loop = asyncio.get_running_loop()
    asked = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, asked.set)
    await server.start()
    _log.info("listening", extra={"port": server.port})
    on_ready(server.port)
    ends = (asyncio.ensure_future(asked.wait()), asyncio.ensure_future(server.idle()))
    await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
    for end in ends:
        end.cancel()
    asked.clear()
    _log.info("stopping")
    stopping = asyncio.ensure_future(server.stop())
    again = asyncio.ensure_future(asked.wait())
    await asyncio.wait({stopping, again}, return_when=asyncio.FIRST_COMPLETED)
    if not stopping.done():
        stopping.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await stopping
        await server.stop(drain=False)
    again.cancel()
    _log.info("stopped")


def check_listen(settings: ServerSettings) -> None:
    """Refuse to be open to other machines without a token.

    Raises:
        ConfigError: the address is none, or needs a token.
    """
    host, _, port = settings.listen.rpartition(":")
    bare_ipv6 = ":" in host and not (host.startswith("[") and host.endswith("]"))
    if not host or bare_ipv6 or not port.isdecimal() or int(port) > 65535:
        raise ConfigError(
            f"listen: {settings.listen!r} is no HOST:PORT",
            hint="Give both, such as 127.0.0.1:50051; an IPv6 address stands in brackets: [::1]:50051.",
        )
    tokens = settings.tokens.tokens() if settings.tokens else ()
    if not tokens and not is_loopback(host):
        raise ConfigError(
            f"will not listen on {settings.listen}: other machines could read everything without a token",
            hint="Make a token with `everfind token create`, or listen on 127.0.0.1.",
        )


def _options(settings: ServerSettings) -> list[tuple[str, int]]:
    return [
        ("grpc.so_reuseport", 0),  # or a second server would take half of the calls of the first
        ("grpc.max_receive_message_length", MAX_MESSAGE_BYTES),
        ("grpc.max_send_message_length", MAX_MESSAGE_BYTES),
        ("grpc.keepalive_time_ms", KEEPALIVE_SECONDS * 1000),
        ("grpc.keepalive_timeout_ms", 10_000),
        ("grpc.http2.max_pings_without_data", 0),
        ("grpc.http2.min_ping_interval_without_data_ms", KEEPALIVE_SECONDS * 500),
        ("grpc.max_connection_age_ms", int(settings.max_connection_seconds * 1000)),
        ("grpc.max_connection_age_grace_ms", MAX_CALL_SECONDS * 1000),
    ]
