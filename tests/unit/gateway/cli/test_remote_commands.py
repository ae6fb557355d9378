"""Through a server every command works, or says why not; some need none."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest

from everfind_core.errors import EXIT_CODES, ErrorKind, UnavailableError
from everfind_gateway.cli import runtime
from everfind_gateway.cli.app import COMMANDS, GROUPS
from everfind_gateway.config.settings import Settings
from everfind_gateway.wiring.workspace import Workspace
from tests.support.gateway import Outcome

SERVER = "127.0.0.1:1"  # nobody listens there

ASK = {
    "add": ["."],
    "remove": ["x"],
    "list": [],
    "index": [],
    "search": ["q"],
    "gather": ["q"],
    "related": ["q"],
    "grep": ["q"],
    "cat": ["a/b"],
    "status": [],
    "doctor": [],
    "calibrate": [],
}
"""Those that ask the server."""
REFUSE = {
    "watch": [],
    "export": ["f"],
    "import": ["f"],
    "serve": [],
    "eval": ["."],
    "import-config": ["semantic-search-mcp", "."],
    "token": ["list"],
}
"""Those that work where the corpus is, and say so."""
WITHOUT_A_CORPUS = {"config", "connect", "init", "scaffold", "hook", "completion", "version"}
LIVE_LONG = {"find", "web", "mcp"}
"""Those that go on; tests of their own ask servers through them."""


def test_no_command_is_forgotten() -> None:
    known = [*ASK, *REFUSE, *WITHOUT_A_CORPUS, *LIVE_LONG]
    assert sorted(known) == sorted([*COMMANDS, *GROUPS])


@pytest.mark.parametrize("command", ASK)
def test_it_asks_the_server(everfind: Callable[..., Outcome], monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    def open_workspace(settings: Settings) -> AbstractContextManager[Workspace]:
        raise UnavailableError(f"asked {settings.server}")

    monkeypatch.setattr(runtime, "open_workspace", open_workspace)
    ended = everfind("--server", SERVER, command, *ASK[command])
    assert ended.code == EXIT_CODES[ErrorKind.UNAVAILABLE]
    assert re.match(rf"everfind: (asked|no everfind answers at) {SERVER}\b", ended.err)


@pytest.mark.parametrize("command", REFUSE)
def test_it_says_why_not(everfind: Callable[..., Outcome], command: str) -> None:
    ended = everfind("--server", SERVER, command, *REFUSE[command])
    assert ended.code == EXIT_CODES[ErrorKind.USAGE]
    assert f", and not through {SERVER}\n" in ended.err
    assert "hint: Run it where the server runs, or with --no-server for this machine." in ended.err
