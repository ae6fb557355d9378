"""Folders that are followed while a first index gives their files vectors: edits made meanwhile are not lost."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from everfind_core.cancellation import Cancellation
from everfind_core.errors import IndexMissingError
from everfind_core.index.directory import current_index
from everfind_core.index.watch_state import read_watch_state
from everfind_core.model import Coverage, Folder, IndexRequest, Vectors
from everfind_core.ports import TokenIds
from everfind_indexer.running import first_pass, pipeline
from everfind_indexer.settings import IndexerSettings
from everfind_indexer.watching import Follower, Pace
from tests.support.fakes import FakeEmbedder
from tests.support.real_index import RealIndex, write_notes

NOTES = 12
QUICK = Pace(quiet=0.2, pause=0.1, many=50, longest=2.0, rescan=600.0, poll=0.5, first_retry=0.1)
PATIENCE = 60.0


@dataclass
class HeldEmbedder(FakeEmbedder):
    """Gives documents their vectors once they are ``released``."""

    released: threading.Event = field(default_factory=threading.Event)

    def embed_tokens(self, sequences: Sequence[TokenIds], *, cancel: Cancellation | None = None) -> Vectors:
        while not self.released.wait(0.01):
            if cancel is not None:
                cancel.check()
        return super().embed_tokens(sequences, cancel=cancel)


class Followed:
    """An index of notes whose vectors are held back, and its followers."""

    def __init__(self, base: Path) -> None:
        write_notes(base / "corpus", NOTES)
        self.embedder = HeldEmbedder()
        self.index = RealIndex(base, base / "corpus", embedder=self.embedder)
        self._followers: list[Follower] = []

    def follow(self, *, create: bool = True) -> Follower:
        settings = IndexerSettings(self.index.directory, (Folder("notes", str(self.index.corpus)),))
        follower = Follower(self.index.engine(), settings, pace=QUICK, create=create)
        self._followers.append(follower)
        follower.start()
        return follower

    def coverage(self) -> Coverage:
        try:
            return current_index(self.index.directory).read_coverage().total()
        except IndexMissingError:
            return Coverage()

    def edit(self) -> None:
        """One note changes, one goes, one comes, and one moves."""
        corpus = self.index.corpus
        (corpus / "note01.md").write_text("# Changed\n\nA zebra.\n")
        (corpus / "note02.md").unlink()
        (corpus / "new.md").write_text("# New\n\nA wombat.\n")
        (corpus / "note03.md").rename(corpus / "moved.md")

    def close(self) -> None:
        self.embedder.released.set()
        for follower in self._followers:
            follower.close()


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.fixture
def followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Followed]:
    monkeypatch.setattr(first_pass, "FIRST_PASS_FILES", 1)
    monkeypatch.setattr(pipeline.Pipeline, "has_room", lambda _self: False)
    made = Followed(tmp_path)
    yield made
    made.close()


def check_current(followed: Followed) -> None:
    """What the index holds in the end is what a fresh one of the same files holds."""

    def is_current() -> bool:
        state = read_watch_state(followed.index.directory)
        covered = followed.coverage()
        return state is not None and not (state.pending or state.behind or covered.pending or covered.unembedded)

    def has_all() -> bool:
        return {path for _, path, *_ in followed.index.content()} == {p.name for p in followed.index.corpus.iterdir()}

    until(lambda: is_current() and has_all())
    fresh = RealIndex(followed.index.base / "fresh", followed.index.corpus)
    fresh.index()
    assert followed.index.content() == fresh.content()
    assert followed.index.found() == fresh.found()


def test_edits_while_a_follower_makes_the_first_index(followed: Followed) -> None:
    followed.follow()
    until(lambda: followed.coverage().unembedded == NOTES)
    followed.edit()
    until(lambda: bool((state := read_watch_state(followed.index.directory)) and state.pending))
    followed.embedder.released.set()
    check_current(followed)


def test_edits_while_a_run_by_hand_makes_it_and_a_follower_waits_for_that(followed: Followed) -> None:
    run = threading.Thread(target=followed.index.index)
    run.start()
    until(lambda: followed.coverage().unembedded == NOTES)
    followed.follow(create=False)
    followed.edit()
    followed.embedder.released.set()
    run.join(PATIENCE)
    check_current(followed)


@pytest.mark.parametrize("create", [True, False])
def test_a_follower_that_ends_in_the_second_pass_leaves_it_to_the_next(followed: Followed, create: bool) -> None:
    first = followed.follow()
    until(lambda: followed.coverage().unembedded == NOTES)
    first.close()
    assert followed.embedder.embedded == 0
    followed.edit()
    followed.embedder.released.set()
    if create:
        followed.follow()
    else:  # it waits until somebody has gone on
        followed.follow(create=False)
        followed.index.index(IndexRequest())
    check_current(followed)


def test_one_that_stands_by_goes_on_with_the_second_pass(followed: Followed) -> None:
    first = followed.follow()
    followed.follow()
    until(lambda: followed.coverage().unembedded == NOTES)
    followed.edit()
    first.close()
    followed.embedder.released.set()
    check_current(followed)
