"""Kills, concurrent reads, damaged files, full disks."""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import lance
import pytest

from everfind_core.errors import (
    EverfindError,
    IndexDamagedError,
    IndexLockedError,
    InvalidRequestError,
    ModelUnusableError,
    StorageError,
    StorageFullError,
)
from everfind_core.index.store_backends import StoreBackend
from everfind_core.index.store_schema import TABLE_DIRECTORY
from everfind_core.model import FileRef, Filters
from everfind_core.ports import ChunkReader, ChunkWriter, StoredChunk
from everfind_indexer.store import open_writer
from everfind_indexer.store.errors import translate as translate_for_writer
from everfind_searcher.store import open_reader
from everfind_searcher.store.errors import translate as translate_for_reader
from everfind_searcher.store.reader import LanceChunkReader
from tests.support.repository import ROOT
from tests.support.store_samples import DIMENSIONS, EVERYTHING, file, paths, random_texts, unit
from tests.support.write_forever import CHUNKS, PAIRS, pair


@contextmanager
def writing(directory: Path, first_turn: int, kind: StoreBackend) -> Iterator[None]:
    """A writer process that runs until the block ends, and is killed then."""
    command = [sys.executable, "-m", "tests.support.write_forever", str(directory), str(first_turn), kind]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == "ready\n"
            yield
            assert process.poll() is None
        finally:
            process.send_signal(signal.SIGKILL)


def check_whole(chunks: Sequence[StoredChunk]) -> None:
    """Every file is there with all its chunks once, of one turn, the same for both files of a pair."""
    files: dict[str, list[StoredChunk]] = defaultdict(list)
    for chunk in chunks:
        files[chunk.ref.path].append(chunk)
    assert sorted(files) == [f"{number}{side}" for number in range(PAIRS) for side in "ab"]
    turns: dict[str, set[str]] = defaultdict(set)
    for path, found in files.items():
        assert sorted(chunk.ordinal for chunk in found) == list(range(CHUNKS)), path
        turns[path[:-1]] |= {chunk.text.split()[1] for chunk in found}
    assert all(len(seen) == 1 for seen in turns.values()), turns


def check_all(reader: ChunkReader) -> None:
    check_whole([found.chunk for found in reader.lexical(["common"], 1_000, EVERYTHING)])
    check_whole([found.chunk for found in reader.semantic(unit("any"), 1_000, EVERYTHING)])


def fill(directory: Path, kind: StoreBackend) -> ChunkWriter:
    writer = open_writer(directory, DIMENSIONS, kind)
    writer.replace([file for number in range(PAIRS) for file in pair(number, 0)])
    writer.maintain(finish=True)
    return writer


@pytest.mark.slow
@pytest.mark.parametrize("kind", list(StoreBackend))
def test_readers_never_see_half_a_commit(directory: Path, kind: StoreBackend) -> None:
    fill(directory, kind).close()
    reader = open_reader(directory, backend=kind)
    first = reader.generation()
    with writing(directory, 1, kind):
        end = time.monotonic() + 60
        while reader.generation() <= first + 20:
            assert time.monotonic() < end
            check_all(reader)
            one = reader.file_chunks(FileRef("f", "3a"))
            assert [chunk.ordinal for chunk in one] == list(range(CHUNKS))
            assert len({chunk.text.split()[1] for chunk in one}) == 1


@pytest.mark.slow
@pytest.mark.parametrize("kind", list(StoreBackend))
def test_a_killed_writer_leaves_every_file_whole(directory: Path, kind: StoreBackend) -> None:
    fill(directory, kind).close()
    choose = random.Random(7)
    turn = 0
    for _ in range(5):
        turn += 10_000
        with writing(directory, turn, kind):
            time.sleep(choose.uniform(0.1, 0.6))
        check_all(open_reader(directory, backend=kind))
        writer = open_writer(directory, DIMENSIONS, kind)
        counts = writer.chunk_counts()
        assert {count for count, _ in counts.values()} == {CHUNKS}
        assert len(counts) == 2 * PAIRS
        writer.replace(pair(0, turn + 9_999))
        writer.maintain(finish=True)
        writer.close()
        check_all(open_reader(directory, backend=kind))


