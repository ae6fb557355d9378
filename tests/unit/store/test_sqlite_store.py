"""What is the SQLite store's own: generations in one file, upkeep, damage, and readers that may not write."""

from __future__ import annotations

import contextlib
import random
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from everfind_core.errors import IndexDamagedError, IndexIncompatibleError, StorageError, StorageFullError
from everfind_core.index.sqlite_schema import DATABASE
from everfind_core.index.store_backends import StoreBackend
from everfind_core.model import FileRef, Filters
from everfind_core.ports import ChunkWriter
from everfind_indexer.store import open_writer
from everfind_indexer.store.sqlite import upkeep
from everfind_indexer.store.sqlite.integrity import table_damage
from everfind_indexer.store.sqlite.salvage import copy_generation, salvage_table
from everfind_searcher.store.sqlite.reader import SqliteChunkReader
from tests.support.store_samples import DIMENSIONS, EVERYTHING, file, paths, places, random_texts, unit, with_vectors


@pytest.fixture
def kind() -> StoreBackend:
    return StoreBackend.SQLITE


def reader_of(directory: Path, resident_bytes: int = 0) -> SqliteChunkReader:
    return SqliteChunkReader(directory, resident_bytes)


def fragments(directory: Path) -> int:
    with contextlib.closing(sqlite3.connect(directory / DATABASE)) as db:
        (count,) = db.execute("SELECT count(*) FROM fragments WHERE removed IS NULL").fetchone()
    return int(count)


# --- generations ------------------------------------------------------------------------------------------------------


def test_a_snapshot_stays_as_it_was_whatever_upkeep_does(directory: Path, writer: ChunkWriter) -> None:
    for number in range(upkeep.SMALL_FRAGMENTS + 5):
        writer.replace([file("f", f"{number}", "common", f"own{number}")])
    reader = reader_of(directory)
    snapshot = reader.snapshot()
    before = places(snapshot.semantic(unit("common"), 100, EVERYTHING))
    writer.delete_folder("f")
    writer.replace([file("f", "new", "common")])
    writer.maintain(finish=True)
    assert places(snapshot.semantic(unit("common"), 100, EVERYTHING)) == before
    assert len(snapshot.lexical(["common"], 100, EVERYTHING)) == upkeep.SMALL_FRAGMENTS + 5
    assert [one.text for one in snapshot.file_chunks(FileRef("f", "3"))] == ["common", "own3"]
    assert paths(reader.lexical(["common"], 100, EVERYTHING)) == {"new"}


