"""One edited line of a big file changes at most four chunks: real files, every kind of edit, a fixed seed.

Left out are lines that open or close a string or a block: they change what the lines up to the other end are.
"""

from __future__ import annotations

import argparse
import random
import typing
from collections.abc import Callable
from functools import partial

import pytest

from everfind_core.chunking import limits_by_kind
from everfind_core.model import Document, LineKind
from everfind_indexer.syntax import SyntaxChunker
from tests.unit.chunking.chunk_support import ByLine, check, model_tokenizer, new_texts
from tests.unit.chunking.test_chunk_resync import AT_MOST, BUDGET, edits, source
from tests.unit.syntax.test_syntax_borders import FILES

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
