"""Wheel and sdist: the same bytes from the same tree, with everything in them."""

from __future__ import annotations

import os
import shutil
import subprocess
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

from scripts.release import build
from tests.support.repository import ROOT

PACKAGES: list[str] = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"][
    "wheel"
]["packages"]

pytestmark = pytest.mark.slow


def tracked() -> list[str]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [name for name in listed.stdout.split("\0") if name and (ROOT / name).exists()]


def copied(place: Path, modified: int, mode: int) -> Path:
    """The source tree as another machine may have it: other times and other modes."""
    for name in tracked():
        target = place / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, target)
        target.chmod(mode)
        os.utime(target, (modified, modified))
    return place


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    base = tmp_path_factory.mktemp("built")
    return build(base / "dist", copied(base / "everfind", 1_600_000_000, 0o644))


def test_nothing_asks_for_pandas_which_is_not_required() -> None:
    """Old versions of Arrow import it even for the type of a column."""
    sources = [name for name in tracked() if name.endswith(".py") and name.startswith(tuple(PACKAGES))]
    assert len(sources) > 100
    assert [name for name in sources if "to_pandas" in (ROOT / name).read_text("utf-8")] == []


def test_the_same_tree_gives_the_same_bytes(built: tuple[Path, Path], tmp_path: Path) -> None:
    again = build(tmp_path / "dist", copied(tmp_path / "another-name", 1_700_000_001, 0o600))
    assert [file.name for file in again] == [file.name for file in built]
    assert [file.read_bytes() for file in again] == [file.read_bytes() for file in built]


def test_the_wheel_holds_every_file_of_the_packages(built: tuple[Path, Path]) -> None:
    homes = {package: Path(package).parent for package in PACKAGES}
    expected = {
        Path(name).relative_to(home).as_posix()
        for name in tracked()
        for package, home in homes.items()
        if name.startswith(f"{package}/")
    }
    with zipfile.ZipFile(built[0]) as wheel:
        held = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert held == expected
    for sample in (
        "everfind_embedder/data/skeleton.onnx",
        "everfind_embedder/data/tokenizer.json",
        "everfind_indexer/syntax/queries/python.scm",
        "everfind/searcher/v1/searcher_service_pb2_grpc.py",
        "everfind_core/py.typed",
        "everfind_core/text/glossary.txt",
    ):
        assert sample in held


def test_the_sdist_holds_the_source_tree_and_builds_the_same_wheel(built: tuple[Path, Path], tmp_path: Path) -> None:
    with tarfile.open(built[1]) as sdist:
        top = built[1].name.removesuffix(".tar.gz")
        held = {member.name.removeprefix(f"{top}/") for member in sdist.getmembers()}
        sdist.extractall(tmp_path, filter="data")
    assert held == {*tracked(), "PKG-INFO"}
    wheel, _ = build(tmp_path / "dist", tmp_path / top)
    assert wheel.read_bytes() == built[0].read_bytes()
