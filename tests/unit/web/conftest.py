"""The page over engines that answer from memory, with settings of its own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support.agents import Served, serve_engines, write_config
from tests.support.gateway import FakeEngines


@pytest.fixture
def engines() -> FakeEngines:
    return FakeEngines()


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engines: FakeEngines) -> Served:
    for name in list(os.environ):
        if name.startswith("EVERFIND_") or name == "CLAUDE_PROJECT_DIR":
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "api").mkdir()
    config = write_config(
        tmp_path / "config.toml", folders={"api": tmp_path / "api"}, index_dir=str(tmp_path / "index")
    )
    return serve_engines(config, engines)
