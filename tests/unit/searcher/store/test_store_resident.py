"""Rows in memory are the rows of the store, whatever was done to it."""

from __future__ import annotations

import gc
import random
import shutil
import threading
import time
import tracemalloc
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import lance
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from everfind_core.index.store_backends import StoreBackend
from everfind_core.index.store_schema import TABLE_DIRECTORY, VECTOR
from everfind_core.index.vector_codec import VectorCodec
from everfind_core.index.vector_types import VectorType
from everfind_core.model import FileRef, Filters
from everfind_core.ports import ChunkWriter
from everfind_indexer.store import open_writer
from everfind_searcher.store import open_reader
from everfind_searcher.store.bm25 import Find, Mask, Scores, TermScorer
from everfind_searcher.store.copies import Addresses, Version
from everfind_searcher.store.filters import condition
from everfind_searcher.store.grouped import PostingsGroup
from everfind_searcher.store.lance_version import LanceVersion
from everfind_searcher.store.postings import Matches
from everfind_searcher.store.resident import ResidentRows
from everfind_searcher.store.rows import vectors
from everfind_searcher.store.snapshot import LanceSnapshot
from everfind_searcher.store.sqlite.snapshot import SqliteSnapshot
from tests.support.store_edits import EDITS, FILTERS, edit
from tests.support.store_samples import DIMENSIONS, EVERYTHING, file, places, random_texts, unit, with_vectors

MUCH = 1 << 30


def open_dataset(directory: Path) -> lance.LanceDataset:
    return lance.dataset(str(directory / TABLE_DIRECTORY))


def snapshot_of(dataset: lance.LanceDataset, resident: ResidentRows, directory: Path) -> LanceSnapshot:
    codec = VectorCodec(VectorType.HALF, DIMENSIONS)
    return LanceSnapshot(LanceVersion(dataset, directory), resident, codec=codec)


def nearest(dataset: lance.LanceDataset, query: npt.NDArray[np.float32], where: Filters) -> list[float]:
    """The cosines of all rows that pass, by numpy, from the vectors as they are stored; highest first."""
    rows = dataset.to_table(
        columns=[VECTOR], filter=" AND ".join(filter(None, (condition(where), f"{VECTOR} IS NOT NULL")))
    )
    stored = vectors(rows).astype(np.float64)
    cosines = stored @ query.astype(np.float16) / np.linalg.norm(stored, axis=1) / np.linalg.norm(query)
    return sorted(cosines.tolist(), reverse=True)


def answers(snapshot: LanceSnapshot) -> list[object]:
    found: list[object] = [with_vectors(snapshot.semantic(unit(n), 20, where)) for n in range(2) for where in FILTERS]
    questions = (["w0", "w3"], ["w1", "w4", "w2", "w9", "w7"])
    found += [snapshot.lexical(terms, 20, where) for terms in questions for where in FILTERS]
    quoted = (snapshot.quoting(phrase, ["w1"], 20, where) for phrase in ("w1 w0", "w2") for where in FILTERS)
    return [*found, *map(list, quoted)]


@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(kinds=EDITS, seed=st.integers(0, 10**6))
def test_after_any_edits_answers_from_memory_are_the_store_s(
    tmp_path_factory: pytest.TempPathFactory, kinds: list[str], seed: int
) -> None:
    directory = tmp_path_factory.mktemp("edited")
    writer = open_writer(directory, DIMENSIONS)
    choose = random.Random(seed)
    kept, grouped, empty = ResidentRows(MUCH), ResidentRows(MUCH), ResidentRows(0)
    versions: list[tuple[lance.LanceDataset, list[object]]] = []
    for kind in ["replace", *kinds, "save"]:
        edit(writer, kind, choose)
        dataset = open_dataset(directory)
        stored = answers(snapshot_of(dataset, empty, directory))
        assert stored == answers(snapshot_of(dataset, kept, directory))  # with rows of the version before
        version = LanceVersion(dataset, directory)
        kept.load(version)
        whole = kept.whole(version)
        assert whole is not None
        if kind in ("save", "exact"):
            assert whole.lexical(["w1"], 20, EVERYTHING) is not None
            assert whole.quoting("w1", ["w1"], 20, EVERYTHING) is not None
        grouped.load(version)
        assert stored == answers(snapshot_of(dataset, grouped, directory))
        grouped.regroup(version)
        assert stored == answers(snapshot_of(dataset, grouped, directory))
        for n, where in enumerate(FILTERS):
            exact = [found.score for found in snapshot_of(dataset, kept, directory).semantic(unit(n), 20, where)]
            assert exact == pytest.approx(nearest(dataset, unit(n), where)[:20], abs=1e-3)
        versions.append((dataset, stored))
        for old, expected in versions[-2:]:
            assert expected == answers(snapshot_of(old, kept, directory))
            assert expected == answers(snapshot_of(old, grouped, directory))


