"""The summary of docs/benchmarks.md says what its sections say: who changes their figures changes it, too."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tests.support.repository import ROOT

PAGE = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
SECTIONS = {
    title.lower().replace(" ", "-").replace("'", ""): text
    for title, text in re.findall(r"^##+ (.+?)\n(.*?)(?=^##+ |\Z)", PAGE, re.DOTALL | re.MULTILINE)
}
ROWS = [[cell.strip() for cell in row.split("|")[1:-1]] for row in SECTIONS["at-a-glance"].splitlines() if "|" in row]


def _figures() -> Iterator[tuple[str, str]]:
    """Each figure seen and aimed at, with the section that its row, or the nearest above, links to."""
    section = ""
    for what, seen, bar, _ in ROWS[2:]:
        section = next(iter(re.findall(r"\(#([^)]+)\)", what)), section)
        for figure in re.findall(r"[\d.]*\d", f"{seen} {bar}"):
            yield section, figure


def test_every_row_says_whether_its_bar_is_met() -> None:
    assert [what for what, _, _, verdict in ROWS[2:] if not re.search("met|missed", verdict)] == []


def test_the_figures_of_the_summary_stand_in_their_sections() -> None:
    gone = [
        f"{figure} is not in {section}"
        for section, figure in _figures()
        if not re.search(rf"(?<![\d.]){re.escape(figure)}(?!\d)", SECTIONS[section])
    ]
    assert gone == []
