"""What Prometheus reads of a server."""

from __future__ import annotations

import re
import urllib.request
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from everfind_core.errors import ConfigError, IndexDamagedError
from everfind_core.model import Coverage, WorkspaceStatus
from everfind_rpc.serving.metrics import PrometheusMetrics
from tests.support.repository import ROOT


def test_calls_are_counted_by_call_and_code() -> None:
    metrics = PrometheusMetrics()
    metrics.call("everfind.searcher.v1.SearcherService/Search", "OK", 0.02)
    metrics.call("everfind.searcher.v1.SearcherService/Search", "OK", 0.03)
    metrics.call("everfind.searcher.v1.SearcherService/Search", "UNAVAILABLE", 1)
    metrics.watch_calls(lambda: 3)
    text = _read(metrics)
    count = 'everfind_call_seconds_count{call="everfind.searcher.v1.SearcherService/Search",code="%s"} %s'
    assert count % ("OK", "2.0") in text
    assert count % ("UNAVAILABLE", "1.0") in text
    assert "everfind_calls_under_way 3.0" in text


STATUS = WorkspaceStatus("", "", 7, (), Coverage(files=3, chunks=9, pending=2), indexed_at=1.5)


def test_embedding_and_index_are_measured(tmp_path: Path) -> None:
    metrics = PrometheusMetrics()
    metrics.run("query", 4, 48, 0.5)
    metrics.run("query", 1, 12, 0.25)
    metrics.watch_waiting("query", lambda: 5)
    metrics.watch_index(lambda: replace(STATUS, index_directory=str(tmp_path)))
    assert {sample: metrics.registry.get_sample_value(f"everfind_{sample}") for sample in EXPECTED_INDEX} == (
        EXPECTED_INDEX
    )
    for sample, value in EXPECTED_EMBEDDING.items():
        assert metrics.registry.get_sample_value(f"everfind_embedding_{sample}", {"kind": "query"}) == value


EXPECTED_INDEX = {
    "index_generation": 7,
    "index_files": 3,
    "index_chunks": 9,
    "index_pending_files": 2,
    "index_time_seconds": 1.5,
    "table_bytes": 0,
    "table_live_bytes": 0,
    "table_files": 0,
    "table_fragments": 0,
    "table_segments": 0,
}
EXPECTED_EMBEDDING = {
    "run_sequences_count": 2,
    "run_sequences_sum": 5,
    "tokens_total": 60,
    "run_seconds_total": 0.75,
    "waiting_tokens": 5,
}


def test_an_index_that_cannot_be_read_fails_no_other_metric() -> None:
    def status() -> WorkspaceStatus:
        raise IndexDamagedError("gone")

    metrics = PrometheusMetrics()
    metrics.watch_index(status)
    metrics.watch_calls(lambda: 3)
    names = {family.name for family in metrics.registry.collect()}
    assert "everfind_calls_under_way" in names
    assert "everfind_index_generation" not in names


def test_every_metric_is_documented_and_no_other(tmp_path: Path) -> None:
    metrics = PrometheusMetrics()
    metrics.watch_index(lambda: replace(STATUS, index_directory=str(tmp_path)))
    documented = set(re.findall(r"`(everfind_[a-z_]+)`", DEPLOY.read_text(encoding="utf-8")))
    made = {family.name + ("_total" if family.type == "counter" else "") for family in metrics.registry.collect()}
    assert {name for name in documented if name != "everfind_indexer"} == made


DEPLOY = ROOT / "docs" / "deploy.md"


@pytest.mark.parametrize("listen", ["", "127.0.0.1", "127.0.0.1:99999", "nowhere.invalid:0"])
def test_an_address_that_cannot_be_used_is_named(listen: str) -> None:
    with pytest.raises(ConfigError, match="cannot listen"):
        PrometheusMetrics().serve(listen)


def _read(metrics: PrometheusMetrics) -> str:
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    close: Callable[[], None] = metrics.serve(f"127.0.0.1:{port}")
    try:
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(
            f"http://127.0.0.1:{port}/metrics", timeout=5
        ) as answer:
            text: str = answer.read().decode()
    finally:
        close()
    assert re.search(r"^# HELP everfind_call_seconds ", text, re.MULTILINE)
    return text
