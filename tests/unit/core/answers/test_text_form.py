"""The text of one passage: its heading says what a reader must know, its fence holds whatever the text holds."""

from __future__ import annotations

import pytest

from everfind_core.answers.text_form import passage_text
from everfind_core.model import Hit, Passage
from tests.support.gateway import make_hit


def heading(hit: Hit, **about: object) -> list[str]:
    passage = Passage(hit, 3, 9, "text", **about)  # type: ignore[arg-type]  # tests name real fields
    return passage_text(passage, 2, 5).splitlines()[0].split(" · ")


@pytest.mark.parametrize(
    ("symbol", "title", "named"),
    [
        ("Session.renew", "", ["Session.renew"]),
        ("", "Auth > Refresh", ["Auth > Refresh"]),
        ("Session.renew", "Auth > Refresh", ["Session.renew"]),
        ("", "", []),
    ],
)
def test_a_heading_names_the_place_and_its_symbol_or_else_its_headings(
    symbol: str, title: str, named: list[str]
) -> None:
    found = heading(make_hit("a.md", symbol=symbol, heading=title))
    assert found[:3] == ["### [2/5] api", "a.md", "lines 3-9"]
    assert found[5:] == named


def test_a_heading_says_what_the_text_is() -> None:
    found = heading(make_hit("a.pdf", symbol="", page=4), extracted_from="pdf", changed=True)
    assert found[5:] == ["page 4", "text extracted from pdf", "changed since it was indexed"]


@pytest.mark.parametrize(("text", "fence"), [("plain", "```"), ("a\n```sh\nls\n```", "````"), ("``x``", "```")])
def test_a_fence_is_longer_than_any_in_the_text(text: str, fence: str) -> None:
    lines = passage_text(Passage(make_hit(language=""), 1, 1, text), 1, 1).splitlines()
    assert (lines[1], lines[-1]) == (fence, fence)
    assert "\n".join(lines[2:-1]) == text
