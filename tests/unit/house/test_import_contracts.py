"""The import contracts bite: a planted violation of each fails the check that `make arch` runs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.repository import ROOT

PACKAGES = {
    "everfind_core": "core",
    "everfind_rpc": "rpc",
    "everfind_embedder": "services/embedder",
    "everfind_indexer": "services/indexer",
    "everfind_searcher": "services/searcher",
    "everfind_gateway": "gateway",
}


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The packages side by side, as an installation has them, with the contracts."""
    target = tmp_path_factory.mktemp("house")
    for package, home in PACKAGES.items():
        shutil.copytree(ROOT / home / package, target / package, ignore=shutil.ignore_patterns("__pycache__", "data"))
    shutil.copy(ROOT / "pyproject.toml", target)
    return target


def check(place: Path) -> subprocess.CompletedProcess[str]:
    lint = Path(sys.executable).with_name("lint-imports")
    environment = {**os.environ, "PYTHONPATH": str(place)}
    return subprocess.run([lint, "--no-cache"], cwd=place, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_the_house_as_it_stands_keeps_its_contracts(copy: Path) -> None:
    done = check(copy)
    assert done.returncode == 0, done.stdout
    assert "0 broken" in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "line", "broken"),
    [
        ("everfind_searcher/planted.py", "import everfind_indexer", "gateway over services"),
        ("everfind_core/planted.py", "import everfind_rpc", "gateway over services"),
        ("everfind_core/planted.py", "import lancedb", "core knows no framework"),
        ("everfind_gateway/planted.py", "import everfind_indexer.engine", "only gateway/wiring/local.py"),
        ("everfind_indexer/planted.py", "import grpc", "only rpc speaks gRPC"),
        ("everfind_core/model/planted.py", "import everfind_core.files.globs", "need each other"),
    ],
)
def test_a_planted_violation_fails(copy: Path, module: str, line: str, broken: str) -> None:
    planted = copy / module
    planted.write_text(f"{line}\n")
    try:
        done = check(copy)
    finally:
        planted.unlink()
    assert done.returncode == 1
    assert any(broken in row and "BROKEN" in row for row in done.stdout.splitlines()), done.stdout