def test_rows_in_memory_are_not_read_again(directory: Path, writer: ChunkWriter) -> None:
    writer.replace([file("f", f"{n}", *random_texts(3, n)) for n in range(20)])
    writer.maintain(finish=True)
    dataset = open_dataset(directory)
    resident = ResidentRows(MUCH)
    resident.load(LanceVersion(dataset, directory))
    snapshot = snapshot_of(dataset, resident, directory)
    before = snapshot.semantic(unit(1), 5, EVERYTHING), snapshot.lexical(["w1", "w5"], 5, EVERYTHING)
    for kind in ("data", "_indices"):
        shutil.rmtree(directory / TABLE_DIRECTORY / kind)
    assert (snapshot.semantic(unit(1), 5, EVERYTHING), snapshot.lexical(["w1", "w5"], 5, EVERYTHING)) == before


def test_equal_vectors_come_by_path_however_many_there_are(directory: Path, writer: ChunkWriter) -> None:
    writer.replace([file("f", f"{n:03}", "the same", f"other {n}", tag=f"{n}") for n in range(300)])
    dataset = open_dataset(directory)
    resident = ResidentRows(MUCH)
    resident.load(LanceVersion(dataset, directory))
    found = snapshot_of(dataset, resident, directory).semantic(unit("the same"), 250, EVERYTHING)
    assert places(found) == [("f", f"{n:03}", 0) for n in range(250)]
    assert {one.score for one in found} == {found[0].score}


def test_rows_without_a_vector_are_near_nothing(directory: Path, writer: ChunkWriter) -> None:
    nothing = file("f", "zero", "zero")
    nothing = replace(
        nothing, chunks=tuple(replace(c, vector=np.zeros(DIMENSIONS, np.float32)) for c in nothing.chunks)
    )
    writer.replace([nothing, file("f", "none", "none", has_vectors=False), file("f", "some", "one", "two")])
    dataset = open_dataset(directory)
    for limit in (0, MUCH):
        resident = ResidentRows(limit)
        resident.load(LanceVersion(dataset, directory))
        found = snapshot_of(dataset, resident, directory).semantic(unit("two"), 10, EVERYTHING)
        assert places(found) == [("f", "some", 1), ("f", "some", 0)]


def test_what_is_said_to_be_in_memory_is_what_it_takes(directory: Path, writer: ChunkWriter) -> None:
    writer.replace([file("f", f"{n}", *random_texts(20, n, words=150)) for n in range(100)])
    dataset = open_dataset(directory)
    resident = ResidentRows(MUCH)
    tracemalloc.start()
    resident.load(LanceVersion(dataset, directory))
    gc.collect()
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert taken == pytest.approx(resident.size, rel=0.25)


def test_a_reader_beside_a_writer_answers_from_one_version(directory: Path, writer: ChunkWriter) -> None:
    """Each file has two chunks that come and go together, and always the newest tag or the one before."""
    names = [f"{n}" for n in range(10)]
    writer.replace([file("f", name, "one", "two", tag="0") for name in names])
    reader = open_reader(directory)
    done = threading.Event()

    def write() -> None:
        try:
            for turn in range(1, 15):
                writer.replace([file("f", name, "one", "two", tag=f"{turn}") for name in names])
                writer.maintain(finish=turn % 5 == 0)
        finally:
            done.set()

    thread = threading.Thread(target=write)
    thread.start()
    while True:
        last = done.is_set()
        snapshot = reader.snapshot()
        found = snapshot.semantic(unit("one"), 100, EVERYTHING)
        assert len(found) == 20
        assert len({one.chunk.chunk_id.rpartition("\0")[2] for one in found}) == 1
        assert {one.score for one in found[:10]} == {found[0].score}
        if last:
            break
    thread.join()
    assert found[0].chunk.chunk_id.endswith("\0" + "14")


