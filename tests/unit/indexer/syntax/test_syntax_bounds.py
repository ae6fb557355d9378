"""What a text that anyone may have written can cost: a process of its own tries it first."""

from __future__ import annotations

import os
import resource
import signal
import sys
import time
from itertools import pairwise

import psutil
import pytest

from everfind_core.model import Document, LineKind
from everfind_core.ports import ChunkLimits
from everfind_indexer.syntax import SyntaxChunker, parsing
from everfind_indexer.syntax.bounds import Trial
from tests.support.chunk_checks import WordTokenizer

FUNCTION = b"function area(a: number, b: number): number {\n  return a * b;\n}\n"
GENERICS = b"a<b,\n" * 12_000
"""Takes 1.8 GB where nothing bounds it."""


def largest_resident() -> int:
    """MiB that this process, without its children, has held at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10


def test_text_that_would_take_gigabytes_is_cut_by_lines_and_nothing_is_lost() -> None:
    before = largest_resident()
    text = (FUNCTION + GENERICS).decode()
    document = Document(text, LineKind.CODE, "typescript")
    chunks = SyntaxChunker().chunk(document, WordTokenizer(), ChunkLimits(target=150, hard=200, overlap=0))
    assert chunks[0].start_line == 1
    assert chunks[-1].end_line == len(text.splitlines())
    assert all(later.start_line <= earlier.end_line + 1 for earlier, later in pairwise(chunks))
    assert largest_resident() - before < 200


def test_what_one_text_does_to_the_process_is_nothing_to_the_next() -> None:
    trial = Trial()
    try:
        passed = [trial.passes(data, "typescript") for data in (FUNCTION * 50, GENERICS, FUNCTION * 50)]
        assert passed == [True, False, True]
    finally:
        trial.close()


def test_one_process_serves_many_texts_and_ends_with_its_owner() -> None:
    trial = Trial()
    me = psutil.Process()
    before = me.children()
    assert all(trial.passes(FUNCTION * 50, language) for language in ("typescript", "python", "go", "sql"))
    started = [child for child in me.children() if child not in before]
    trial.close()
    assert len(started) == 1
    assert not started[0].is_running()


@pytest.mark.parametrize(
    "program",
    [
        "import time; time.sleep(60)",
        "import os; os.abort()",
        f"import os; os.kill(os.getpid(), {int(signal.SIGXCPU)})",
        "print('?')",
        "print('+++++')",
        "pass",
    ],
)
def test_whatever_the_process_does_the_text_is_only_not_parsed(program: str) -> None:
    trial = Trial((sys.executable, "-S", "-c", program), seconds=2)
    started = time.monotonic()
    try:
        assert [trial.passes(FUNCTION * 5_000, "typescript") for _ in range(2)] == [False, False]
    finally:
        trial.close()
    assert time.monotonic() - started < 30


def test_small_texts_need_no_process() -> None:
    trial = Trial((os.devnull,))
    assert trial.passes(FUNCTION, "typescript")


def test_a_tree_that_would_take_quadratic_time_to_search_is_cut_by_lines() -> None:
    lines = ["a", *["  .f(1)"] * 12_000, ";"]  # one expression: what the query begins at each call ends with it
    started = time.thread_time()
    syntax = parsing.parse(lines, "\n".join(lines), "typescript")
    assert time.thread_time() - started < 6
    assert not syntax.symbols.uses
    assert all(syntax.unread)
