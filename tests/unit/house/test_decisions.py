"""Decisions are numbered without gaps, and the list has them all."""

from __future__ import annotations

import re

from tests.support.repository import ROOT

DECISIONS = ROOT / "docs" / "adr"


def test_numbers_follow_each_other_and_stand_in_the_list() -> None:
    records = sorted(DECISIONS.glob("0*.md"))
    titles = [record.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ") for record in records]
    assert [record.name[:4] for record in records] == [f"{n:04d}" for n in range(1, len(records) + 1)]
    assert [title.partition(".")[0] for title in titles] == [str(n) for n in range(1, len(records) + 1)]
    listed = re.findall(r"^- \[(.+)\]\((.+)\)$", (DECISIONS / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert listed == [(title, record.name) for title, record in zip(titles, records, strict=True)]
