"""Rows in memory are the rows of the store, whatever was done to it."""

from __future__ import annotations

import gc
import random
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import lance
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from everfind_core.model import FileRef, Filters
from everfind_core.ports import ChunkWriter, FileChunks, ScoredChunk
from everfind_core.store_schema import TABLE_DIRECTORY
from everfind_indexer.store import open_writer
from everfind_searcher.store import open_reader
from everfind_searcher.store.resident import ResidentRows
from everfind_searcher.store.snapshot import LanceSnapshot
from tests.unit.store.store_samples import DIMENSIONS, EVERYTHING, file, places, random_texts, unit

FILTERS = (
    EVERYTHING,
    Filters(folders=("f",)),
    Filters(include=("*1",), languages=("python",)),
    Filters(exclude=("2*",), kinds=("function",)),
)
EDITS = st.lists(st.sampled_from(("replace", "replace", "delete", "folder", "maintain", "finish")), max_size=8)


def open_dataset(directory: Path) -> lance.LanceDataset:
    return lance.dataset(str(directory / TABLE_DIRECTORY))


def edit(writer: ChunkWriter, kind: str, choose: random.Random) -> None:
    names = [f"{choose.randrange(30)}" for _ in range(choose.randint(1, 6))]
    folder = choose.choice("fg")
    match kind:
        case "replace":
            language, what = choose.choice(("python", "")), choose.choice(("function", ""))
            texts = [random_texts(choose.randint(1, 4), choose.randrange(10**6)) for _ in names]
            files = zip(names, texts, strict=True)
            writer.replace([file(folder, name, *found, language=language, kind=what) for name, found in files])
        case "delete":
            writer.replace([FileChunks(FileRef(folder, name)) for name in names])
        case "folder":
            writer.delete_folder(folder)
        case _:
            writer.maintain(finish=kind == "finish")


def answers(snapshot: LanceSnapshot) -> list[Sequence[ScoredChunk]]:
    found = [snapshot.semantic(unit(n), 20, where) for n in range(2) for where in FILTERS]
    return found + [snapshot.lexical([f"w{n}", f"w{n + 3}"], 20, where) for n in range(2) for where in FILTERS]


@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(kinds=EDITS, seed=st.integers(0, 10**6))
def test_after_any_edits_answers_from_memory_are_the_store_s(
    tmp_path_factory: pytest.TempPathFactory, kinds: list[str], seed: int
) -> None:
    directory = tmp_path_factory.mktemp("edited")
    writer = open_writer(directory, DIMENSIONS)
    choose = random.Random(seed)
    kept, empty = ResidentRows(), ResidentRows(0)
    versions: list[tuple[lance.LanceDataset, list[Sequence[ScoredChunk]]]] = []
    for kind in ["replace", *kinds, "replace"]:
        edit(writer, kind, choose)
        dataset = open_dataset(directory)
        stored = answers(LanceSnapshot(dataset, empty, directory))
        assert stored == answers(LanceSnapshot(dataset, kept, directory))  # with rows of the version before
        kept.load(dataset)
        versions.append((dataset, stored))
        for version, expected in versions[-2:]:
            assert expected == answers(LanceSnapshot(version, kept, directory))


def test_rows_in_memory_are_not_read_again(directory: Path, writer: ChunkWriter) -> None:
    writer.replace([file("f", f"{n}", *random_texts(3, n)) for n in range(20)])
    writer.maintain(finish=True)
    dataset = open_dataset(directory)
    resident = ResidentRows()
    resident.load(dataset)
    snapshot = LanceSnapshot(dataset, resident, directory)
    before = snapshot.semantic(unit(1), 5, EVERYTHING)
    for data in (directory / TABLE_DIRECTORY / "data").iterdir():
        data.unlink()
    assert snapshot.semantic(unit(1), 5, EVERYTHING) == before


def test_memory_stays_within_its_limit(directory: Path, writer: ChunkWriter) -> None:
    for n in range(6):
        writer.replace([file("f", f"{n}", *random_texts(200, n))])
    dataset = open_dataset(directory)
    everything = ResidentRows()
    everything.load(dataset)
    some, none = ResidentRows(everything.size // 2), ResidentRows(0)
    for resident in (some, none):
        resident.load(dataset)
    assert 0 < some.size <= everything.size // 2
    assert none.size == 0
    wanted = answers(LanceSnapshot(dataset, everything, directory))
    assert wanted == answers(LanceSnapshot(dataset, some, directory))
    assert wanted == answers(LanceSnapshot(dataset, none, directory))


def test_memory_follows_what_is_replaced_and_lets_go_of_it(directory: Path, writer: ChunkWriter) -> None:
    writer.replace([file("f", "a", *random_texts(300, 1)), file("g", "b", "one")])
    resident = ResidentRows()
    resident.load(open_dataset(directory))
    full = resident.size
    writer.delete_folder("f")
    writer.maintain(finish=True)
    dataset = open_dataset(directory)
    resident.load(dataset)
    assert 0 < resident.size < full / 10
    writer.delete_folder("g")
    resident.load(open_dataset(directory))
    assert resident.size == 0
    writer.replace([file("f", "a", "two")])
    dataset = open_dataset(directory)
    [found] = LanceSnapshot(dataset, resident, directory).lexical(["two"], 5, EVERYTHING)
    assert found.chunk.text == "two"


def test_a_row_deleted_since_is_still_there_for_an_older_snapshot(directory: Path, writer: ChunkWriter) -> None:
    writer.replace([file("f", "a", "one"), file("f", "b", "two")])
    before = open_dataset(directory)
    writer.replace([file("f", "a")])
    resident = ResidentRows()
    resident.load(open_dataset(directory))
    assert resident.size > 0
    snapshot = LanceSnapshot(before, resident, directory)
    assert [found.chunk.text for found in snapshot.lexical(["one"], 5, EVERYTHING)] == ["one"]
    assert [found.chunk.text for found in snapshot.semantic(unit("one"), 2, EVERYTHING)] == ["one", "two"]


def test_only_a_process_that_asks_again_reads_the_table(
    directory: Path, writer: ChunkWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer.replace([file("f", "a", "one")])
    loaded = threading.Event()
    monkeypatch.setattr(ResidentRows, "load", lambda _self, _dataset: loaded.set())
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
