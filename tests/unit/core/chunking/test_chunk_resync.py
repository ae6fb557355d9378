"""One edited line of a big file changes at most four chunks: real files, every kind of edit, a fixed seed.

Opening or closing a Markdown fence is left out: it changes what the lines up to the next fence are.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import typing
from collections.abc import Callable
from functools import partial

import pytest

from everfind_core.chunking import limits_by_kind
from everfind_core.model import LineKind
from tests.support.chunk_checks import ByLine, check, cut, model_tokenizer, new_texts
from tests.support.chunk_edits import AT_MOST, BUDGET, edits, guide, source


def records() -> str:
    rng = random.Random(3)
    rows = [{"id": n, "name": f"n{rng.randrange(99)}", "tags": ["a", f"b{n}"], "at": {"x": n}} for n in range(330)]
    return json.dumps(rows, indent=2)


def table() -> str:
    rng = random.Random(5)
    return "\n".join(",".join(str(rng.randrange(9999)) for _ in range(6)) for _ in range(1500))


FILES: dict[str, tuple[Callable[[], str], LineKind, str]] = {
    "argparse": (partial(source, argparse), LineKind.CODE, "python"),
    "typing": (partial(source, typing), LineKind.CODE, "python"),
    "markdown": (guide, LineKind.MARKDOWN, "markdown"),
    "json": (records, LineKind.CONFIG, "json"),
    "csv": (table, LineKind.CONFIG, ""),
    "one line repeated": (lambda: "the same line again and again\n" * 4500, LineKind.PROSE, ""),
    "no blank lines": (lambda: guide().replace("\n\n", "\n").replace("#", "-"), LineKind.CODE, ""),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_real_files(name: str) -> None:
    make, kind, language = FILES[name]
    text = make()
    limits, tokenizer = limits_by_kind(BUDGET)[kind], ByLine(model_tokenizer())
    chunker = partial(cut, kind=kind, language=language, limits=limits, tokenizer=tokenizer)
    before = chunker(text)
    assert len(before) >= 100
    check(text, before, limits, model_tokenizer())

    bodies = [chunk.tokens - chunk.context_tokens - chunk.overlap_tokens for chunk in before]
    assert statistics.mean(bodies) >= 0.6 * limits.target
    assert sum(size < limits.target / 4 for size in bodies) <= 0.05 * len(bodies)
    assert sum(chunk.overlap_tokens for chunk in before) <= 0.25 * sum(bodies)

    lines = text.split("\n")
    places = [number for number, line in enumerate(lines) if not line.startswith("```")]
    for place in random.Random(11).sample(places, 12):
        for edit, edited in edits(lines, place).items():
            changed = new_texts(before, chunker("\n".join(edited)), context=False)
            assert changed <= AT_MOST, (name, edit, place + 1)


@pytest.mark.slow
def test_an_edit_that_names_no_scope_embeds_few_chunks() -> None:
    text = source(argparse)
    chunker = partial(
        cut,
        kind=LineKind.CODE,
        language="python",
        limits=limits_by_kind(BUDGET)[LineKind.CODE],
        tokenizer=ByLine(model_tokenizer()),
    )
    before, lines = chunker(text), text.split("\n")
    plain = [n for n, line in enumerate(lines) if "def " not in line and "class " not in line]
    for place in random.Random(13).sample(plain, 15):
        for edit, edited in edits(lines, place).items():
            if edit != "insert definition":
                assert new_texts(before, chunker("\n".join(edited)), context=True) <= AT_MOST, (edit, place + 1)
