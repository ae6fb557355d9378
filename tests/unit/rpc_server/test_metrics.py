"""What Prometheus reads of a server."""

from __future__ import annotations

import re
import urllib.request
from collections.abc import Callable

import pytest

from everfind_core.errors import ConfigError
from everfind_rpc.metrics import PrometheusMetrics


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