# --- damage -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("sound")
    writer = open_writer(directory, DIMENSIONS)
    writer.replace([file("f", f"{n}", text) for n, text in enumerate(random_texts(300, seed=2))])
    writer.maintain(finish=True)
    return directory


DAMAGED_FILES = (
    "data/*.lance",
    "_versions/*.manifest",
    "_indices/*/part_0_invert.lance",
    "_indices/*/part_0_docs.lance",
    "_indices/*/auxiliary.idx",
    "_indices/*/page_lookup.lance",
)


def damage(path: Path, how: str) -> None:
    content = path.read_bytes()
    if how == "gone":
        path.unlink()
    elif how == "garbage":
        path.write_bytes(random.Random(1).randbytes(len(content)))
    else:
        path.write_bytes(content[: len(content) // 2 if how == "half" else 0])


@pytest.mark.parametrize("how", ["gone", "empty", "half", "garbage"])
@pytest.mark.parametrize("pattern", DAMAGED_FILES)
def test_a_damaged_index_is_named_with_the_way_out(sound: Path, directory: Path, pattern: str, how: str) -> None:
    place = directory / "index"
    shutil.copytree(sound, place)
    for path in (place / TABLE_DIRECTORY).glob(pattern):
        damage(path, how)
    if (pattern, how) == ("_versions/*.manifest", "gone"):
        shutil.rmtree(place / TABLE_DIRECTORY / "_transactions")
    with pytest.raises(IndexDamagedError) as caught:
        read_everything(place)
    assert str(place) in caught.value.message
    assert "everfind doctor --repair" in caught.value.hint
    with suppress(IndexDamagedError):
        write_something(place)


@pytest.mark.parametrize("size", [0, 1, 10, 100])
def test_a_damaged_manifest_is_damage_for_both_sides(sound: Path, directory: Path, size: int) -> None:
    place = directory / "index"
    shutil.copytree(sound, place)
    for path in (place / TABLE_DIRECTORY / "_versions").glob("*.manifest"):
        path.write_bytes(path.read_bytes()[:size])
    for opened in (lambda: open_writer(place, DIMENSIONS), lambda: open_reader(place)):
        with pytest.raises(IndexDamagedError) as caught:
            opened()
        assert "everfind doctor --repair" in caught.value.hint


def read_everything(directory: Path) -> None:
    reader = open_reader(directory, resident_bytes=0)  # from the disk alone
    reader.semantic(unit(1), 5, Filters(folders=("f",)))
    reader.lexical(["w1", "w2"], 5, EVERYTHING)
    for number in range(20):
        reader.file_chunks(FileRef("f", f"{number}"))


def write_something(directory: Path) -> None:
    writer = open_writer(directory, DIMENSIONS)
    writer.chunk_counts()
    writer.vectors(["a"])
    writer.replace([file("f", "0", "new"), file("f", "1")])
    writer.maintain(finish=True)


# --- readers ----------------------------------------------------------------------------------------------------------


def test_vectors_that_no_index_can_be_made_of_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelUnusableError, match="12 numbers"):
        open_writer(tmp_path, 12)
    assert list(tmp_path.iterdir()) == []


def test_a_reader_writes_nothing(sound: Path, directory: Path) -> None:
    place = directory / "index"
    shutil.copytree(sound, place)
    entries = [place, *place.rglob("*")]
    for entry in entries:
        entry.chmod(0o555 if entry.is_dir() else 0o444)
    before = {entry: (entry.stat().st_mtime_ns, entry.stat().st_size) for entry in entries}
    read_everything(place)
    assert {entry: (entry.stat().st_mtime_ns, entry.stat().st_size) for entry in [place, *place.rglob("*")]} == before
    for entry in entries:
        entry.chmod(0o755)


def test_a_reader_whose_version_was_cleaned_up_goes_on(
    directory: Path, writer: ChunkWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("everfind_indexer.store.maintenance.KEEP_SECONDS", -1.0)
    writer.replace([file("f", "a", "one")])
    reader = LanceChunkReader(directory, 0)
    stale = reader._opened
    writer.replace([file("f", "a", "two")])
    writer.maintain(finish=True)
    with pytest.raises(Exception, match=r"[Nn]ot found"):
        stale.version.dataset.scanner(columns=["text"]).to_table()
    monkeypatch.setattr(reader, "_newest", lambda: stale)
    assert paths(reader.lexical(["two"], 5, EVERYTHING)) == {"a"}
    assert [chunk.text for chunk in reader.file_chunks(FileRef("f", "a"))] == ["two"]


def test_a_version_replaced_a_moment_ago_is_kept(directory: Path, writer: ChunkWriter) -> None:
    writer.replace([file("f", "a", "one")])
    held = lance.dataset(str(directory / TABLE_DIRECTORY))
    for turn in range(3):
        writer.replace([file("f", "a", f"two{turn}")])
        writer.maintain(finish=True)
    assert held.scanner(columns=["text"]).to_table()["text"].to_pylist() == ["one"]


# --- what lance says, and what it means -------------------------------------------------------------------------------

FULL = "LanceError(IO): No space left on device (os error 28), /x/lance/rust/lance-file/src/writer/structural.rs:191:9"
DENIED = (
    "LanceError(IO): Generic LocalFileSystem error: Unable to open file: Permission denied (os error 13), /x/l.rs:1:2"
)
GONE = "External error: Not found: tmp/index/chunks.lance/data/0101.lance, /home/x/rust/lance-io/src/local.rs:273:40"
SHORT = "External error: LanceError(IO): Generic LocalFileSystem error: failed to fill whole buffer, /rustc/f.rs:250:5"
CONFLICT = "Commit conflict for version 12: This Update transaction is incompatible with concurrent transaction"
REGEX = "Invalid user input: Error optimizing sql filter: regexp_like(path,'(') (regex parse error: unclosed group)"


@pytest.mark.parametrize(
    ("text", "expected", "message"),
    [
        (FULL, StorageFullError, "no space left in /index"),
        (DENIED, StorageError, "the index in /index cannot be read or written: Permission denied"),
        (GONE, IndexDamagedError, "the index in /index is damaged"),
        (SHORT, IndexDamagedError, "the index in /index is damaged"),
        (CONFLICT, IndexLockedError, "another process changed the index in /index during this write"),
        ("something new, /a/b.rs:1:2", StorageError, "the index in /index cannot be written: something new"),
    ],
)
def test_what_a_writer_makes_of_an_error(text: str, expected: type[EverfindError], message: str) -> None:
    error = translate_for_writer(OSError(text), Path("/index"))
    assert type(error) is expected
    assert error.message == message
    assert error.hint


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("something new", IndexDamagedError),
        (REGEX, IndexDamagedError),
        (FULL, StorageError),
        (DENIED, StorageError),
    ],
)
def test_what_both_make_of_an_error_on_opening(text: str, expected: type[EverfindError]) -> None:
    for translate in (translate_for_writer, translate_for_reader):
        assert isinstance(translate(OSError(text), Path("/index"), opening=True), expected)


