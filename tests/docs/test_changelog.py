"""The changelog has the form of Keep a Changelog, and no line twice."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

from tests.support.repository import ROOT

LINES = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").splitlines()
KINDS = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
RELEASES = [line for line in LINES if line.startswith("## ")]


def test_releases_stand_newest_first_with_their_dates() -> None:
    assert RELEASES[0] == "## [Unreleased]"
    dated = [re.fullmatch(r"## \[(\d+\.\d+\.\d+)\] - (\d{4}-\d\d-\d\d)", line) for line in RELEASES[1:]]
    assert all(dated)
    dates = [match[2] for match in dated if match]
    assert all(newer >= older for newer, older in pairwise(dates))


def test_entries_stand_under_known_headings() -> None:
    assert {line.removeprefix("### ") for line in LINES if line.startswith("### ")} <= KINDS
    under = LINES[LINES.index(RELEASES[0]) + 1 :]
    assert all(line.startswith(("- ", "  ", "## ", "### ")) for line in under if line)


def test_no_line_stands_twice() -> None:
    counted = Counter(line for line in LINES if line and not line.startswith("###"))
    assert [line for line, count in counted.items() if count > 1] == []
