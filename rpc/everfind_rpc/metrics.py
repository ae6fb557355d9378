"""What a server counts, for Prometheus to read. Labels are names of calls and codes: never folders, paths or tokens."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from everfind_core.errors import ConfigError

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

CALL_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 60.0, 600.0)


class Metrics:
    """Counts nothing: for a server that nobody measures."""

    def call(self, name: str, code: str, seconds: float) -> None:
        """A call of ``service/method`` ended with a status after ``seconds``."""

    def watch_calls(self, under_way: Callable[[], int]) -> None:
        """Report how many calls are under way or waiting for a thread."""


class PrometheusMetrics(Metrics):
    """Counts for Prometheus, in a registry of its own."""

    def __init__(self) -> None:
        """Begin to count.

        Raises:
            ConfigError: the library is not installed.
        """
        try:
            from prometheus_client import CollectorRegistry, Gauge, Histogram
        except ImportError as error:
            raise ConfigError(
                "metrics need the package prometheus-client", hint="Install it, or unset EVERFIND_METRICS_LISTEN."
            ) from error
        self.registry: CollectorRegistry = CollectorRegistry()
        self._calls = Histogram(
            "everfind_call_seconds",
            "Time from the arrival of a call to its end, by call and gRPC status code.",
            ("call", "code"),
            registry=self.registry,
            buckets=CALL_SECONDS,
        )
        self._under_way = Gauge(
            "everfind_calls_under_way", "Calls at work or waiting for a thread, streams apart.", registry=self.registry
        )

    def call(self, name: str, code: str, seconds: float) -> None:
        """See :meth:`Metrics.call`."""
        self._calls.labels(name, code).observe(seconds)

    def watch_calls(self, under_way: Callable[[], int]) -> None:
        """See :meth:`Metrics.watch_calls`."""
        self._under_way.set_function(under_way)

    def serve(self, listen: str) -> Callable[[], None]:
        """Answer ``http://HOST:PORT/metrics`` in a thread; gives what ends that.

        Raises:
            ConfigError: the address is none, or cannot be listened on.
        """
        from prometheus_client import start_http_server

        host, _, port = listen.rpartition(":")
        try:
            server, thread = start_http_server(int(port), host.strip("[]"), self.registry)
        except (OSError, ValueError, OverflowError) as error:
            raise ConfigError(
                f"cannot listen on {listen!r} for metrics", hint="Set EVERFIND_METRICS_LISTEN to a free HOST:PORT."
            ) from error

        def close() -> None:
            server.shutdown()
            server.server_close()
            thread.join()

        return close
