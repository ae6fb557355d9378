"""The files in deploy/: what they read is there, and what they name exists."""

from __future__ import annotations

import json
import re
from pathlib import Path

from everfind_core.model import Coverage, WorkspaceStatus
from everfind_rpc.serving.metrics import PrometheusMetrics

DEPLOY = Path(__file__).parents[3] / "deploy"


def variables(text: str) -> dict[str, str]:
    """Variables that a compose file reads, with their defaults."""
    return dict(re.findall(r"\$\{([A-Z_]+):?-([^}]*)\}", text))


def test_every_variable_of_the_compose_file_is_in_the_example_with_its_default() -> None:
    example = (DEPLOY / ".env.example").read_text()
    lines = dict(line.split("=", 1) for line in example.splitlines() if line and not line.startswith("#"))
    assert lines == variables((DEPLOY / "docker-compose.yml").read_text())


def test_the_dashboard_shows_metrics_that_there_are() -> None:
    dashboard = json.loads((DEPLOY / "monitoring" / "grafana" / "dashboards" / "everfind.json").read_text())
    asked = {
        name
        for panel in dashboard["panels"]
        for target in panel["targets"]
        for name in re.findall(r"everfind_\w+", target["expr"])
    }
    metrics = PrometheusMetrics()
    metrics.call("x", "OK", 0.1)
    metrics.run("query", 1, 12, 0.1)
    metrics.watch_waiting("query", lambda: 0)
    metrics.watch_index(lambda: WorkspaceStatus("", "", 1, (), Coverage()))
    known = {sample.name for family in metrics.registry.collect() for sample in family.samples}
    assert asked
    assert asked <= known
