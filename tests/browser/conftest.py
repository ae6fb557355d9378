"""The page in headless Chromium, over engines that answer from memory."""

from __future__ import annotations

import shutil
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import uvicorn
from playwright.sync_api import Browser, Page, expect, sync_playwright

from everfind_core.model import HealthFinding, Provenance, ProvenanceLabel, SemanticRank, Severity
from everfind_gateway.mcp.corpora import Corpora
from everfind_gateway.server.served import Served as ServedWorkspaces
from tests.support.agents import Served, serve_engines, write_config
from tests.support.gateway import FakeEngines, make_hit
from tests.support.web import TOKEN, page_of
from tests.support.workspaces import Opening, write_projects

NO_CALLS_HOME = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip
LONGEST_WAIT = 60_000
"""Milliseconds: for a machine that does much else."""
expect.set_options(timeout=LONGEST_WAIT)
HOSTILE = '<img src=x onerror="document.title=1">'


def hits() -> FakeEngines:
    """Code, a superseded document, and a hit whose every text is markup."""
    return FakeEngines(
        hits=(
            make_hit(),
            make_hit(
                "old/auth.md", symbol="", kind="", language="markdown", heading="Auth > Renewal", status="superseded",
                successor="auth.md", date="2025-01-10", text="# Renewal\n\nA token lives long.\n" + "word " * 80 + "\n",
            ),
            make_hit(
                f"src/{HOSTILE}", symbol=HOSTILE, status=HOSTILE, text=f"{HOSTILE} token\n" * 40, end_line=81,
                provenance=Provenance(ProvenanceLabel.SEMANTIC, SemanticRank(3, 0.4)),
            ),
        ),
        findings=(HealthFinding("store", Severity.WARNING, f"a warning {HOSTILE}", hint="Do that."),),
        text="a line of the file\n" * 2,
    )  # fmt: skip


@dataclass
class Site:
    """The served page, and the directory of two projects that it serves besides."""

    url: str
    engines: FakeEngines
    projects: Path

    @property
    def with_token(self) -> str:
        return f"{self.url}#token={TOKEN}"


@dataclass
class Seen:
    """What a page did besides what it shows."""

    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    engines = hits()
    (tmp_path / "api").mkdir()
    config = write_config(
        tmp_path / "config.toml", folders={"api": tmp_path / "api"}, index_dir=str(tmp_path / "index")
    )
    served: Served = serve_engines(config, engines)
    projects = write_projects(tmp_path / "projects", "billing", "search")
    others = Corpora(
        ServedWorkspaces([str(projects / name) for name in ("billing", "search")]),
        Opening(),
        limit=2,
        own_index=projects,
    )
    server = uvicorn.Server(uvicorn.Config(page_of(served, others), log_config=None, lifespan="off"))
    with socket.create_server(("127.0.0.1", 0)) as listening:  # connections wait until the server takes them
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, name="page")
        thread.start()
        try:
            yield Site(f"http://127.0.0.1:{listening.getsockname()[1]}/", engines, projects)
        finally:
            server.should_exit = True
            thread.join(60)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    found = shutil.which("chromium") or shutil.which("google-chrome")
    if found is None:
        pytest.skip("no Chromium here: `apt-get install chromium`")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=NO_CALLS_HOME)
        yield browser
        browser.close()


@pytest.fixture
def seen() -> Seen:
    return Seen()


@pytest.fixture
def page(chromium: Browser, site: Site, seen: Seen) -> Iterator[Page]:
    """A page whose requests and complaints are kept; it shows nothing yet."""
    context = chromium.new_context(viewport={"width": 1100, "height": 900})
    context.set_default_timeout(LONGEST_WAIT)
    page = context.new_page()
    page.on("request", lambda request: seen.requests.append(request.url))
    page.on("pageerror", lambda error: seen.complaints.append(str(error)))
    page.on("console", lambda message: seen.complaints.append(message.text) if message.type == "error" else None)
    yield page
    context.close()
