"""The page's files: complete, and nothing in them that its policy or a careful reader would refuse."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import everfind_gateway.web
from everfind_gateway.render.hits import term_pattern
from everfind_gateway.web.marks import pieces
from tests.support.agents import Served
from tests.support.web import ask, page_of

STATIC = Path(everfind_gateway.web.__file__).parent / "static"
SCRIPTS = sorted(STATIC.glob("*.js"))


class Elements(HTMLParser):
    """Start tags with their attributes, and the text in scripts and styles."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.inline: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.cdata_elem is not None and data.strip():
            self.inline.append(data)


@pytest.fixture(scope="module")
def page() -> Elements:
    elements = Elements()
    elements.feed((STATIC / "index.html").read_text(encoding="utf-8"))
    return elements


def test_nothing_is_inline_and_nothing_comes_from_elsewhere(page: Elements) -> None:
    assert page.inline == []
    for _tag, attributes in page.found:
        assert not [name for name in attributes if name == "style" or name.startswith("on")]
        for name in ("src", "href", "action"):
            assert (attributes.get(name) or "/").startswith(("/", "#"))
    for file in (*SCRIPTS, STATIC / "everfind.css"):
        assert not re.search(r"https?://|//[a-z]+\.|@import|url\(", file.read_text(encoding="utf-8"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_no_script_reads_text_as_html_or_code(script: Path) -> None:
    refused = (
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|\.cssText|setTimeout\(['\"]"
    )
    assert not re.search(refused, script.read_text(encoding="utf-8"))


def test_every_file_is_served_and_every_reference_is_a_file(served: Served, page: Elements) -> None:
    app = page_of(served)
    referred = {attributes[name] for _, attributes in page.found for name in ("src", "href") if name in attributes}
    imported = {name for script in SCRIPTS for name in re.findall(r'from "(/[^"]+)"', script.read_text())}
    assert imported == {"/calls.js", "/dom.js", "/hits.js", "/state.js"}
    for address in {one for one in referred if one and one.startswith("/")} | imported | {"/"}:
        response = ask(app, "GET", address)
        name = address.strip("/") or "index.html"
        assert response.content == (STATIC / name).read_bytes()
        expected = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
        assert response.headers["content-type"].split(";")[0] == expected[name.rpartition(".")[2]]


@given(st.text(), st.text(max_size=40))
def test_pieces_are_the_text_and_every_second_one_is_a_word_of_the_question(text: str, query: str) -> None:
    cut = pieces(text, query)
    assert "".join(cut) == text
    assert len(cut) % 2 == 1
    pattern = term_pattern(query)
    for word in cut[1::2]:
        assert pattern is not None
        assert word
        assert pattern.search(word) or pattern.search(text)


def test_words_are_found_as_the_index_knows_them() -> None:
    assert pieces("def getUser(): renew it", "renew a user") == ["def get", "User", "(): ", "renew", " it"]
    assert pieces("plain", "") == ["plain"]


def test_words_that_say_nothing_are_marked_only_where_there_is_no_other() -> None:
    assert pieces("how are folders followed", "How are folders followed?") == [
        "how are ",
        "folder",
        "s ",
        "follow",
        "ed",
    ]
    assert pieces("who are you", "who are you") == ["", "who", " ", "are", " ", "you", ""]