def test_memory_stays_within_its_limit(directory: Path, writer: ChunkWriter) -> None:
    for n in range(6):
        writer.replace([file("f", f"{n}", *random_texts(200, n))])
    dataset = open_dataset(directory)
    everything = ResidentRows(MUCH)
    everything.load(LanceVersion(dataset, directory))
    some, none = ResidentRows(everything.size // 2), ResidentRows(0)
    for resident in (some, none):
        resident.load(LanceVersion(dataset, directory))
    assert 0 < some.size <= everything.size // 2
    assert none.size == 0
    wanted = answers(snapshot_of(dataset, everything, directory))
    assert wanted == answers(snapshot_of(dataset, some, directory))
    assert wanted == answers(snapshot_of(dataset, none, directory))


@pytest.mark.parametrize("fits", [True, False])
def test_filters_are_remembered_within_the_limit(
    directory: Path, writer: ChunkWriter, monkeypatch: pytest.MonkeyPatch, fits: bool
) -> None:
    writer.replace([file("f", f"{n}", *random_texts(20, n), language="python") for n in range(20)])
    writer.maintain(finish=True)
    version = LanceVersion(open_dataset(directory), directory)
    rows = ResidentRows(MUCH)
    rows.load(version)
    share = 9 * 400  # numbers and factors of the rows that pass, here all, and a mark for every row
    resident = ResidentRows(rows.size + 2 * 16 * share - (0 if fits else 2 * 16))
    resident.load(version)
    asked: list[Filters] = []

    def counting(self: LanceVersion, where: Filters) -> Addresses:
        asked.append(where)
        return rows_of(self, where)

    rows_of = LanceVersion.rows
    monkeypatch.setattr(LanceVersion, "rows", counting)
    whole = resident.whole(version)
    assert whole is not None
    where = Filters(languages=("python",))
    found = [[one.score for one in whole.lexical(["w1"], 5, where) or ()] for _ in range(3)]
    assert found[0]
    assert found[0] == found[1] == found[2]
    assert asked == [EVERYTHING, *[where] * (1 if fits else 3)]


def test_a_saved_file_is_in_memory_when_it_is_first_asked_for(directory: Path, writer: ChunkWriter) -> None:
    writer.replace([file("f", f"{n}", *random_texts(20, n)) for n in range(20)])
    resident = ResidentRows(MUCH)
    resident.load(LanceVersion(open_dataset(directory), directory))
    resident.follow(LanceVersion(open_dataset(directory), directory))
    writer.replace([file("f", "1", "saved")])
    saved = LanceVersion(open_dataset(directory), directory)
    assert resident.whole(saved) is None
    resident.follow(saved)
    assert resident.whole(saved) is not None


def test_memory_follows_what_is_replaced_and_lets_go_of_it(directory: Path, writer: ChunkWriter) -> None:
    writer.replace([file("f", "a", *random_texts(300, 1)), file("g", "b", "one")])
    resident = ResidentRows(MUCH)
    resident.load(LanceVersion(open_dataset(directory), directory))
    full = resident.size
    writer.delete_folder("f")
    writer.maintain(finish=True)
    dataset = open_dataset(directory)
    resident.load(LanceVersion(dataset, directory))
    assert 0 < resident.size < full / 10
    writer.delete_folder("g")
    resident.load(LanceVersion(open_dataset(directory), directory))
    assert resident.size == 0
    writer.replace([file("f", "a", "two")])
    dataset = open_dataset(directory)
    [found] = snapshot_of(dataset, resident, directory).lexical(["two"], 5, EVERYTHING)
    assert found.chunk.text == "two"


@pytest.mark.parametrize("backend", list(StoreBackend))
def test_after_many_saves_a_term_is_looked_up_as_in_a_fresh_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, backend: StoreBackend
) -> None:
    """In one place for all rows, in which no dead ones are; and without a mask over all of them."""
    writer = open_writer(tmp_path, DIMENSIONS, backend)
    writer.replace([file("f", f"{n}", *random_texts(10, n)) for n in range(60)])
    writer.maintain(finish=True)
    reader = open_reader(tmp_path, backend=backend)
    resident = ResidentRows(MUCH)
    looked_up: list[int] = []
    masks: list[object] = []
    for turn in range(12):
        writer.replace([file("f", f"{turn}", *random_texts(10, 100 + turn))])
        writer.maintain(finish=True)
        snapshot = reader.snapshot()
        assert isinstance(snapshot, LanceSnapshot | SqliteSnapshot)
        resident.load(snapshot._version)
        resident.regroup(snapshot._version)
    monkeypatch.setattr(reader, "_resident", resident)
    find, scores = PostingsGroup.find, TermScorer.scores

    def finding(group: PostingsGroup, term: str) -> Matches | None:
        found = find(group, term)
        looked_up.append(0 if found is None else len(found.places))
        return found

    def scoring(scorer: TermScorer, finds: Sequence[Find], tokens: Sequence[str], passing: Mask | None) -> Scores:
        masks.append(passing)
        return scores(scorer, finds, tokens, passing)

    writer.replace([file("f", f"{n}", *random_texts(10, n)) for n in range(20, 30)])
    writer.maintain(finish=True)
    snapshot = reader.snapshot()
    assert isinstance(snapshot, LanceSnapshot | SqliteSnapshot)
    resident.load(snapshot._version)
    resident.regroup(snapshot._version)
    monkeypatch.setattr(PostingsGroup, "find", finding)
    monkeypatch.setattr(TermScorer, "scores", scoring)
    found = reader.lexical(["w0"], 1_000, EVERYTHING)
    assert looked_up == [len(found)]
    assert masks == [None]
    writer.close()