def test_the_way_to_the_index_says_nothing_of_its_state() -> None:
    place = Path("/srv/sql regex corrupt/index")
    text = "no idea about srv/sql regex corrupt/index/chunks.lance"
    assert type(translate_for_writer(OSError(text), place)) is StorageError
    assert type(translate_for_reader(ValueError(text), place)) is IndexDamagedError


@pytest.mark.parametrize(
    ("text", "expected", "message"),
    [
        (DENIED, StorageError, "cannot read the index in /index: Permission denied"),
        (GONE, IndexDamagedError, "the index in /index is damaged"),
        (SHORT, IndexDamagedError, "the index in /index is damaged"),
        (REGEX, InvalidRequestError, "filters: a path glob is too long or too complex"),
    ],
)
def test_what_a_reader_makes_of_an_error(text: str, expected: type[EverfindError], message: str) -> None:
    error = translate_for_reader(ValueError(text), Path("/index"))
    assert type(error) is expected
    assert error.message == message
    assert error.hint


def test_an_unusable_place_is_a_storage_error(directory: Path) -> None:
    occupied = directory / "file"
    occupied.write_text("")
    for place in (occupied, directory / "new\nline"):
        with pytest.raises(StorageError, match="cannot"):
            open_writer(place, DIMENSIONS)
