"""An index run killed at each kind of step: readers see whole files, and the index ends up as a fresh one."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from subprocess import PIPE

import pytest

from everfind_core.errors import IndexMissingError
from everfind_core.index.store_backends import StoreChoice
from everfind_core.model import SearchRequest
from tests.support.killed_run import SQLITE
from tests.support.real_index import RealIndex, write_notes
from tests.support.repository import ROOT

NOTES = 12
STEPS = 60
"""A run that takes in some changed files has about as many; a later step than its last kills nothing."""


def command(base: Path, kill_at: int, store: StoreChoice) -> list[str]:
    """A run as a process."""
    run = [sys.executable, "-m", "tests.support.killed_run", str(base), str(kill_at)]
    return run + ([SQLITE] if store is StoreChoice.SQLITE else [])


def run(base: Path, kill_at: int, store: StoreChoice) -> int:
    """The exit code of a run as a process; negative if it was killed."""
    started = command(base, kill_at, store)
    done = subprocess.run(started, cwd=ROOT, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode in (0, -9), done.stderr
    return done.returncode


def change(corpus: Path, turn: int, chance: random.Random) -> None:
    """Some notes change, one goes, one comes, one moves; all of a note is of one turn."""
    for note in chance.sample(sorted(corpus.iterdir()), 3):
        note.write_text("".join(f"# Part {part}\n\nAlpaca of turn{turn}.\n\n" for part in range(4)))
    gone, moved = chance.sample(sorted(corpus.iterdir()), 2)
    gone.unlink()
    moved.rename(corpus / f"moved{turn}.md")
    (corpus / f"new{turn}.md").write_text(f"# New\n\nAlpaca of turn{turn}.\n")


def check_whole(index: RealIndex, sure: set[str], possible: set[str]) -> None:
    """Readers find each ``sure`` file, and all that they find whole, once, of one turn."""
    with index.searcher() as searcher:
        try:
            searcher.search(SearchRequest("alpaca of part", 10, min_score=-1.0))
        except IndexMissingError:
            assert not sure, "an index that was there still answers"
            return
    parts: dict[str, list[int]] = defaultdict(list)
    turns: dict[str, set[str]] = defaultdict(set)
    for _, path, ordinal, _, _, text, *_ in index.content():
        parts[path].append(ordinal)
        turns[path] |= {word for word in text.split() if word.startswith("turn")}
    assert sure <= parts.keys() <= possible
    assert all(sorted(found) == list(range(len(found))) for found in parts.values()), parts
    assert all(len(found) <= 1 for found in turns.values()), turns


def names(corpus: Path) -> set[str]:
    return {path.name for path in corpus.iterdir()}


def kill_and_check(base: Path, seed: int, kills: int, store: StoreChoice = StoreChoice.AUTO) -> int:
    """How many runs were really killed."""
    chance = random.Random(seed)
    write_notes(base / "corpus", NOTES)
    index = RealIndex(base, base / "corpus", base / "kept", store=store)
    sure: set[str] = set()
    possible: set[str] = set()
    killed = 0
    for turn in range(kills):
        possible |= names(index.corpus)
        code = run(base, chance.randrange(1, STEPS), store)
        killed += code < 0
        if code == 0:
            sure, possible = names(index.corpus), names(index.corpus)
        check_whole(index, sure, possible)
        change(index.corpus, turn, chance)
        sure = sure & names(index.corpus)
    index.index()
    fresh = RealIndex(base / "fresh", index.corpus, store=store)
    fresh.index()
    assert index.content() == fresh.content()
    assert index.found() == fresh.found()
    assert index.engine().status().coverage == fresh.engine().status().coverage
    shutil.rmtree(base / "index")
    return killed


@pytest.mark.slow
@pytest.mark.parametrize("store", [StoreChoice.LANCEDB, StoreChoice.SQLITE])
def test_runs_at_once_make_one_index(tmp_path: Path, store: StoreChoice) -> None:
    write_notes(tmp_path / "corpus", NOTES)
    index = RealIndex(tmp_path, tmp_path / "corpus", tmp_path / "kept", store=store)
    for turn in range(2):
        racing = [
            subprocess.Popen(command(tmp_path, sys.maxsize, store), cwd=ROOT, stdout=PIPE, stderr=PIPE, text=True)
            for _ in range(2)
        ]
        for process in racing:
            _, stderr = process.communicate(timeout=240)
            assert process.returncode == 0, stderr
        check_whole(index, names(index.corpus), names(index.corpus))
        fresh = RealIndex(tmp_path / f"fresh{turn}", index.corpus, store=store)
        fresh.index()
        assert index.content() == fresh.content()
        change(index.corpus, turn, random.Random(turn))


@pytest.mark.slow
def test_a_run_killed_at_twenty_steps(tmp_path: Path) -> None:
    assert kill_and_check(tmp_path, 20, 20) >= 10


@pytest.mark.slow
def test_a_run_over_the_store_in_sqlite_killed_at_eight_steps(tmp_path: Path) -> None:
    assert kill_and_check(tmp_path, 8, 8, StoreChoice.SQLITE) >= 4


@pytest.mark.long
@pytest.mark.parametrize("store", [StoreChoice.LANCEDB, StoreChoice.SQLITE])
@pytest.mark.parametrize("seed", range(12))
def test_a_run_killed_at_hundreds_of_steps(tmp_path: Path, seed: int, store: StoreChoice) -> None:
    assert kill_and_check(tmp_path, seed, 25, store) >= 12
