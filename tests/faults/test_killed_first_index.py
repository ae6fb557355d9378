"""A first index killed at each kind of step of both passes: it goes on where it was, and ends as a fresh one."""

from __future__ import annotations

import random
import subprocess
import sys
from collections import Counter
from enum import Enum, auto
from pathlib import Path

import pytest

from everfind_core.errors import IndexMissingError
from everfind_core.index.store_backends import StoreChoice
from everfind_core.model import Filters, SearchMode, SearchRequest
from tests.support.killed_run import SQLITE
from tests.support.real_index import RealIndex, write_notes
from tests.support.repository import ROOT

NOTES = 18
STEPS = 90
"""A run that goes on after a kill has about as many; a later step than its last kills nothing."""
FEW_STEPS = 8
"""So many do not commit what is left of a pass."""


class State(Enum):
    """How far a killed run had come."""

    NOTHING = auto()
    WORDS = auto()
    VECTORS = auto()
    DONE = auto()


def run(base: Path, kill_at: int, counted: str = "any", store: StoreChoice = StoreChoice.LANCEDB) -> bool:
    """Whether a run as a process came to its end; steps count in one pass, or in any."""
    command = [sys.executable, "-m", "tests.support.killed_run", str(base), str(kill_at), counted]
    command += [SQLITE] if store is StoreChoice.SQLITE else []
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode in (0, -9), done.stderr
    return done.returncode == 0


def look(index: RealIndex) -> State:
    """Readers find every file that is there by its words, whole and once."""
    with index.searcher() as searcher:
        try:
            everything = Filters(all_statuses=True)
            answer = searcher.search(SearchRequest("token", 100, SearchMode.LEXICAL, everything))
        except IndexMissingError:
            return State.NOTHING
    ordinals = Counter((path, ordinal) for _, path, ordinal, *_ in index.content())
    assert set(ordinals.values()) <= {1}
    files = {path for path, _ in ordinals}
    assert {hit.path for hit in answer.hits} == files
    if not files:
        return State.NOTHING
    if len(files) < NOTES:
        return State.WORDS
    return State.VECTORS if index.unembedded() else State.DONE


def written(base: Path, store: StoreChoice = StoreChoice.LANCEDB) -> RealIndex:
    write_notes(base / "corpus", NOTES)
    return RealIndex(base, base / "corpus", store=store)


def check_equal_to_a_fresh_one(index: RealIndex) -> None:
    fresh = RealIndex(index.base / "fresh", index.corpus, store=index.store)
    fresh.index()
    assert index.content() == fresh.content()
    assert index.answers() == fresh.answers()
    assert index.engine().status().coverage == fresh.engine().status().coverage
    again = index.index()
    assert (again.indexed, again.unchanged) == (0, NOTES)


@pytest.mark.slow
@pytest.mark.parametrize(("pass_", "state"), [("words", State.WORDS), ("vectors", State.VECTORS)])
def test_a_first_index_killed_in_each_pass(tmp_path: Path, pass_: str, state: State) -> None:
    chance = random.Random(pass_)
    index = written(tmp_path)
    assert not run(tmp_path, chance.randrange(1, FEW_STEPS), pass_)
    assert look(index) is state
    for _ in range(2):
        run(tmp_path, chance.randrange(1, STEPS))
        look(index)
    assert run(tmp_path, sys.maxsize)
    check_equal_to_a_fresh_one(index)


@pytest.mark.long
@pytest.mark.parametrize("store", [StoreChoice.LANCEDB, StoreChoice.SQLITE])
@pytest.mark.parametrize("seed", range(40))
def test_a_first_index_killed_at_hundreds_of_steps(tmp_path: Path, seed: int, store: StoreChoice) -> None:
    chance = random.Random(seed)
    index = written(tmp_path, store)
    while not run(tmp_path, chance.randrange(1, STEPS), store=store):
        look(index)
    check_equal_to_a_fresh_one(index)
