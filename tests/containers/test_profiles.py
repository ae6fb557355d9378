"""The parts of the compose file that are off by default: the web page, and what watches the services."""

from __future__ import annotations

import json
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from everfind_core.model import IndexRequest, SearchRequest
from tests.support.docker_images import PREFIX, TAG
from tests.support.repository import ROOT
from tests.support.team import Team

pytestmark = [pytest.mark.containers, pytest.mark.timeout(900)]

PAGE_TOKEN = "a-token-for-the-page"
PATIENCE = 120.0

SCRAPE = """
import re, socket, urllib.request
config = open("/etc/prometheus/prometheus.yml").read()
names, port = re.search(r"names: \\[([^]]+)\\].* port: (\\d+)", config).groups()
for name in names.split(", "):
    for address in socket.gethostbyname_ex(name)[2]:
        with urllib.request.urlopen(f"http://{address}:{port}/metrics", timeout=10) as answer:
            for line in answer.read().decode().splitlines():
                if not line.startswith("#"):
                    print(name, re.match(r"\\w+", line).group())
"""
"""What Prometheus does with its settings, where it does it."""


@pytest.fixture(scope="module")
def asked(running: Team) -> Team:
    """A team whose services have had calls."""
    with running.client() as remote:
        remote.indexer.index(IndexRequest(), lambda _event: None)
        assert remote.searcher.search(SearchRequest("copy a file")).hits
    return running


def set_variables(team: Team, **variables: str) -> None:
    """Set variables of the compose file for what is started from now on."""
    assert team.compose.env_file
    with Path(team.compose.env_file[0]).open("a", encoding="utf-8") as file:
        file.writelines(f"{name}={value}\n" for name, value in variables.items())


@pytest.fixture(scope="module")
def page(asked: Team) -> Iterator[str]:
    """The address of the page of a team."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{probe.getsockname()[1]}"
    set_variables(asked, WEB_TOKEN=PAGE_TOKEN, WEB_SERVER_TOKEN=asked.token, WEB_PUBLISH=address, WEB_HOST="localhost")
    asked.run("--profile", "web", "up", "--detach", "--wait", "--no-build", "--no-recreate", "web")
    yield f"http://localhost:{address.rpartition(':')[2]}"
    asked.run("--profile", "web", "rm", "--force", "--stop", "web")


def got(url: str, body: dict[str, Any] | None = None, token: str = "") -> tuple[int, str]:
    """A call's status and answer; the page is waited for."""
    headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {token}"} if token else {})}
    request = urllib.request.Request(url, json.dumps(body).encode() if body is not None else None, headers)
    ends = time.monotonic() + PATIENCE
    while True:
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()
        except OSError:
            assert time.monotonic() < ends, "the page does not come up"
            time.sleep(0.2)


def test_the_page_answers_from_the_team(page: str) -> None:
    status, html = got(page)
    assert (status, "<title>" in html) == (200, True)
    assert got(f"{page}/api/gather", {"query": "copy a file"})[0] == 401
    status, answer = got(f"{page}/api/gather", {"query": "copy a file"}, PAGE_TOKEN)
    assert status == 200
    assert json.loads(answer)["result"]["passages"]
    assert got(page.replace("localhost", "127.0.0.1"))[0] == 200


def test_what_prometheus_asks_for_is_there_and_what_the_dashboard_shows(asked: Team) -> None:
    """Prometheus' own image cannot be had everywhere: another one stands in its place, with its files and networks."""
    set_variables(asked, PROMETHEUS_IMAGE=f"{PREFIX}-gateway:{TAG}", GRAFANA_IMAGE=f"{PREFIX}-gateway:{TAG}")

    def inside(service: str, program: str) -> str:
        command = ("run", "--rm", "--no-deps", "-T", "--entrypoint", "python", service, "-c", program)
        return asked.run("--profile", "monitoring", *command)

    found = {tuple(line.split()) for line in inside("prometheus", SCRAPE).splitlines()}
    assert {service for service, _ in found} == {"embedder", "indexer", "searcher", "gateway"}
    metrics = {metric for _, metric in found}
    assert {"everfind_call_seconds_bucket", "everfind_index_generation"} <= metrics
    listing = "import pathlib; print(*pathlib.Path('/').glob('var/lib/grafana/dashboards/*.json'))"
    shown = [Path(one).name for one in inside("grafana", listing).split()]
    assert shown == sorted(one.name for one in (ROOT / "deploy/monitoring/grafana/dashboards").iterdir())
