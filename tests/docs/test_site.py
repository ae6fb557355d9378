"""The site: it is built without a warning, every link in it leads somewhere, and it asks nothing of other hosts."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tests.support.repository import ROOT

pytestmark = pytest.mark.slow


@dataclass
class Page(HTMLParser):
    """What a page links to, what it loads, and the names of its places."""

    path: Path
    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)
    places: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.places |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag in ("link", "script", "img", "object", "iframe"):
            self.loads += [given[name] for name in ("href", "src", "data") if name in given]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    built = tmp_path_factory.mktemp("site")
    options = ["-q", "-W", "--keep-going", "-c", "docs", "-b", "html", "-d", str(built / "doctrees")]
    ended = subprocess.run(
        [sys.executable, "-m", "sphinx", *options, ".", str(built / "html")],
        cwd=ROOT, env={**os.environ, "NO_COLOR": "1"}, capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert (ended.returncode, ended.stderr) == (0, "")
    return built / "html"


def test_every_link_leads_somewhere_and_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    page = cache(Page)
    pages = [page(path.resolve()) for path in site.rglob("*.html") if "_static" not in path.parts]
    assert len(pages) > 40
    lost = []
    for one in pages:
        for link in [*one.links, *one.loads]:
            split = urlsplit(link)
            if split.scheme or split.netloc:
                assert link not in one.loads, f"{one.path.name} loads {link}"
                continue
            target = (one.path.parent / unquote(split.path)).resolve() if split.path else one.path
            named = bool(split.fragment) and target.suffix == ".html"
            if not target.is_file() or (named and unquote(split.fragment) not in page(target).places):
                lost.append((one.path.name, link))
    assert lost == []
