"""What doctor says of servers."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from everfind_core import __version__
from everfind_core.model import Coverage, HealthFinding, Severity, WorkspaceStatus
from everfind_gateway.config.settings import load_settings
from everfind_gateway.doctor import check_workspaces
from everfind_gateway.server import server_health
from everfind_gateway.server.server_health import check_server_asked, check_server_here
from everfind_gateway.wiring.running import Announcement
from tests.support.gateway import FakeEngines, Outcome

STATUS = WorkspaceStatus("", "/srv/index", 1, (), Coverage())


def test_no_server_is_well(home: Path) -> None:
    (finding,) = check_server_here(load_settings())
    assert (finding.severity, finding.message) == (
        Severity.OK, "no `everfind serve` runs here; each command does its own work",
    )  # fmt: skip


def test_a_server_of_other_settings_or_one_that_is_not_asked_or_does_not_answer_is_said(home: Path) -> None:
    settings = load_settings()
    with Announcement(settings.index_dir, "other") as word:
        word.publish("127.0.0.1:1")
        (finding,) = check_server_here(settings)
        assert finding.severity is Severity.WARNING
        assert finding.message.endswith("runs with other settings or folders, so searches do not ask it")
        assert f"process {os.getpid()}, 127.0.0.1:1" in finding.message
    with Announcement(settings.index_dir, settings.digest) as word:
        word.publish("127.0.0.1:1")
        (finding,) = check_server_here(settings)
        assert finding.severity is Severity.WARNING
        assert "does not answer: " in finding.message
        (finding,) = check_server_here(load_settings(flags={"local_server": False}))
        assert (finding.severity, "`local_server` is off" in finding.message) == (Severity.OK, True)
    (finding,) = check_server_here(settings)
    assert finding.severity is Severity.OK


def test_what_a_running_server_cannot_serve_is_said(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = load_settings()
    broken = HealthFinding("workspace", Severity.ERROR, "/p1: not valid TOML", "Correct that line.")
    stale = HealthFinding("stale", Severity.WARNING, "is told by the local checks")
    status = replace(STATUS, findings=(stale, broken))
    monkeypatch.setattr(server_health, "_ask", lambda _server: status)
    with Announcement(settings.index_dir, settings.digest) as word:
        word.publish("127.0.0.1:1")
        answers, told = check_server_here(settings)
    assert (answers.check, answers.severity) == ("server", Severity.OK)
    assert told == broken


def test_workspaces_that_are_listed_are_looked_at(home: Path) -> None:
    assert check_workspaces(load_settings()) == []
    for name in ("a", "b"):
        (home / name / ".everfind").mkdir(parents=True)
        (home / name / ".everfind" / "config.toml").write_text("folders = []\n")
    settings = load_settings(flags={"workspaces": [f"{home}/a", f"{home}/b"]})
    (well,) = check_workspaces(settings)
    assert (well.severity, well.message[:12]) == (Severity.OK, "2 workspaces")
    (home / "b" / ".everfind" / "config.toml").write_text("folders = [\n")
    (broken,) = check_workspaces(settings)
    assert broken.severity is Severity.ERROR
    assert broken.message.startswith(f"{home}/b: {home}/b/.everfind/config.toml:")
    (absent,) = check_workspaces(load_settings(flags={"workspaces": ["nope"]}))
    assert (absent.severity, "no workspace is named 'nope'" in absent.message) == (Severity.ERROR, True)


def test_a_server_that_is_asked_says_its_version() -> None:
    same = check_server_asked("far:1", replace(STATUS, version=__version__))
    assert (same.severity, same.message) == (Severity.OK, f"far:1 answers: everfind {__version__}")
    other = check_server_asked("far:1", replace(STATUS, version="9.9.9"))
    assert (other.severity, other.message) == (
        Severity.WARNING, f"far:1 answers: everfind 9.9.9, this is {__version__}",
    )  # fmt: skip


def test_status_says_what_is_found_by_meaning_and_what_leaves_the_machine(
    everfind: Callable[..., Outcome], engines: FakeEngines
) -> None:
    told = everfind("status").out
    assert "\nsemantic   all chunks have vectors\n" in told
    assert "\noutgoing   nothing leaves this machine\n" in told
    assert "\noutgoing   what you ask goes to far:1\n" in everfind("--server", "far:1", "status").out
