"""Asking leaves nothing behind: what a process holds after many calls is what it held after few."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise

import pytest

from everfind_core.errors import EverfindError
from everfind_core.model import GatherRequest, GrepRequest, ReadFileRequest, RelatedRequest, SearchRequest
from tests.support.notes import Notes, Reach

NOTES = 12
TURNS, BLOCKS = 12, 4
WORDS = ("wombat", "burrow", "numbat", "termite", "dig")
BYTES_A_CALL = 100
"""Less than the smallest thing that a call could leave: an entry of a dict takes about as much."""


def every_call(notes: Notes) -> list[Callable[[int], object]]:
    return [
        lambda n: notes.searcher.search(SearchRequest(f"where does a {WORDS[n % 5]} dig", min_score=-1.0)),
        lambda n: notes.searcher.gather(GatherRequest(SearchRequest(WORDS[n % 5], min_score=-1.0), 3)),
        lambda n: notes.searcher.related(RelatedRequest(folder="notes", path=f"n{n % NOTES}.md", line=1)),
        lambda n: notes.searcher.search(SearchRequest("")),  # refused
        lambda n: notes.indexer.grep(GrepRequest(WORDS[n % 5])),
        lambda n: notes.indexer.read_file(ReadFileRequest("notes", f"n{n % NOTES}.md")),
        lambda n: notes.indexer.indexed_files(limit=5),
        lambda n: notes.indexer.status(skipped_files=True),
        lambda n: notes.indexer.folders(),
    ]


@pytest.mark.slow
def test_more_calls_hold_no_more(notes: Reach) -> None:
    """What fills once (a cache, rows in memory) does so in one block of calls; what leaks grows in each."""
    reached = notes()
    for number in range(NOTES):
        reached.write(f"n{number}.md", f"# Note {number}\n\nA {WORDS[number % 5]} digs burrow {number}.\n")
    reached.run()
    calls = every_call(reached)

    def held() -> int:
        """Bytes after some turns of all calls."""
        for number in range(TURNS):
            for call in calls:
                with suppress(EverfindError):
                    call(number)
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        sizes = [held() for _ in range(BLOCKS)]
    finally:
        tracemalloc.stop()
    grown = [after - before for before, after in pairwise(sizes)]
    assert min(grown) < BYTES_A_CALL * TURNS * len(calls), grown
