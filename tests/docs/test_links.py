"""Links between the pages lead somewhere, and the commands that they show exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import typer.main

from everfind_gateway.cli.app import application
from tests.support.repository import ROOT

PAGES = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *ROOT.glob("services/*/*.md"), *ROOT.glob("proto/*.md")]
)

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_CODE = re.compile(r"`[^`\n]+`")
_HEADING = re.compile(r"^#+ +(.*)$", re.MULTILINE)
_COMMAND = re.compile(r"(?:^|[ /])everfind ((?:[a-z][a-z-]* ?)+)", re.MULTILINE)


def links(page: Path) -> list[str]:
    """The targets of a page's links that stay in this repository."""
    text = _CODE.sub("", _FENCE.sub("", page.read_text(encoding="utf-8")))
    return [target for target in _LINK.findall(text) if not re.match(r"[a-z]+:", target)]


def anchors(page: Path) -> set[str]:
    """What a link to a heading of a page may end in."""
    headings = _HEADING.findall(_FENCE.sub("", page.read_text(encoding="utf-8")))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def commands(page: Path) -> list[str]:
    """What follows ``everfind`` in a page's shell blocks and in its plain ones, up to the first argument."""
    blocks = [
        body for language, body in _FENCE.findall(page.read_text(encoding="utf-8")) if language in ("", "sh", "bash")
    ]
    return [found.strip() for block in blocks for found in _COMMAND.findall(block)]


def identifier(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=identifier)
def test_every_link_leads_somewhere(page: Path) -> None:
    for link in links(page):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{identifier(page)} links to {link}, which is not there"
        assert not anchor or anchor in anchors(target), f"{identifier(page)} links to {link}, which has no such heading"


@pytest.mark.parametrize("page", [page for page in PAGES if page.name != "cli.md"], ids=identifier)
def test_every_command_that_is_shown_exists(page: Path) -> None:
    top = typer.main.get_command(application())
    for shown in commands(page):
        first, *rest = shown.split()
        known = getattr(top, "commands", {})
        assert first in known, f"{identifier(page)} shows `everfind {shown}`"
        inner = getattr(known[first], "commands", None)
        assert not (inner and rest) or rest[0] in inner, f"{identifier(page)} shows `everfind {shown}`"


def test_pages_have_links_and_commands_to_check() -> None:
    readme = ROOT / "README.md"
    assert "docs/cli.md" in links(readme)
    assert {"add", "index", "search", "grep", "doctor"} <= {command.split()[0] for command in commands(readme)}
