"""How a client speaks to a server: the whole policy of channels in one place."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import grpc
from google.protobuf.descriptor import MethodDescriptor, ServiceDescriptor
from google.protobuf.descriptor_pb2 import MethodOptions

if TYPE_CHECKING:
    from everfind_rpc.auth import SecretFile
    from everfind_rpc.tls import ClientTls

MAX_MESSAGE_BYTES = 16 * 1024 * 1024
KEEPALIVE_SECONDS = 20
RECONNECT_SECONDS = 2
"""How long a channel waits at most before it looks again for a server that is away; gRPC itself waits two minutes."""

CONNECT_SECONDS = 5
"""How long one look for it may take."""

READ_SECONDS = 30.0
SEARCH_SECONDS = 30.0
STATUS_SECONDS = 60.0
VERIFY_SECONDS = 600.0
EMBED_SECONDS = 120.0
WATCH_SECONDS = 600.0
"""Deadlines by kind of call, for callers that have none; a watch goes on after its deadline."""

_RETRY = {
    "maxAttempts": 4,
    "initialBackoff": "0.1s",
    "maxBackoff": "2s",
    "backoffMultiplier": 2.5,
    "retryableStatusCodes": ["UNAVAILABLE"],
}
_WITH_REQUEST_ID = frozenset({"everfind.indexer.v1.IndexerService.CreateIndexRun"})
"""Calls that may be repeated because our clients give them a request id."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A server's address (HOST:PORT, all addresses of a name in turn), the token for it, and TLS (None: plain text)."""

    address: str
    token: str | SecretFile = ""
    tls: ClientTls | None = None

    @property
    def target(self) -> str:
        """The address as gRPC takes it."""
        return self.address if ":///" in self.address else f"dns:///{self.address}"

    def secret(self) -> str:
        """The token as it is now; empty for none."""
        return self.token if isinstance(self.token, str) else self.token.read()


class Connection:
    """An open channel to one endpoint; use it as a context manager. Connects at the first call."""

    def __init__(self, endpoint: Endpoint, services: Iterable[ServiceDescriptor]) -> None:
        """Prepare to call ``services``.

        Raises:
            ConfigError: a TLS file cannot be used.
        """
        self.endpoint = endpoint
        options = _options(list(services))
        if endpoint.tls is None:
            self.channel = grpc.insecure_channel(endpoint.target, options)
        else:
            self.channel = grpc.secure_channel(endpoint.target, _credentials(endpoint.tls), options)

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the channel; calls under way are cancelled."""
        self.channel.close()


def asynchronous_channel(endpoint: Endpoint, services: Iterable[ServiceDescriptor]) -> grpc.aio.Channel:
    """A channel for the running event loop, with the policy of :class:`Connection`. Raises as it does."""
    options = _options(list(services))
    if endpoint.tls is None:
        return grpc.aio.insecure_channel(endpoint.target, options)
    return grpc.aio.secure_channel(endpoint.target, _credentials(endpoint.tls), options)


def _credentials(tls: ClientTls) -> grpc.ChannelCredentials:
    from everfind_rpc.tls import client_credentials  # loads ssl, which most clients of this machine do without

    return client_credentials(tls)


def _options(services: list[ServiceDescriptor]) -> list[tuple[str, Any]]:
    return [
        ("grpc.max_receive_message_length", MAX_MESSAGE_BYTES),
        ("grpc.max_send_message_length", MAX_MESSAGE_BYTES),
        ("grpc.keepalive_time_ms", KEEPALIVE_SECONDS * 1000),
        ("grpc.keepalive_timeout_ms", 10_000),
        ("grpc.http2.max_pings_without_data", 0),
        ("grpc.initial_reconnect_backoff_ms", 200),
        ("grpc.min_reconnect_backoff_ms", CONNECT_SECONDS * 1000),
        ("grpc.max_reconnect_backoff_ms", RECONNECT_SECONDS * 1000),
        ("grpc.dns_min_time_between_resolutions_ms", 5_000),
        ("grpc.enable_http_proxy", 0),  # what is indexed goes to the configured server, and nowhere on the way
        ("grpc.use_local_subchannel_pool", 1),
        ("grpc.enable_retries", 1),
        ("grpc.service_config", json.dumps(service_config(services))),
    ]


def service_config(services: list[ServiceDescriptor]) -> dict[str, Any]:
    """Round robin over a name's addresses; retries for the calls that their contract marks as repeatable."""
    names = [
        {"service": method.containing_service.full_name, "method": method.name} for method in _repeatable(services)
    ]
    return {
        "loadBalancingConfig": [{"round_robin": {}}],
        "methodConfig": [{"name": names, "retryPolicy": _RETRY}],
        "retryThrottling": {"maxTokens": 20, "tokenRatio": 0.5},
    }


def _repeatable(services: list[ServiceDescriptor]) -> Iterator[MethodDescriptor]:
    """Unary calls only: with grpcio 1.85 a retried stream whose server goes never ends, not even at its deadline."""
    for service in services:
        for method in service.methods:
            if method.server_streaming:
                continue
            level = method.GetOptions().idempotency_level
            if level != MethodOptions.IDEMPOTENCY_UNKNOWN or method.full_name in _WITH_REQUEST_ID:
                yield method
