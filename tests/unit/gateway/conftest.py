"""A gateway of its own for each test: no settings of the machine, and a workspace that answers from memory."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import pytest

from everfind_gateway.cli import main, runtime
from everfind_gateway.config.settings import Settings
from tests.support.gateway import FakeEngines, Outcome
from tests.support.isolation import isolate


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of its own, in whose ``work`` the test runs."""
    isolate(monkeypatch, tmp_path)
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path


@pytest.fixture
def user_config(home: Path) -> Path:
    """Where the user's settings file goes; its directory is there, the file is not."""
    path = home / "config" / "everfind" / "config.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


@pytest.fixture
def project(home: Path) -> Path:
    """A project's root with an empty ``.everfind``."""
    root = home / "work" / "project"
    (root / ".everfind").mkdir(parents=True)
    return root


@pytest.fixture
def engines(monkeypatch: pytest.MonkeyPatch) -> FakeEngines:
    """The workspace that commands open."""
    fake = FakeEngines()

    def open_fake(settings: Settings) -> AbstractContextManager[FakeEngines]:
        fake.settings = settings
        return nullcontext(fake)

    monkeypatch.setattr(runtime, "open_workspace", open_fake)
    return fake


@pytest.fixture
def everfind(capsys: pytest.CaptureFixture[str]) -> Callable[..., Outcome]:
    """Runs a command in this process."""

    def run(*arguments: str | Path) -> Outcome:
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return run
