"""What `make audit` says and ends with: advisories, packages that were not looked up, and nobody to ask."""

from __future__ import annotations

import json
import runpy
from collections.abc import Callable

import pytest

from tests.support.repository import ROOT

SCRIPT = ROOT / "scripts" / "release.py"
audited: Callable[[str, str], tuple[list[str], int]] = runpy.run_path(str(SCRIPT))["audited"]

SOUND = {"name": "typer", "version": "0.29.2", "vulns": []}
FLAWED = {
    "name": "starlette",
    "version": "0.49.0",
    "vulns": [{"id": "GHSA-1", "fix_versions": ["0.49.1"]}, {"id": "GHSA-2", "fix_versions": []}],
}
UNKNOWN = {"name": "inhouse", "skip_reason": "Dependency not found on PyPI"}
OWN = {"name": "everfind", "skip_reason": "Dependency not found on PyPI"}


@pytest.mark.parametrize(
    ("packages", "lines", "code"),
    [
        ([SOUND], ["1 packages, no published advisory"], 0),
        (
            [SOUND, FLAWED],
            ["starlette 0.49.0: GHSA-1, mended in 0.49.1", "starlette 0.49.0: GHSA-2, mended in no version yet"],
            1,
        ),
        ([SOUND, UNKNOWN], ["inhouse: not looked up, Dependency not found on PyPI"], 2),
        ([SOUND, OWN], ["1 packages, no published advisory"], 0),
        (
            [OWN, UNKNOWN, {**UNKNOWN, "name": "typer"}],
            ["nothing was audited: the package index tells of none of 2 packages (Dependency not found on PyPI)"],
            2,
        ),
    ],
)
def test_a_report_is_told_with_its_exit_code(packages: list[object], lines: list[str], code: int) -> None:
    assert audited(json.dumps({"dependencies": packages, "fixes": []}), "") == (lines, code)


@pytest.mark.parametrize("report", ["", "{}", "[]", "<html>"])
def test_without_an_answer_nothing_passes_for_audited(report: str) -> None:
    lines, code = audited(report, "WARNING: x\nERROR: could not connect to the vulnerability feed\n")
    assert code == 2
    assert lines == [
        "nothing was audited: advisories could not be asked for (ERROR: could not connect to the vulnerability feed)"
    ]
