"""A server over engines that answer from memory, with settings of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.agents import Served, serve_engines, write_config
from tests.support.gateway import FakeEngines
from tests.support.isolation import isolate


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No settings of the machine."""
    isolate(monkeypatch, tmp_path)
    (tmp_path / "api").mkdir()
    return tmp_path


@pytest.fixture
def engines() -> FakeEngines:
    return FakeEngines()


@pytest.fixture
def served(home: Path, engines: FakeEngines) -> Served:
    config = write_config(home / "config.toml", folders={"api": home / "api"}, index_dir=str(home / "index"))
    return serve_engines(config, engines)