def test_a_snapshot_whose_rows_were_dropped_says_so(
    directory: Path, writer: ChunkWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer.replace([file("f", "a", "one")])
    snapshot = reader_of(directory).snapshot()
    writer.replace([file("f", "a", "two")])
    monkeypatch.setattr(upkeep, "KEEP_SECONDS", -1.0)
    writer.maintain(finish=True)
    for ask in (
        lambda: snapshot.lexical(["one"], 5, EVERYTHING),
        lambda: snapshot.semantic(unit("one"), 5, EVERYTHING),
        lambda: snapshot.file_chunks(FileRef("f", "a")),
    ):
        with pytest.raises(IndexDamagedError):
            ask()
    assert paths(reader_of(directory).lexical(["two"], 5, EVERYTHING)) == {"a"}


def test_rows_in_memory_give_what_the_file_gives(directory: Path, writer: ChunkWriter) -> None:
    choose = random.Random(4)
    memory, none = reader_of(directory, 1 << 30), reader_of(directory)
    for turn in range(6):
        names = [f"{choose.randrange(20)}" for _ in range(8)]
        writer.replace([file("f", name, *random_texts(3, choose.randrange(10**6)), tag=f"{turn}") for name in names])
        writer.maintain(finish=turn % 2 == 0)
        version = memory._newest()
        memory._resident.load(version)
        memory._resident.regroup(version)
        assert memory._resident.whole(version) is not None
        for where in (EVERYTHING, Filters(include=("1*",)), Filters(exclude=("2",))):
            nearest = [with_vectors(reader.semantic(unit(turn), 20, where)) for reader in (memory, none)]
            assert nearest[0] == nearest[1]
            assert memory.lexical(["w1", "w2"], 20, where) == none.lexical(["w1", "w2"], 20, where)


def test_after_any_save_scores_are_those_of_a_fresh_index(
    directory: Path, writer: ChunkWriter, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """What was replaced counts in no statistic, before any look at whole folders."""
    files = {n: file("f", f"{n}", *random_texts(3, n)) for n in range(20)}
    writer.replace(list(files.values()))
    for n in range(8):
        files[n] = file("f", f"{n}", *random_texts(3, 100 + n))
        writer.replace([files[n]])
        writer.maintain(finish=True)
    fresh = tmp_path_factory.mktemp("fresh")
    with contextlib.closing(open_writer(fresh, DIMENSIONS, StoreBackend.SQLITE)) as rebuilt:
        rebuilt.replace(list(files.values()))
    for n in range(5):
        terms = [f"w{n}", f"w{2 * n + 3}", "w7"]
        found, wanted = (reader_of(place).lexical(terms, 20, EVERYTHING) for place in (directory, fresh))
        assert found == wanted


# --- upkeep -----------------------------------------------------------------------------------------------------------


def test_small_fragments_are_joined_and_dead_rows_leave(directory: Path, writer: ChunkWriter) -> None:
    for number in range(upkeep.SMALL_FRAGMENTS + 1):
        writer.replace([file("f", f"{number}", f"text{number}")])
    writer.maintain(finish=True)
    assert fragments(directory) == 1
    writer.replace([file("f", f"{number}", f"new{number}") for number in range(20)])
    writer.maintain(finish=True)
    assert fragments(directory) == 2
    assert len(writer.chunk_counts()) == upkeep.SMALL_FRAGMENTS + 1
    assert table_damage(directory) == []


def test_a_long_run_joins_what_it_made(directory: Path, writer: ChunkWriter, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upkeep, "FIRST_JOIN_ROWS", 40)
    for number in range(20):
        writer.replace([file("f", f"{number}", *random_texts(10, number))])
        writer.maintain(finish=False)
    assert fragments(directory) < 8
    assert sum(count for count, _ in writer.chunk_counts().values()) == 200


@pytest.mark.slow
def test_many_small_edits_leave_the_file_little_larger_than_a_fresh_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upkeep, "KEEP_SECONDS", -1.0)
    monkeypatch.setattr("everfind_indexer.store.sqlite.writer._CLEANUP_SECONDS", 0.0)
    used, fresh = tmp_path / "used", tmp_path / "fresh"
    texts = {f"{number}": random_texts(5, number) for number in range(100)}
    for place in (used, fresh):
        place.mkdir()
    with contextlib.closing(open_writer(used, DIMENSIONS, StoreBackend.SQLITE)) as writer:
        writer.replace([file("f", name, *found) for name, found in texts.items()])
        writer.maintain(finish=True)
        for turn in range(100):
            name = f"{turn * 7 % 100}"
            texts[name] = random_texts(5, 1_000 + turn)
            writer.replace([file("f", name, *texts[name], tag=f"{turn}")])
            writer.maintain(finish=True)
        assert fragments(used) <= upkeep.SMALL_FRAGMENTS + 1
    with contextlib.closing(open_writer(fresh, DIMENSIONS, StoreBackend.SQLITE)) as writer:
        writer.replace([file("f", name, *found) for name, found in texts.items()])
        writer.maintain(finish=True)
    sizes = [(place / DATABASE).stat().st_size for place in (used, fresh)]
    assert sizes[0] <= 1.5 * sizes[1]
    old, new = (reader_of(place) for place in (used, fresh))
    for terms in (["w1"], ["w5", "w70"], ["w2", "w2", "w300"]):
        found = [
            [(one.chunk.ref, one.chunk.ordinal, one.score) for one in reader.lexical(terms, 50, EVERYTHING)]
            for reader in (old, new)
        ]
        assert found[0] == found[1]


def test_a_purge_leaves_nothing_of_what_was_removed(directory: Path, writer: ChunkWriter) -> None:
    writer.replace([file("kept", f"k{n}", text) for n, text in enumerate(random_texts(100, 1))])
    writer.replace([file("gone", "secret", *(f"unspeakable{n} words" for n in range(30))), file("kept", "more", "yak")])
    writer.delete_folder("gone")
    writer.maintain(finish=True)
    writer.purge()
    content = b"".join(path.read_bytes() for path in directory.iterdir())
    assert b"unspeakable" not in content
    assert np.asarray(unit("unspeakable7 words")).astype(np.float16).tobytes() not in content
    assert b"yak" in content
    assert table_damage(directory) == []
    reader = reader_of(directory)
    assert paths(reader.lexical(["yak"], 5, EVERYTHING)) == {"more"}
    assert len(writer.chunk_counts()) == 101
    writer.replace([file("kept", "k1", "xerus")])
    assert paths(reader.lexical(["xerus"], 5, EVERYTHING)) == {"k1"}


# --- readers that may not write, writers that die ---------------------------------------------------------------------


def test_a_reader_writes_nothing(directory: Path, writer: ChunkWriter) -> None:
    writer.replace([file("f", "a", "one", "two")])
    writer.close()
    entries = [directory, *directory.iterdir()]
    before = {entry: (entry.stat().st_mtime_ns, entry.stat().st_size) for entry in entries}
    reader = reader_of(directory)
    assert reader.semantic(unit("one"), 5, EVERYTHING)
    assert reader.lexical(["one"], 5, EVERYTHING)
    assert {
        entry: (entry.stat().st_mtime_ns, entry.stat().st_size) for entry in [directory, *directory.iterdir()]
    } == before


DIES_IN_A_COMMIT = """
import os, signal, sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("PRAGMA journal_mode = TRUNCATE")
db.execute("PRAGMA cache_size = 1")
db.execute("BEGIN IMMEDIATE")
db.execute("DELETE FROM chunks")
db.execute("DELETE FROM texts")
db.execute("UPDATE facts SET value = value + 1")
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_process_died_in_is_undone_by_the_next_reader(directory: Path, writer: ChunkWriter) -> None:
    writer.replace([file("f", f"{n}", *random_texts(20, n), tag="x" * 500) for n in range(40)])
    writer.close()
    held = reader_of(directory)
    before = held.lexical(["w1"], 50, EVERYTHING)
    died = subprocess.run([sys.executable, "-c", DIES_IN_A_COMMIT, str(directory / DATABASE)], check=False)
    assert died.returncode == -signal.SIGKILL
    assert (directory / f"{DATABASE}-journal").stat().st_size
    for reader in (held, reader_of(directory)):
        assert reader.lexical(["w1"], 50, EVERYTHING) == before
    assert table_damage(directory) == []


@pytest.fixture
def mounted_read_only(directory: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The directory once more, as a volume that may only be read."""
    place = tmp_path_factory.mktemp("mounted")
    mounts = (["mount", "--bind", str(directory), str(place)], ["mount", "-o", "remount,bind,ro", str(place)])
    if any(subprocess.run(mount, check=False).returncode for mount in mounts):
        pytest.skip("cannot mount a directory here (needs root)")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def test_a_volume_that_is_mounted_read_only_shows_each_commit_at_once(
    directory: Path, writer: ChunkWriter, mounted_read_only: Path
) -> None:
    reader = reader_of(mounted_read_only)
    for turn in range(3):
        writer.replace([file("f", "a", f"text{turn}", tag="x" * 500)])
        assert paths(reader.lexical([f"text{turn}"], 5, EVERYTHING)) == {"a"}
        assert reader.generation() == writer.generation()
    writer.replace([file("f", f"{n}", *random_texts(20, n), tag="x" * 500) for n in range(40)])
    writer.close()
    died = subprocess.run([sys.executable, "-c", DIES_IN_A_COMMIT, str(directory / DATABASE)], check=False)
    assert died.returncode == -signal.SIGKILL
    with pytest.raises(StorageError, match="a process died while it wrote there"):
        reader.lexical(["text2"], 5, EVERYTHING)
    open_writer(directory, DIMENSIONS, StoreBackend.SQLITE).close()
    assert paths(reader.lexical(["text2"], 5, EVERYTHING)) == {"a"}


def test_a_reader_beside_an_interrupted_commit_that_it_cannot_undo_says_so(
    directory: Path, writer: ChunkWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer.replace([file("f", f"{n}", *random_texts(20, n), tag="x" * 500) for n in range(40)])
    writer.close()
    subprocess.run([sys.executable, "-c", DIES_IN_A_COMMIT, str(directory / DATABASE)], check=False)
    real = sqlite3.connect

    def read_only(place: str, **options: object) -> sqlite3.Connection:
        return real(place.replace("mode=rw", "mode=ro"), **options)  # type: ignore[call-overload,no-any-return]  # as it is called

    monkeypatch.setattr("everfind_core.index.sqlite_files.sqlite3.connect", read_only)
    with pytest.raises(StorageError, match="a process died while it wrote there") as caught:
        reader_of(directory)
    assert "everfind index" in caught.value.hint


def test_a_full_disk_loses_nothing(directory: Path, writer: ChunkWriter) -> None:
    writer.replace([file("f", "a", "one")])
    assert isinstance(writer._db, sqlite3.Connection)  # type: ignore[attr-defined]  # the writer of this store
    (pages,) = writer._db.execute("PRAGMA page_count").fetchone()  # type: ignore[attr-defined]  # as above
    writer._db.execute(f"PRAGMA max_page_count = {pages + 3}")  # type: ignore[attr-defined]  # as above
    generation = writer.generation()
    with pytest.raises(StorageFullError, match="no space left"):
        writer.replace([file("f", f"{n}", *random_texts(20, n)) for n in range(40)])
    assert writer.generation() == generation == reader_of(directory).generation()
    writer._db.execute("PRAGMA max_page_count = 1000000")  # type: ignore[attr-defined]  # as above
    writer.replace([file("f", "b", "two")])
    assert paths(reader_of(directory).lexical(["one", "two"], 5, EVERYTHING)) == {"a", "b"}


# --- damage -----------------------------------------------------------------------------------------------------------


def filled(directory: Path) -> None:
    with contextlib.closing(open_writer(directory, DIMENSIONS, StoreBackend.SQLITE)) as writer:
        for start in range(0, 60, 20):
            writer.replace([file("f", f"{n}", *random_texts(4, n)) for n in range(start, start + 20)])
        writer.replace([file("f", "5", "another"), file("f", "6")])


@pytest.mark.parametrize("how", ["empty", "half", "garbage"])
def test_a_damaged_file_is_named_with_the_way_out(directory: Path, how: str) -> None:
    filled(directory)
    path = directory / DATABASE
    content = path.read_bytes()
    made = {"empty": b"", "half": content[: len(content) // 2], "garbage": random.Random(1).randbytes(len(content))}
    path.write_bytes(made[how])
    for opened in (
        lambda: open_writer(directory, DIMENSIONS, StoreBackend.SQLITE).chunk_counts(),
        lambda: reader_of(directory).lexical(["w1"], 5, EVERYTHING),
        lambda: table_damage(directory),
    ):
        with pytest.raises(IndexDamagedError) as caught:
            opened()
        assert str(directory) in caught.value.message
        assert "everfind doctor --repair" in caught.value.hint


def answers(directory: Path) -> object:
    reader = reader_of(directory)
    found = [reader.lexical([f"w{n}"], 200, EVERYTHING) for n in range(0, 60, 6)]
    return found, reader.semantic(unit(1), 300, EVERYTHING), reader.naming(["w1"], 10, EVERYTHING)


@pytest.mark.parametrize("seed", range(3))
def test_a_flipped_bit_changes_no_answer_or_is_told(directory: Path, seed: int) -> None:
    filled(directory)
    path = directory / DATABASE
    content, right = path.read_bytes(), answers(directory)
    choose = random.Random(seed)
    for _ in range(25):
        place, bit = choose.randrange(len(content)), 1 << choose.randrange(8)
        path.write_bytes(content[:place] + bytes([content[place] ^ bit]) + content[place + 1 :])
        try:
            same = answers(directory) == right
            told = bool(table_damage(directory))
        except (IndexDamagedError, IndexIncompatibleError, StorageError):
            continue
        assert same or told, (place, bit)
    path.write_bytes(content)


def test_whole_fragments_outlive_a_damaged_one(directory: Path) -> None:
    old, new = directory / "old", directory / "new"
    old.mkdir()
    new.mkdir()
    filled(old)
    with contextlib.closing(sqlite3.connect(old / DATABASE)) as db:
        db.execute("UPDATE texts SET text = 'another' WHERE address = (SELECT min(address) FROM texts)")
        db.commit()
    assert [problem for _, problem in table_damage(old)] == ["does not hold what was written in 1 of 4 fragments"]
    generation = salvage_table(old, new)
    assert generation == reader_of(old).generation()
    assert table_damage(new) == []
    with contextlib.closing(open_writer(new, DIMENSIONS, StoreBackend.SQLITE)) as writer:
        assert set(writer.chunk_counts()) == {FileRef("f", f"{n}") for n in range(20, 60)} | {FileRef("f", "5")}
        assert writer.generation() > generation
    (old / DATABASE).write_bytes(b"")
    assert salvage_table(old, directory) == 0


def test_a_copy_is_of_one_generation_whatever_was_written_since(directory: Path, writer: ChunkWriter) -> None:
    writer.replace([file("f", f"{n}", *random_texts(4, n)) for n in range(20)])
    writer.replace([file("f", "3", "later")])
    generation, right = writer.generation(), answers(directory)
    writer.replace([file("f", "4", "later still"), file("f", "5"), file("f", "new", "new")])
    writer.replace([file("f", f"{n}", "all") for n in range(20)])
    writer.maintain(finish=True)
    copy = directory / "copy"
    copy.mkdir()
    copy_generation(directory, copy, generation)
    assert reader_of(copy).generation() == generation
    assert answers(copy) == right
    assert table_damage(copy) == []
    with pytest.raises(ValueError, match="is not there"):
        copy_generation(directory, copy, writer.generation() + 1)


def test_a_file_with_a_schema_of_its_own_is_refused(directory: Path, writer: ChunkWriter) -> None:
    writer.close()
    with contextlib.closing(sqlite3.connect(directory / DATABASE)) as db:
        db.execute("CREATE TRIGGER planted AFTER INSERT ON chunks BEGIN DELETE FROM texts; END")
    for opened in (lambda: open_writer(directory, DIMENSIONS, StoreBackend.SQLITE), lambda: reader_of(directory)):
        with pytest.raises(IndexIncompatibleError):
            opened()


def test_a_file_that_may_not_be_read_is_a_storage_error(directory: Path, writer: ChunkWriter) -> None:
    writer.close()
    (directory / DATABASE).unlink()
    (directory / DATABASE).mkdir()
    with pytest.raises(StorageError, match="cannot read the index"):
        reader_of(directory)
