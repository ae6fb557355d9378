"""One edited line of a big file changes at most four chunks, and those that it encloses: many edits, a fixed seed.

Left out are lines that open or close a string or a comment: they change what the lines up to the other end are.
"""

from __future__ import annotations

import argparse
import random
import re
import typing
from collections.abc import Callable, Iterator
from functools import partial

import pytest

from everfind_core.chunking import limits_by_kind
from everfind_core.model import Chunk, Document, LineKind
from everfind_indexer.syntax import SyntaxChunker
from everfind_indexer.syntax.structure import _signature
from tests.support.chunk_checks import ByLine, check, model_tokenizer, new_texts
from tests.support.chunk_edits import AT_MOST, BUDGET, edits, guide, source
from tests.support.syntax_samples import FILES

NAMES = ["account", "balance", "cache", "delta", "entry", "field", "group", "handle", "index", "job", "key", "ledger"]


def written(language: str) -> str:
    """Many copies of a language's sample, with names and lengths of their own."""
    template, statement = FILES[language]
    rng = random.Random(language)
    blocks: list[str] = []
    for number in range(110):
        lines: list[str] = []
        for line in template.strip("\n").split("\n"):
            indent = line[: len(line) - len(line.lstrip())]
            if line.strip() == "...":
                count = rng.randint(2, 14)
                lines += [indent + statement.format(f"{rng.choice(NAMES)}_{rng.randrange(99)}") for _ in range(count)]
            else:
                lines.append(line.replace("Box", f"Box{number}").replace("first", f"first{number}"))
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


TEXTS: dict[str, tuple[str, Callable[[], str]]] = {
    "argparse": ("python", partial(source, argparse)),
    "typing": ("python", partial(source, typing)),
    **{name: (name, partial(written, name)) for name in ("javascript", "go", "rust", "java", "cpp", "csharp", "ruby")},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", TEXTS)
def test_edits(name: str) -> None:
    language, make = TEXTS[name]
    text = make()
    limits, tokenizer = limits_by_kind(BUDGET)[LineKind.CODE], ByLine(model_tokenizer())

    def chunks_of(lines: list[str]) -> typing.Sequence[typing.Any]:
        return SyntaxChunker().chunk(Document("\n".join(lines), LineKind.CODE, language), tokenizer, limits)

    lines = text.split("\n")
    before = chunks_of(lines)
    assert len(before) >= 100
    check(text, before, limits, model_tokenizer())
    plain = [
        n
        for n, line in enumerate(lines)
        if not any(mark in line for mark in ("{", "}", '"""', "end", "def ", "class "))
    ]
    for place in random.Random(11).sample(plain, 8):
        for edit, edited in edits(lines, place).items():
            if edit != "insert definition":
                assert new_texts(before, chunks_of(edited), context=True) <= AT_MOST, (edit, place + 1)


STRUCTURED: dict[str, tuple[str, Callable[[], str]]] = {
    "argparse": ("python", partial(source, argparse)),
    "markdown": ("markdown", guide),
    **{name: (name, partial(written, name)) for name in ("typescript", "go", "java", "c")},
}
PLACES = 4

STRUCTURE = re.compile(
    r"\s*(?:class|def|function|func|type|fn|struct|impl|public|export|import|@|#\[|[{}\])]|end\b|#+ )|.*[{:]$"
)
"""Lines that define something, open or close a block, or decorate."""

INSERTED = {
    "python": ["class Inserted:", "def inserted(a):", "@inserted", ")", "# inserted"],
    "markdown": ["# Inserted", "## Inserted", "- inserted", "> inserted", "| a | b |"],
    "ruby": ["class Inserted", "def inserted(a)", "end", "# inserted"],
}
IN_BRACES = ["class Inserted {", "void inserted(int a) {", "{", "}", "@Inserted", "// inserted"]


def structural_edits(lines: list[str], place: int, language: str) -> Iterator[tuple[str, list[str]]]:
    """The edited line, and the file with it: deleted, renamed, doubled, and lines of structure before it."""
    before, line, after = lines[:place], lines[place], lines[place + 1 :]
    indent = line[: len(line) - len(line.lstrip())]
    yield "", [*before, *after]
    renamed = re.sub(r"(\w{3,})(\W*$|\(|:|<| \{)", r"\1Renamed\2", line, count=1)
    yield renamed, [*before, renamed, *after]
    yield line, [*before, line, line, *after]
    for text in ["", *INSERTED.get(language, IN_BRACES)]:
        yield text, [*before, indent + text, line, *after]
        if indent:
            yield text, [*before, text, line, *after]


def named(line: str) -> str:
    """What a line names, as the scope of what it encloses has it."""
    return _signature(line.lstrip("# ") if line.startswith("#") else line)


def scopes(chunk: Chunk) -> set[str]:
    return set(chunk.context.split(" > ")) - {""}


@pytest.mark.slow
@pytest.mark.parametrize("name", STRUCTURED)
def test_lines_of_structure_embed_four_chunks_and_what_they_enclose(name: str) -> None:
    """A chunk beyond the four has the text that it had, and another scope: one that the edited line names."""
    language, make = STRUCTURED[name]
    kind = LineKind.MARKDOWN if language == "markdown" else LineKind.CODE
    limits, tokenizer = limits_by_kind(BUDGET)[kind], ByLine(model_tokenizer())

    def chunks_of(lines: list[str]) -> typing.Sequence[Chunk]:
        return SyntaxChunker().chunk(Document("\n".join(lines), kind, language), tokenizer, limits)

    lines = make().split("\n")
    before = chunks_of(lines)
    assert len(before) >= 100
    embedded, known = {c.embedded_text for c in before}, {c.text: c for c in before}
    places = [n for n, line in enumerate(lines) if STRUCTURE.match(line)]
    for place in random.Random(name).sample(places, PLACES):
        for line, edited in structural_edits(lines, place, language):
            new = [c for c in chunks_of(edited) if c.embedded_text not in embedded]
            texts = [c for c in new if c.text not in known]
            assert len(texts) <= AT_MOST, (line, place + 1)
            names = {named(lines[place]), named(line)} - {""}
            for chunk in new if len(new) > AT_MOST else []:
                was = known.get(chunk.text)
                assert was is None or names & (scopes(chunk) ^ scopes(was)), (line, place + 1, chunk.start_line)
