"""The page over engines that answer from memory, with settings of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.agents import Served, serve_engines, write_config
from tests.support.gateway import FakeEngines
from tests.support.isolation import isolate


@pytest.fixture
def engines() -> FakeEngines:
    return FakeEngines()


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engines: FakeEngines) -> Served:
    isolate(monkeypatch, tmp_path)
    (tmp_path / "api").mkdir()
    config = write_config(
        tmp_path / "config.toml", folders={"api": tmp_path / "api"}, index_dir=str(tmp_path / "index")
    )
    return serve_engines(config, engines)
