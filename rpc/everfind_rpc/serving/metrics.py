"""What a server counts, for Prometheus to read. Labels are names of calls and codes: never folders, paths or tokens."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from everfind_core.errors import ConfigError, EverfindError
from everfind_core.index.table_size import table_size
from everfind_core.model import WorkspaceStatus

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry
    from prometheus_client.core import GaugeMetricFamily

CALL_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 60.0, 600.0)
RUN_SEQUENCES = (1, 2, 4, 8, 16, 32, 64)

_log = logging.getLogger("everfind.metrics")


class Metrics:
    """Counts nothing: for a server that nobody measures."""

    def call(self, name: str, code: str, seconds: float) -> None:
        """A call of ``service/method`` ended with a status after ``seconds``."""

    def watch_calls(self, under_way: Callable[[], int]) -> None:
        """Report how many calls are under way or waiting for a thread."""

    def run(self, kind: str, sequences: int, tokens: int, seconds: float) -> None:
        """The model took ``sequences`` of an input kind in one run."""

    def watch_waiting(self, kind: str, tokens: Callable[[], int]) -> None:
        """Report how many tokens of an input kind wait to be embedded."""

    def watch_index(self, status: Callable[[], WorkspaceStatus]) -> None:
        """Report generation, coverage and size of an index."""


@runtime_checkable
class Measurable(Protocol):
    """What counts more than its calls."""

    def measure(self, metrics: Metrics) -> None:
        """Count for ``metrics`` from now on."""


class PrometheusMetrics(Metrics):
    """Counts for Prometheus, in a registry of its own."""

    def __init__(self) -> None:
        """Begin to count.

        Raises:
            ConfigError: the library is not installed.
        """
        _require_library()
        from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

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
        self._sequences = Histogram(
            "everfind_embedding_run_sequences",
            "Texts that shared a run of the model.",
            ("kind",),
            registry=self.registry,
            buckets=RUN_SEQUENCES,
        )
        self._tokens = Counter(
            "everfind_embedding_tokens_total", "Tokens that were embedded.", ("kind",), registry=self.registry
        )
        self._seconds = Counter(
            "everfind_embedding_run_seconds_total", "Time of all runs together.", ("kind",), registry=self.registry
        )
        self._waiting = Gauge(
            "everfind_embedding_waiting_tokens", "Tokens that wait to be embedded.", ("kind",), registry=self.registry
        )

    def call(self, name: str, code: str, seconds: float) -> None:
        """See :meth:`Metrics.call`."""
        self._calls.labels(name, code).observe(seconds)

    def watch_calls(self, under_way: Callable[[], int]) -> None:
        """See :meth:`Metrics.watch_calls`."""
        self._under_way.set_function(under_way)

    def run(self, kind: str, sequences: int, tokens: int, seconds: float) -> None:
        """See :meth:`Metrics.run`."""
        self._sequences.labels(kind).observe(sequences)
        self._tokens.labels(kind).inc(tokens)
        self._seconds.labels(kind).inc(seconds)

    def watch_waiting(self, kind: str, tokens: Callable[[], int]) -> None:
        """See :meth:`Metrics.watch_waiting`."""
        self._waiting.labels(kind).set_function(tokens)

    def watch_index(self, status: Callable[[], WorkspaceStatus]) -> None:
        """See :meth:`Metrics.watch_index`."""
        self.registry.register(_IndexCollector(status))

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


def _require_library() -> None:
    try:
        import prometheus_client  # noqa: F401 - whether it is there
    except ImportError as error:
        raise ConfigError(
            "metrics need the package prometheus-client", hint="Install it, or unset EVERFIND_METRICS_LISTEN."
        ) from error


class _IndexCollector:
    """Looks at an index whenever Prometheus asks."""

    def __init__(self, status: Callable[[], WorkspaceStatus]) -> None:
        self._status = status

    def describe(self) -> Iterator[GaugeMetricFamily]:
        """Nothing: registering it should not read the index."""
        return iter(())

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """The index as it is now; nothing while it cannot be read."""
        from prometheus_client.core import GaugeMetricFamily

        try:
            status = self._status()
            table = table_size(status.index_directory)
        except EverfindError as error:
            _log.warning("the index cannot be measured: %s", error)
            return
        coverage = status.coverage
        for name, documentation, value in (
            ("index_generation", "Generation that this service sees.", status.generation),
            ("index_files", "Files in the index.", coverage.files),
            ("index_chunks", "Chunks in the index.", coverage.chunks),
            ("index_pending_files", "Files known to have changed and not indexed yet.", coverage.pending),
            ("index_time_seconds", "When a run last finished a folder, since the epoch.", status.indexed_at),
            ("table_bytes", "Size of the table of chunks.", table.size),
            ("table_live_bytes", "Of it, what the newest version is made of.", table.live),
            ("table_files", "Data files of the table, one for each fragment and each kept from before.", table.files),
            ("table_fragments", "Of them, those of the newest version.", table.fragments),
            ("table_segments", "Segments of all search structures of the table.", table.segments),
        ):
            yield GaugeMetricFamily(f"everfind_{name}", documentation, value)
