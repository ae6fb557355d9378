"""Where the tests of a package are, and what their modules may be called."""

from __future__ import annotations

import re
from collections import Counter

from tests.support.repository import ROOT

TESTS = ROOT / "tests"
PACKAGES = {
    "core": ROOT / "core" / "everfind_core",
    "rpc": ROOT / "rpc" / "everfind_rpc",
    "embedder": ROOT / "services" / "embedder" / "everfind_embedder",
    "indexer": ROOT / "services" / "indexer" / "everfind_indexer",
    "searcher": ROOT / "services" / "searcher" / "everfind_searcher",
    "gateway": ROOT / "gateway" / "everfind_gateway",
}
OF_NO_PACKAGE = {"house", "store"}
"""Tests of the repository itself, and of what the indexer writes and the searcher reads."""


def test_unit_tests_lie_as_the_packages_that_they_test() -> None:
    folders = {path.parent.relative_to(TESTS / "unit") for path in (TESTS / "unit").rglob("test_*.py")}
    assert {folder.parts[0] for folder in folders} == PACKAGES.keys() | OF_NO_PACKAGE
    mirrored = [folder for folder in folders if folder.parts[0] not in OF_NO_PACKAGE]
    assert [folder for folder in mirrored if not PACKAGES[folder.parts[0]].joinpath(*folder.parts[1:]).is_dir()] == []


def test_no_two_test_modules_share_a_name() -> None:
    """Pytest collects two of one name as one, and fails."""
    names = Counter(path.name for path in TESTS.rglob("test_*.py"))
    assert [name for name, count in names.items() if count > 1] == []


def test_no_test_module_imports_another() -> None:
    """What several use lies in ``tests/support``."""
    importing = re.compile(r"^(?:from|import) tests\.[\w.]*\btest_", re.MULTILINE)
    assert [path.name for path in TESTS.rglob("*.py") if importing.search(path.read_text(encoding="utf-8"))] == []