def test_what_is_said_to_be_in_memory_is_what_it_takes_in_groups(directory: Path, writer: ChunkWriter) -> None:
    for start in (0, 50):
        writer.replace([file("f", f"{n}", *random_texts(20, n, words=150)) for n in range(start, start + 50)])
    version = LanceVersion(open_dataset(directory), directory)
    resident = ResidentRows(MUCH)
    tracemalloc.start()
    resident.load(version)
    before = resident.size
    resident.regroup(version)
    gc.collect()
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert resident.size == pytest.approx(before, rel=0.05)
    assert taken == pytest.approx(resident.size, rel=0.25)


def test_a_row_deleted_since_is_still_there_for_an_older_snapshot(directory: Path, writer: ChunkWriter) -> None:
    writer.replace([file("f", "a", "one"), file("f", "b", "two")])
    before = open_dataset(directory)
    writer.replace([file("f", "a")])
    resident = ResidentRows(MUCH)
    resident.load(LanceVersion(open_dataset(directory), directory))
    assert resident.size > 0
    snapshot = snapshot_of(before, resident, directory)
    assert [found.chunk.text for found in snapshot.lexical(["one"], 5, EVERYTHING)] == ["one"]
    assert [found.chunk.text for found in snapshot.semantic(unit("one"), 2, EVERYTHING)] == ["one", "two"]


def test_only_a_process_that_asks_again_reads_the_table(
    directory: Path, writer: ChunkWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer.replace([file("f", "a", "one")])
    loaded = threading.Event()

    def load(_rows: ResidentRows, _version: Version) -> int:
        loaded.set()
        return 0

    monkeypatch.setattr(ResidentRows, "load", load)
    reader = open_reader(directory)
    reader.lexical(["one"], 5, EVERYTHING)
    assert not loaded.wait(0.2)
    reader.lexical(["one"], 5, EVERYTHING)
    assert loaded.wait(30)
    loaded.clear()
    reader.lexical(["one"], 5, EVERYTHING)
    assert not loaded.wait(0.2)
    writer.replace([file("f", "a", "two")])
    reader.lexical(["one"], 5, EVERYTHING)
    assert loaded.wait(30)


def test_a_process_that_goes_on_leaves_old_objects_out_of_collections(directory: Path, writer: ChunkWriter) -> None:
    writer.replace([file("f", "a", "one")])
    gc.unfreeze()
    reader = open_reader(directory)
    reader.lexical(["one"], 5, EVERYTHING)
    assert gc.get_freeze_count() == 0
    reader.lexical(["one"], 5, EVERYTHING)
    deadline = time.monotonic() + 60
    while not gc.get_freeze_count() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert gc.get_freeze_count() > 10_000
    gc.unfreeze()


def test_a_snapshot_stays_as_it_was(directory: Path, writer: ChunkWriter) -> None:
    writer.replace([file("f", "a", "one"), file("f", "b", "one two")])
    reader = open_reader(directory)
    snapshot = reader.snapshot()
    writer.replace([file("f", "a", "three"), file("f", "b")])
    assert places(snapshot.lexical(["one"], 5, EVERYTHING)) == [("f", "a", 0), ("f", "b", 0)]
    assert len(snapshot.semantic(unit("one"), 5, EVERYTHING)) == 2
    assert [chunk.text for chunk in snapshot.file_chunks(FileRef("f", "a"))] == ["one"]
    newer = reader.snapshot()
    assert newer.generation() == snapshot.generation() + 1
    assert not newer.lexical(["one"], 5, EVERYTHING)
