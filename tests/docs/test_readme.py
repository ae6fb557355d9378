"""What README.md shows is run: its commands as they stand, its picture by its script; its figures are measured."""

from __future__ import annotations

import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.repository import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
INSTALL = "python3 -m venv .venv && .venv/bin/pip install -q . && "
PICTURE = runpy.run_path(str(ROOT / "scripts" / "terminal_picture.py"))

BLOCKS: list[str] = re.findall(r"^```sh\n(.*?)^```", README, re.DOTALL | re.MULTILINE)


def test_the_blocks_are_the_ones_that_are_run_here() -> None:
    install, tests, more = BLOCKS
    assert install.startswith(INSTALL)  # in a clean environment by the tests of the release
    assert tests == "make test\n"
    assert re.search(r"^test: ", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert more.count("\n") == 5


@pytest.mark.slow
def test_the_commands_do_what_the_text_says(tmp_path: Path) -> None:
    checkout = tmp_path / "everfind"
    shutil.copytree(ROOT / "docs" / "images" / "corpus", checkout)
    shutil.copytree(ROOT / "docs" / "adr", checkout / "adr")
    (checkout / ".venv" / "bin").mkdir(parents=True)
    (checkout / ".venv" / "bin" / "everfind").symlink_to(Path(sys.executable).parent / "everfind")
    places = {f"XDG_{kind}_HOME": str(tmp_path / kind) for kind in ("CONFIG", "DATA", "CACHE", "STATE")}
    path = f"{checkout}/.venv/bin:{os.environ['PATH']}"
    install, _, more = BLOCKS
    answers = [
        subprocess.run(
            ["bash", "-ec", script], cwd=checkout, env={**os.environ, **places, "HOME": str(tmp_path), "PATH": path},
            capture_output=True, text=True, timeout=240, check=True,
        ).stdout
        for script in (install.removeprefix(INSTALL), *more.splitlines())
    ]  # fmt: skip
    searched, registered, explained, callers, status, doctor = answers
    assert "everfind/" in searched
    assert "everfind" in registered
    assert "docs/payments.md:" in explained
    assert "semantic +" in explained
    assert "charge_with_retries" in callers
    assert "searchable" in status
    assert "nothing leaves this machine" in doctor


@pytest.mark.slow
def test_the_picture_is_of_a_run() -> None:
    assert PICTURE["main"](["--check"]) == 0, "run `make picture`"


def test_the_picture_asks_nothing_of_the_network_and_is_shown() -> None:
    drawn = (ROOT / "docs" / "images" / "terminal.svg").read_text(encoding="utf-8")
    assert re.findall(r"https?://[^\s\"']+", drawn) == ["http://www.w3.org/2000/svg"]
    assert "](docs/images/terminal.svg)" in README


def figures(page: str, row: str) -> list[str]:
    """The cells of a table's row, from the first word of it that stands so in the page."""
    found = re.search(rf"^\|\s*{re.escape(row)}\s*\|(.*)\|$", page, re.MULTILINE)
    assert found, row
    return [cell.strip(" *").removeprefix("0") for cell in found[1].split("|")]


def test_the_figures_are_those_of_the_benchmarks() -> None:
    page = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    sets = figures(page.split("What the parts are worth")[1], "")
    shown = ("semble", "hist", "zh-hist", "ident", "vue-docs")
    for ours, theirs in (
        ("vectors alone", "semantic arm"),
        ("both arms, reciprocal ranks", '`fusion = "rrf"`'),
        ("everfind's ranking", '`fusion = "weighted"`'),
        ("**everfind as shipped**: silent where the evidence is thin", "**default settings**"),
    ):
        row = dict(zip(sets, figures(page, theirs), strict=True))
        assert figures(README, ours) == [row[name] for name in shown], ours
    said = re.search(r"may read 1,000 tokens .* for (\d+) % .* for\s(\d+) %", README, re.DOTALL)
    agents = page.split("What an answer costs an agent")[1]
    at_1000 = [figures(agents, row)[-3] for row in ("semble | search", "| grep and read")]
    assert said
    assert [float(cell) * 100 for cell in at_1000] == [float(share) for share in said.groups()]
