"""Both stores give the same answers: the same rows, in the same order, with the same scores."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from everfind_core.index.store_backends import StoreBackend
from everfind_core.model import Filters
from everfind_core.ports import ChunkReader, ChunkWriter, FileChunks, ScoredChunk, StoredChunk
from everfind_indexer.store import open_writer
from everfind_searcher.store import open_reader
from tests.support.store_edits import EDITS, edit
from tests.support.store_samples import DIMENSIONS, EVERYTHING, file, random_texts, unit, with_vectors

FILTERS = (
    EVERYTHING,
    Filters(folders=("g",)),
    Filters(include=("1*", "f//2*"), exclude=("*3",)),
    Filters(languages=("python", "go"), kinds=("function",)),
    Filters(since="2025-06", exclude_statuses=("superseded",)),
)
QUESTIONS = 10


@dataclass(frozen=True)
class Stores:
    writers: Sequence[ChunkWriter]
    readers: Sequence[ChunkReader]

    def replace(self, files: Sequence[FileChunks]) -> None:
        for writer in self.writers:
            writer.replace(files)

    def maintain(self) -> None:
        for writer in self.writers:
            writer.maintain(finish=True, exact=True)


def some_file(folder: str, number: int, choose: random.Random) -> FileChunks:
    """A file whose chunks have names, and some of which have no vector."""
    texts = random_texts(choose.randint(1, 6), choose.randrange(10**6), words=40)
    made = file(
        folder,
        f"{number}",
        *texts,
        language=choose.choice(("python", "go", "")),
        kind=choose.choice(("function", "class")),
        status=choose.choice(("", "accepted", "superseded")),
        date=choose.choice(("", "2025-01-01", "2026-03-01")),
        tag=f"{choose.random()}",
    )
    chunks = (
        replace(c, names=" ".join(c.terms.split()[:4]), vector=None if choose.random() < 0.1 else c.vector)
        for c in made.chunks
    )
    return FileChunks(made.ref, tuple(chunks))


def opened(tmp_path_factory: pytest.TempPathFactory) -> Stores:
    places: list[tuple[StoreBackend, Path]] = [(kind, tmp_path_factory.mktemp(kind)) for kind in StoreBackend]
    writers = [open_writer(place, DIMENSIONS, kind) for kind, place in places]
    return Stores(writers, [open_reader(place, backend=kind) for kind, place in places])


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stores]:
    """Two stores with the same history: files written, replaced and removed, in several commits."""
    both = opened(tmp_path_factory)
    choose = random.Random(8)
    for start in range(0, 120, 30):
        both.replace([some_file(choose.choice("fg"), number, choose) for number in range(start, start + 30)])
    both.replace([some_file("f", number, choose) for number in range(0, 120, 7)])
    both.replace([FileChunks(some_file(folder, number, choose).ref) for number in range(5, 40) for folder in "fg"])
    both.maintain()
    yield both
    for writer in both.writers:
        writer.close()


def check_equal(answers: Sequence[Sequence[ScoredChunk]]) -> None:
    lance, sqlite = answers
    assert [found.chunk for found in sqlite] == [found.chunk for found in lance]
    assert [found.score for found in sqlite] == pytest.approx([found.score for found in lance], abs=1e-4)
    assert [vector for *_, vector in with_vectors(sqlite)] == [vector for *_, vector in with_vectors(lance)]


@pytest.mark.parametrize("where", FILTERS)
@pytest.mark.parametrize("limit", [5, 200])
def test_both_arms_find_the_same(stores: Stores, where: Filters, limit: int) -> None:
    choose = random.Random(limit)
    for number in range(QUESTIONS):
        terms = [f"w{int(400 ** choose.random())}" for _ in range(choose.randint(1, 8))]
        check_equal([reader.lexical(terms, limit, where) for reader in stores.readers])
        check_equal([reader.semantic(unit(number), limit, where) for reader in stores.readers])


@pytest.mark.parametrize("where", FILTERS)
def test_both_name_the_same(stores: Stores, where: Filters) -> None:
    for number in range(1, 60, 5):
        lance, sqlite = (reader.naming([f"w{number}", "w0"], 1_000, where) for reader in stores.readers)
        assert list(sqlite) == list(lance)


@pytest.mark.parametrize("where", [*FILTERS, Filters(languages=("none",))])
def test_both_have_the_same_labels(stores: Stores, where: Filters) -> None:
    lance, sqlite = (reader.labels(where) for reader in stores.readers)
    assert [reader.count(where) for reader in stores.readers] == [lance.rows, sqlite.rows]
    assert sqlite == lance
    assert (lance.rows == 0) == (where.languages == ("none",))
    assert lance.rows == 0 or lance.path


def test_both_writers_know_the_same(stores: Stores) -> None:
    lance, sqlite = stores.writers
    counts = lance.chunk_counts()
    assert sqlite.chunk_counts() == counts
    assert sqlite.unembedded() == lance.unembedded()
    assert sorted(sqlite.embedding_keys("f")) == sorted(lance.embedding_keys("f"))
    assert {ref: list(map(told, chunks)) for ref, chunks in sqlite.file_chunks(counts).items()} == {
        ref: list(map(told, chunks)) for ref, chunks in lance.file_chunks(counts).items()
    }
    assert len(sqlite.sample_vectors(50)) == len(lance.sample_vectors(50))


@settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(kinds=EDITS, seed=st.integers(0, 10**6))
@example(kinds=["finish", "replace", "finish", "folder", "folder"], seed=3)  # a covered fragment goes as a whole
@pytest.mark.parametrize("edited", list(StoreBackend))
@pytest.mark.parametrize("fresh", list(StoreBackend))
def test_after_any_edits_it_answers_as_a_fresh_table(
    tmp_path_factory: pytest.TempPathFactory, edited: StoreBackend, fresh: StoreBackend, kinds: list[str], seed: int
) -> None:
    """Of either store, once a run over whole folders has ended."""
    places = [(kind, tmp_path_factory.mktemp(kind)) for kind in (edited, fresh)]
    old, new = (open_writer(place, DIMENSIONS, kind) for kind, place in places)
    for turn, kind in enumerate(["replace", *kinds, "replace"]):
        edit(old, kind, random.Random(seed + turn))
    old.maintain(finish=True, exact=True)
    new.replace([FileChunks(*file) for file in old.file_chunks(old.chunk_counts()).items()])
    new.maintain(finish=True, exact=True)
    readers = [open_reader(place, backend=kind) for kind, place in places]
    for where in (EVERYTHING, Filters(include=("*1",), languages=("python",))):
        for number in range(4):
            check_equal([reader.semantic(unit(seed + number), 20, where) for reader in readers])
            terms = [f"w{number}", f"w{2 * number + 3}", "w7"]
            check_equal([reader.lexical(terms, 20, where) for reader in readers])
    for writer in (old, new):
        writer.close()


def told(chunk: StoredChunk) -> tuple[StoredChunk, list[float]]:
    return replace(chunk, vector=None), [] if chunk.vector is None else chunk.vector.tolist()
