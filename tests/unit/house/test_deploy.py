"""The files in deploy/: what they read is there, and what they name exists."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
import yaml

from everfind_core.model import Coverage, WorkspaceStatus
from everfind_rpc.serving.metrics import PrometheusMetrics
from tests.support.repository import ROOT

DEPLOY = ROOT / "deploy"


def variables(text: str) -> dict[str, str]:
    """Variables that a compose file reads, with their defaults."""
    return dict(re.findall(r"\$\{([A-Z_]+):?-([^}]*)\}", text))


def test_every_variable_of_the_compose_file_is_in_the_example_with_its_default() -> None:
    example = (DEPLOY / ".env.example").read_text()
    lines = dict(line.split("=", 1) for line in example.splitlines() if line and not line.startswith("#"))
    assert lines == variables((DEPLOY / "docker-compose.yml").read_text())


OWN = ("tokens", "embedder", "indexer", "searcher", "gateway", "web", "everfind")
LIVING = ("embedder", "indexer", "searcher", "gateway", "web")
AFTER = {
    "embedder": {"tokens"},
    "indexer": {"tokens", "embedder"},
    "searcher": {"tokens", "embedder", "indexer"},
    "gateway": {"tokens", "indexer", "searcher"},
    "web": {"gateway"},
}


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((DEPLOY / "docker-compose.yml").read_text())["services"]
    return found


def test_no_container_may_more_than_it_needs(services: dict[str, Any]) -> None:
    assert set(services) == {*OWN, "prometheus", "grafana"}
    for name, service in services.items():
        assert service["read_only"] is True, name
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        for port in service.get("ports", ()):
            assert re.match(r"\$\{[A-Z_]+:-127\.0\.0\.1:\d+\}:\d+$", port), "only this machine reaches it unless told"
    assert {services[name]["user"] for name in OWN} == {"10001:10001"}
    assert [name for name in services if "volumes" in services[name] and "index" in str(services[name]["volumes"])] == [
        "indexer",
        "searcher",
    ]
    assert "index:/var/lib/everfind/index:ro" in services["searcher"]["volumes"]


def test_what_lives_is_limited_started_again_and_waits_for_what_it_needs(services: dict[str, Any]) -> None:
    for name in (*LIVING, "prometheus", "grafana"):
        assert services[name]["restart"] == "unless-stopped", name
        assert services[name]["deploy"]["resources"]["limits"].keys() == {"cpus", "memory", "pids"}, name
    for name, needed in AFTER.items():
        waits = services[name]["depends_on"]
        assert set(waits) == needed
        for other, how in waits.items():
            expected = "service_completed_successfully" if other == "tokens" else "service_healthy"
            assert how == {"condition": expected}, (name, other)
    assert "HEALTHCHECK" in (DEPLOY / "Dockerfile").read_text()
    assert [name for name in OWN if services[name].get("healthcheck") == {"disable": True}] == [
        "tokens",
        "web",
        "everfind",
    ]


def test_secrets_are_files_and_nothing_but_the_services_starts_unasked(services: dict[str, Any]) -> None:
    for name in ("embedder", "indexer", "searcher", "gateway"):
        given = services[name]["environment"]
        assert given["EVERFIND_TOKEN_FILE"] == "/var/lib/everfind/tokens/tokens.json"
        assert given["EVERFIND_SERVICE_TOKEN_FILE"] == "/var/lib/everfind/tokens/services"
        assert not [key for key in given if key.endswith(("_TOKEN", "_KEY", "_PASSWORD"))], name
        assert "profiles" not in services[name]
    asked_for = {name: services[name]["profiles"] for name in services if "profiles" in services[name]}
    assert asked_for == {
        "web": ["web"],
        "everfind": ["tools"],
        "prometheus": ["monitoring"],
        "grafana": ["monitoring"],
    }


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
