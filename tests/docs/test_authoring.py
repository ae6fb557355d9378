"""What docs/authoring.md promises of documents is what the chunker does with its own examples."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from everfind_core.chunking import asciidoc, markdown, org, prose
from everfind_core.chunking.structure import Structure
from everfind_core.model import LineKind
from everfind_core.ports import ChunkLimits
from tests.support.chunk_checks import cut, model_tokenizer
from tests.support.repository import ROOT

PAGE = ROOT / "docs" / "authoring.md"
TEXT = PAGE.read_text(encoding="utf-8")


def example(language: str) -> str:
    found = re.search(rf"^```{language}\n(.*?)^```", TEXT, re.DOTALL | re.MULTILINE)
    assert found
    return found[1]


def test_the_front_matter_of_the_example_stands_in_a_chunk_of_its_own() -> None:
    text = example("markdown")
    first, second = cut(text, LineKind.MARKDOWN, tokenizer=model_tokenizer(), limits=ChunkLimits(200, 254, 35))
    assert first.text.startswith("---\ntitle: Token refresh")
    assert "superseded_by" not in second.embedded_text
    assert second.heading == "Token refresh"


def test_the_headings_of_the_table_are_headings() -> None:
    def titles(analyse: Callable[[Sequence[str]], Structure], *lines: str) -> list[str]:
        return [label.text for label in analyse(lines).labels]

    assert titles(markdown.analyse, "# Title", "", "## Section") == ["Title", "Section"]
    assert titles(asciidoc.analyse, "= Title", "", "== Section") == ["Title", "Section"]
    assert titles(org.analyse, "* Section", "** Subsection") == ["Section", "Subsection"]
    assert titles(prose.analyse, "2.1. Terms", "", "text") == ["2.1. Terms"]
    for shown in ("`# Title`", "`= Title`", "`* Section`", "`2.1. Terms`"):
        assert shown in TEXT


def test_the_page_itself_is_cut_by_its_headings() -> None:
    chunks = cut(TEXT, LineKind.MARKDOWN, tokenizer=model_tokenizer(), limits=ChunkLimits(200, 254, 35))
    headings = {chunk.heading for chunk in chunks}
    assert "How to write documents that are found > Front matter" in headings
