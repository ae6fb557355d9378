"""Chunks of a document without the lines about its life: cut as if these were not there, stored whole."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from everfind_core.chunking import TextChunker
from everfind_core.lifecycle import DEFAULT_VOCABULARY, read_document, with_lines, without_lines
from everfind_core.model import Chunk, Document, LineKind
from everfind_core.ports import ChunkLimits
from tests.support.fakes import FakeTokenizer

LIMITS = ChunkLimits(target=20, hard=40, overlap=5)
BODY = "\n".join(f"line {n} of the text about tokens\n" for n in range(12))


def chunks(text: str, lines: frozenset[int] | None = None) -> tuple[list[Chunk], list[Chunk]]:
    """The chunks that are embedded, and those that are stored."""
    document = Document(text, LineKind.MARKDOWN, "markdown")
    if lines is None:
        read = read_document("a.md", document, DEFAULT_VOCABULARY)
        assert read is not None
        lines = read.lines
    quiet, kept = without_lines(document, lines)
    cut = list(TextChunker().chunk(quiet, FakeTokenizer(), LIMITS))
    return cut, with_lines(cut, text, kept)


VERSIONS = [
    f"# Tokens\n\nAuthor: me\n\n## Why\n\n{BODY}",
    f"# Tokens\n\nAuthor: me\nStatus: accepted\n\n## Why\n\n{BODY}",
    f"# Tokens\n\nAuthor: me\nStatus: superseded by [a](b.md), see there\nDate: 2026-03-01\n\n## Why\n\n{BODY}",
    f"---\nstatus: archived\nsuperseded_by:\n  - b.md\n  - c.md\n---\n\n# Tokens\n\nAuthor: me\n\n## Why\n\n{BODY}",
]


def test_a_status_changes_nothing_that_is_embedded() -> None:
    embedded = [[chunk.embedded_text for chunk in chunks(text)[0]] for text in VERSIONS]
    assert all(one == embedded[0] for one in embedded)
    assert "Author: me" in embedded[0][0]
    assert "accepted" not in "".join(embedded[1])


def test_all_lines_are_stored() -> None:
    for text in VERSIONS:
        stored = chunks(text)[1]
        lines = text.split("\n")
        covered = {n for chunk in stored for n in range(chunk.start_line, chunk.end_line + 1)}
        assert covered >= {n for n, line in enumerate(lines, start=1) if line.strip()}
        for chunk in stored:
            assert chunk.text == "\n".join(lines[chunk.start_line - 1 : chunk.end_line])


def test_a_document_of_statements_alone_is_embedded_whole() -> None:
    embedded, stored = chunks("Status: superseded\nSuperseded by: b.md\n")
    assert embedded == stored
    assert embedded[0].text == "Status: superseded\nSuperseded by: b.md"


LINES = st.lists(st.sampled_from(["", "# head", "some words here", "- item", "x " * 30, "Status: ok"]), max_size=30)


@given(LINES.map("\n".join), st.sets(st.integers(0, 29)))
def test_any_lines_can_be_left_out(text: str, numbers: set[int]) -> None:
    lines = text.split("\n")
    _, stored = chunks(text, frozenset(n for n in numbers if n < len(lines)))
    covered = {n for chunk in stored for n in range(chunk.start_line, chunk.end_line + 1)}
    assert covered >= {n for n, line in enumerate(lines, start=1) if line.strip()}
    for chunk in stored:
        if chunk.end_line > chunk.start_line:
            assert chunk.text == "\n".join(lines[chunk.start_line - 1 : chunk.end_line])
