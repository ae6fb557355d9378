"""What writer and reader promise together (the ports' docstrings)."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from everfind_core.errors import (
    IndexDamagedError,
    IndexIncompatibleError,
    IndexLockedError,
    IndexMissingError,
    InternalError,
    InvalidRequestError,
)
from everfind_core.index.store_backends import StoreBackend
from everfind_core.index.store_schema import TABLE, TABLE_DIRECTORY
from everfind_core.lifecycle import Fate
from everfind_core.model import FileRef, Filters
from everfind_core.ports import ChunkWriter, FileChunks
from everfind_indexer.store import open_writer
from everfind_searcher.store import open_reader
from tests.support.store_samples import (
    DIMENSIONS,
    EVERYTHING,
    HOSTILE_NAMES,
    chunk,
    file,
    paths,
    places,
    random_texts,
    unit,
)


@pytest.fixture(params=list(StoreBackend))
def kind(request: pytest.FixtureRequest) -> StoreBackend:
    return StoreBackend(request.param)


def test_an_empty_store_answers_with_nothing(kind: StoreBackend, directory: Path, writer: ChunkWriter) -> None:
    reader = open_reader(directory, backend=kind)
    assert writer.chunk_counts() == {} == writer.unembedded()
    assert writer.vectors(["a", "b"]) == {}
    assert list(reader.semantic(unit(1), 5, EVERYTHING)) == []
    assert list(reader.lexical(["w1"], 5, EVERYTHING)) == []
    assert list(reader.file_chunks(FileRef("a", "b"))) == []


def test_every_field_comes_back(kind: StoreBackend, directory: Path, writer: ChunkWriter) -> None:
    ref = FileRef("notes", "adr/one.md")
    stored = replace(
        chunk(ref, 3, "alpha beta"),
        symbol="Class.method",
        kind="method",
        language="markdown",
        heading="A > B",
        status="superseded",
        date="2026-03-01",
        successor="adr/two.md",
        page=7,
    )
    writer.replace([FileChunks(ref, (stored,))])
    [back] = open_reader(directory, backend=kind).file_chunks(ref)
    assert stored.vector is not None
    assert back.vector is not None
    np.testing.assert_array_equal(back.vector, stored.vector.astype(np.float16))
    assert replace(back, vector=None) == replace(stored, vector=None)
    [found] = open_reader(directory, backend=kind).semantic(stored.vector.astype(np.float32), 1, EVERYTHING)
    assert found.chunk == replace(stored, vector=None, terms="")
    assert found.vector is not None
    np.testing.assert_array_equal(found.vector(), stored.vector.astype(np.float16).astype(np.float32))


@pytest.mark.parametrize("indexed", [False, True])
def test_both_arms_find_what_was_written(
    kind: StoreBackend, directory: Path, writer: ChunkWriter, *, indexed: bool
) -> None:
    writer.replace([file("f", "a.py", "red green", "blue"), file("f", "b.py", "red red yellow", has_vectors=False)])
    if indexed:
        writer.maintain(finish=True)
    reader = open_reader(directory, backend=kind)
    found = reader.semantic(unit("blue"), 10, EVERYTHING)
    assert places(found) == [("f", "a.py", 1), ("f", "a.py", 0)]
    expected = [1.0, float(unit("blue") @ unit("red green"))]
    np.testing.assert_allclose([f.score for f in found], expected, atol=1e-3)
    assert places(reader.lexical(["red"], 10, EVERYTHING)) == [("f", "b.py", 0), ("f", "a.py", 0)]
    assert places(reader.lexical(["yellow", "blue", "absent"], 10, EVERYTHING)) == [("f", "a.py", 1), ("f", "b.py", 0)]
    assert len(reader.lexical(["red"], 1, EVERYTHING)) == 1


def test_replace_takes_the_place_of_all_old_chunks(kind: StoreBackend, directory: Path, writer: ChunkWriter) -> None:
    writer.replace([file("f", "a", "one", "two", "three"), file("f", "b", "four"), file("g", "a", "five")])
    writer.maintain(finish=True)
    reader = open_reader(directory, backend=kind)
    before = reader.generation()
    writer.replace([file("f", "a", "six", tag="new"), file("g", "a"), file("f", "new", "seven")])
    assert reader.generation() > before
    assert [c.text for c in reader.file_chunks(FileRef("f", "a"))] == ["six"]
    assert [c.text for c in reader.file_chunks(FileRef("f", "b"))] == ["four"]
    assert list(reader.file_chunks(FileRef("g", "a"))) == []
    assert not reader.lexical(["one", "two", "three", "five"], 10, EVERYTHING)
    assert writer.chunk_counts() == {
        FileRef("f", "a"): (1, "hash a new"),
        FileRef("f", "b"): (1, "hash b "),
        FileRef("f", "new"): (1, "hash new "),
    }


@pytest.mark.parametrize(("more", "dropped"), [(-9, False), (0, False), (1, False), (9, False), (9, True)])
def test_a_table_that_was_put_back_from_a_copy_is_read_anew(
    kind: StoreBackend,
    directory: Path,
    writer: ChunkWriter,
    tmp_path_factory: pytest.TempPathFactory,
    more: int,
    dropped: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whatever number the newest commit has, and where upkeep has dropped the one of the number that was seen."""
    writer.replace([file("f", "a", "one")])
    writer.maintain(finish=True)
    writer.close()
    copy = tmp_path_factory.mktemp("copy")
    shutil.copytree(directory, copy, dirs_exist_ok=True)
    reader: Any = open_reader(directory, backend=kind)
    later = open_writer(directory, DIMENSIONS, kind)
    for name, text in (("b", "three"), ("c", "five")):
        later.replace([file("f", name, text)])
        later.maintain(finish=True)
    later.close()
    assert len(reader.lexical(["three"], 5, EVERYTHING)) == 1
    while not reader.lexical(["three"], 5, EVERYTHING) or not reader._resident.size:
        time.sleep(0.01)  # until rows are in memory
    before = reader.snapshot()
    _put_back(copy, directory)
    again = open_writer(directory, DIMENSIONS, kind)
    again.replace([file("f", "b", "four")])
    again.maintain(finish=True)
    while open_reader(directory, backend=kind).generation() < before.generation() + more:
        again.replace([file("f", "x", "more")])  # numbers that were seen are given anew
    if dropped:
        for upkeep in ("store.maintenance", "store.sqlite.upkeep"):
            monkeypatch.setattr(f"everfind_indexer.{upkeep}.KEEP_SECONDS", -1.0)
        open_writer(directory, DIMENSIONS, kind).maintain(finish=True)
    for _ in range(2):
        found = reader.lexical(["one", "three", "four"], 5, EVERYTHING)
        assert sorted(hit.chunk.text for hit in found) == ["four", "one"]
        assert {hit.chunk.text for hit in reader.semantic(unit("b"), 5, EVERYTHING)} <= {"one", "four", "more"}
    with suppress(IndexDamagedError):  # what a question began with, it goes on with, or not at all
        assert {hit.chunk.text for hit in before.semantic(unit("b"), 5, EVERYTHING)} == {"one", "three", "five"}


def _put_back(copy: Path, directory: Path) -> None:
    newer = [path for path in directory.rglob("*") if not (copy / path.relative_to(directory)).exists()]
    for path in newer:
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    shutil.copytree(copy, directory, dirs_exist_ok=True)


def test_the_fates_that_rows_have_are_those_that_were_given_last(writer: ChunkWriter) -> None:
    writer.replace([file("f", name, "one", "two") for name in "abc"])
    assert writer.fates() == {}
    replaced = Fate("superseded", "2026-03-01", (FileRef("f", "b"), FileRef("g", "x y")))
    writer.restate({FileRef("f", "a"): replaced, FileRef("f", "b"): Fate("accepted")})
    assert writer.fates() == {FileRef("f", "a"): replaced, FileRef("f", "b"): Fate("accepted")}
    writer.replace([file("f", "a", "one", "two")])
    assert writer.fates() == {FileRef("f", "b"): Fate("accepted")}


def test_a_batch_is_one_commit(kind: StoreBackend, directory: Path, writer: ChunkWriter) -> None:
    writer.replace([file("f", "a", "one"), file("f", "b", "two")])
    before = writer.generation()
    writer.replace([file("f", "a", "three"), file("f", "b"), file("f", "c", "four")])
    assert writer.generation() == before + 1 == open_reader(directory, backend=kind).generation()


def test_nothing_to_do_is_no_commit(writer: ChunkWriter) -> None:
    before = writer.generation()
    writer.replace([])
    writer.replace([file("f", "absent")])
    writer.delete_folder("absent")
    writer.maintain(finish=False)
    writer.maintain(finish=True)
    assert writer.generation() == before


def test_the_later_of_two_entries_for_a_file_counts(kind: StoreBackend, directory: Path, writer: ChunkWriter) -> None:
    writer.replace([file("f", "a", "one"), file("f", "a", "two")])
    assert [c.text for c in open_reader(directory, backend=kind).file_chunks(FileRef("f", "a"))] == ["two"]


def test_a_folder_is_deleted_alone(kind: StoreBackend, directory: Path, writer: ChunkWriter) -> None:
    writer.replace([file(folder, "a", "one") for folder in ("f", "F", "f'", "g%", "gx")])
    writer.maintain(finish=True)
    for folder in ("f'", "g%"):
        before = writer.generation()
        writer.delete_folder(folder)
        assert writer.generation() == before + 1
    assert {ref.folder for ref in writer.chunk_counts()} == {"f", "F", "gx"}
    assert len(open_reader(directory, backend=kind).lexical(["one"], 10, EVERYTHING)) == 3


def test_a_store_can_be_emptied_and_filled_again(kind: StoreBackend, directory: Path, writer: ChunkWriter) -> None:
    writer.replace([file("f", "a", "one", "two")])
    writer.maintain(finish=True)
    writer.delete_folder("f")
    writer.maintain(finish=True)
    writer.replace([file("f", "b", "three", has_vectors=False)])
    writer.maintain(finish=True)
    reader = open_reader(directory, backend=kind)
    assert paths(reader.lexical(["three"], 5, EVERYTHING)) == {"b"}
    assert not reader.semantic(unit(1), 5, EVERYTHING)
    writer.replace([file("f", "c", "four")])
    writer.maintain(finish=True)
    assert paths(reader.semantic(unit("four"), 5, EVERYTHING)) == {"c"}


@pytest.mark.parametrize("has_vectors", [True, False])
def test_hostile_names_are_just_names(
    kind: StoreBackend, directory: Path, writer: ChunkWriter, *, has_vectors: bool
) -> None:
    files = [file(name, name, f"text{n} common", has_vectors=has_vectors) for n, name in enumerate(HOSTILE_NAMES)]
    writer.replace(files)
    writer.maintain(finish=True)
    reader = open_reader(directory, backend=kind)
    for number, name in enumerate(HOSTILE_NAMES):
        ref = FileRef(name, name)
        assert [c.terms for c in reader.file_chunks(ref)] == [f"text{number} common"]
        assert paths(reader.lexical(["common"], 100, Filters(folders=(name,)))) == {name}
        for where in (Filters(languages=(name,)), Filters(kinds=(name,)), Filters(statuses=(name,))):
            assert not reader.lexical(["common"], 100, where)
    for number, name in enumerate(HOSTILE_NAMES):
        writer.replace([FileChunks(FileRef(name, name))])
        assert len(writer.chunk_counts()) == len(HOSTILE_NAMES) - number - 1


def test_hostile_values_round_trip(kind: StoreBackend, directory: Path, writer: ChunkWriter) -> None:
    for number, value in enumerate(HOSTILE_NAMES):
        writer.replace([file("f", f"{number}", "text", language=value, kind=value, status=value, date=value)])
    reader = open_reader(directory, backend=kind)
    for number, value in enumerate(HOSTILE_NAMES):
        where = Filters(languages=(value,), kinds=(value,), statuses=(value,), include=(f"{number}",))
        assert paths(reader.lexical(["text"], 100, where)) == {f"{number}"}
    assert writer.vectors(HOSTILE_NAMES) == {}


@pytest.mark.parametrize(
    "terms",
    [
        [],
        [""],
        [" "],
        ["\0"],
        ["'"],
        ['"unclosed'],
        ["a:b", "(", ")", "AND", "OR", "NOT", "+", "-", "*", "~2", "^9", "/x/", "\\"],
        ["\ud800"],
        ["\U0001f600" * 50],
        ["x" * 10_000],
        [f"t{n}" for n in range(2_000)],
    ],
)
def test_no_terms_break_the_lexical_arm(
    kind: StoreBackend, directory: Path, writer: ChunkWriter, terms: list[str]
) -> None:
    writer.replace([file("f", "a", "plain words")])
    writer.maintain(finish=True)
    reader = open_reader(directory, backend=kind)
    assert list(reader.lexical(terms, 5, EVERYTHING)) == []
    assert len(reader.lexical([*terms, "plain"], 5, EVERYTHING)) == 1


@pytest.mark.parametrize("term", ["err_token_expired", "ÜBER", "über", "認証", "x" * 300, "a'b", "1.0.21", "--flag"])
def test_a_term_is_found_as_it_was_stored(kind: StoreBackend, directory: Path, writer: ChunkWriter, term: str) -> None:
    writer.replace([file("f", "a", f"the {term} and"), file("f", "b", "the and")])
    for _ in range(2):
        reader = open_reader(directory, backend=kind)
        assert paths(reader.lexical([term], 5, EVERYTHING)) == {"a"}
        assert not reader.lexical([term.swapcase()], 5, EVERYTHING) or term.swapcase() == term
        assert paths(reader.lexical(["the"], 5, EVERYTHING)) == {"a", "b"}
        writer.maintain(finish=True)


def test_vectors_are_looked_up_by_embedding_key(writer: ChunkWriter) -> None:
    texts = random_texts(3_000, seed=1)
    writer.replace(
        [file("f", "a", *texts), file("f", "same", texts[0]), file("f", "waits", "no vector yet", has_vectors=False)]
    )
    keys = {c.embedding_key: c.text for c in file("f", "a", *texts).chunks}
    waiting = file("f", "waits", "no vector yet").chunks[0].embedding_key
    for _ in range(2):
        found = writer.vectors([*keys, *keys, "absent", waiting])
        assert found.keys() == keys.keys()
        for key, vector in found.items():
            assert vector.dtype == np.float16
            np.testing.assert_array_equal(vector, unit(keys[key]).astype(np.float16))
        writer.maintain(finish=True)


def test_files_come_back_whole_and_tell_what_waits_for_vectors(
    kind: StoreBackend, directory: Path, writer: ChunkWriter
) -> None:
    done = file("f", "done", "one", "two", symbol="here")
    half = file("f", "it's half", "three", "four", status="accepted")
    half = replace(half, chunks=(half.chunks[0], replace(half.chunks[1], vector=None)))
    waits = file("g", "waits", *random_texts(30, seed=2), has_vectors=False)
    writer.replace([done, half, waits])
    refs = [done.ref, half.ref, waits.ref, FileRef("f", "absent")]
    for _ in range(2):
        found = writer.file_chunks(refs)
        assert found.keys() == {done.ref, half.ref, waits.ref}
        assert found[waits.ref] == waits.chunks
        for written in (done, half):
            for back, chunk_ in zip(found[written.ref], written.chunks, strict=True):
                assert replace(back, vector=None) == replace(chunk_, vector=None)
        assert [c.vector is None for c in found[half.ref]] == [False, True]
        np.testing.assert_array_equal(found[half.ref][0].vector, unit("three").astype(np.float16))
        assert writer.file_chunks([]) == {}
        assert writer.unembedded() == {half.ref: 1, waits.ref: 30}
        assert open_reader(directory, backend=kind).unembedded(refs) == {half.ref, waits.ref}
        assert open_reader(directory, backend=kind).unembedded([done.ref]) == frozenset()
        assert open_reader(directory, backend=kind).unembedded([]) == frozenset()
        writer.maintain(finish=True)
    writer.replace([file("f", "it's half", "three", "four")])
    assert writer.unembedded() == {waits.ref: 30}


@pytest.mark.parametrize("bad", [np.full(DIMENSIONS, np.nan), np.full(DIMENSIONS, 1e6), np.zeros(DIMENSIONS + 8)])
def test_a_bad_vector_is_refused_and_nothing_is_written(
    writer: ChunkWriter, bad: np.ndarray[tuple[int], np.dtype[np.float64]]
) -> None:
    good = file("f", "good", "one")
    broken = FileChunks(FileRef("f", "bad"), (replace(chunk(FileRef("f", "bad"), 0, "x"), vector=bad),))
    with pytest.raises(InternalError, match="the vector of chunk"):
        writer.replace([good, broken])
    assert writer.chunk_counts() == {}


def test_a_query_vector_must_fit(kind: StoreBackend, directory: Path, writer: ChunkWriter) -> None:
    writer.replace([file("f", "a", "one")])
    reader = open_reader(directory, backend=kind)
    assert list(reader.semantic(np.zeros(DIMENSIONS, np.float32), 5, EVERYTHING)) == []
    assert list(reader.semantic(unit(1), 0, EVERYTHING)) == []
    assert list(reader.lexical(["one"], 0, EVERYTHING)) == []
    with pytest.raises(InvalidRequestError, match="the index has 16 numbers"):
        reader.semantic(np.ones(3, np.float32), 5, EVERYTHING)
    with pytest.raises(InvalidRequestError, match="not finite"):
        reader.semantic(np.full(DIMENSIONS, np.inf, np.float32), 5, EVERYTHING)


@pytest.mark.parametrize("limit", [1, 7, 40])
def test_equal_scores_are_ordered_by_place(
    kind: StoreBackend, directory: Path, writer: ChunkWriter, limit: int
) -> None:
    names = [f"{n:03}" for n in range(120)]
    for start in range(0, 120, 30):
        writer.replace(
            [file(folder, name, "same text") for name in reversed(names[start : start + 30]) for folder in "ba"]
        )
        writer.maintain(finish=True)
    reader = open_reader(directory, backend=kind)
    expected = [(folder, name, 0) for folder in "ab" for name in names][:limit]
    assert places(reader.semantic(unit("same text"), limit, EVERYTHING)) == expected
    assert places(reader.lexical(["same"], limit, EVERYTHING)) == expected


def test_a_reader_sees_new_generations_by_itself(kind: StoreBackend, directory: Path, writer: ChunkWriter) -> None:
    reader = open_reader(directory, backend=kind)
    for number in range(5):
        writer.replace([file("f", "a", f"text{number}")])
        assert reader.generation() == writer.generation()
        assert len(reader.lexical([f"text{number}"], 5, EVERYTHING)) == 1
        writer.maintain(finish=number % 2 == 0)
        assert reader.generation() == writer.generation()
        assert len(reader.semantic(unit(f"text{number}"), 5, EVERYTHING)) == 1


def test_the_store_opens_again_with_what_it_had(kind: StoreBackend, directory: Path, writer: ChunkWriter) -> None:
    writer.replace([file("f", "a", "one"), file("f", "b", "two")])
    again = open_writer(directory, DIMENSIONS, kind)
    assert again.generation() == writer.generation()
    again.replace([file("f", "a")])
    assert set(again.chunk_counts()) == {FileRef("f", "b")}


def test_two_writers_do_not_lose_or_double_rows(kind: StoreBackend, directory: Path, writer: ChunkWriter) -> None:
    writer.replace([file("f", "a", "one"), file("f", "b", "two")])
    other = open_writer(directory, DIMENSIONS, kind)
    writer.replace([file("f", "a", "three")])
    with pytest.raises(IndexLockedError, match="another process changed the index"):
        other.replace([file("f", "a", "four")])
    assert [c.text for c in open_reader(directory, backend=kind).file_chunks(FileRef("f", "a"))] == ["three"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", [StoreBackend.LANCEDB])
def test_it_is_an_ordinary_lancedb_table(kind: StoreBackend, directory: Path, writer: ChunkWriter) -> None:
    lancedb = pytest.importorskip("lancedb")
    writer.replace([file("f", "a", "one two"), file("f", "b", "three")])
    writer.maintain(finish=True)
    table = lancedb.connect(directory).open_table(TABLE)
    assert table.count_rows() == 2
    hits = table.search(unit("three")).distance_type("cosine").nprobes(1).refine_factor(2).limit(1).to_list()
    assert [hit["path"] for hit in hits] == ["b"]
    assert [hit["path"] for hit in table.search("two", query_type="fts").limit(5).to_list()] == ["a"]


def test_a_missing_table_is_a_missing_index(kind: StoreBackend, directory: Path) -> None:
    for place in (directory, directory / "absent"):
        with pytest.raises(IndexMissingError, match="there is no index in"):
            open_reader(place, backend=kind)
    (directory / TABLE_DIRECTORY).mkdir()
    with pytest.raises(IndexMissingError, match="there is no index in"):
        open_reader(directory, backend=kind)


def test_other_dimensions_are_refused(kind: StoreBackend, directory: Path, writer: ChunkWriter) -> None:
    with pytest.raises(IndexIncompatibleError, match="other columns or vectors"):
        open_writer(directory, DIMENSIONS + 8, kind)


@pytest.mark.parametrize("name", ["sp ace", "per%20cent", "ha#sh?x=1", "s3:", "é😀", "quo'te\"", "[x]*"])
def test_the_index_may_lie_anywhere(kind: StoreBackend, directory: Path, name: str) -> None:
    place = directory / name
    place.mkdir()
    opened = open_writer(place, DIMENSIONS, kind)
    opened.replace([file("f", "a", "one")])
    opened.maintain(finish=True)
    assert len(open_reader(place, backend=kind).lexical(["one"], 5, EVERYTHING)) == 1
    assert sorted(p.name for p in directory.iterdir()) == [name]


def test_calls_from_many_threads(kind: StoreBackend, directory: Path, writer: ChunkWriter) -> None:
    texts = random_texts(400, seed=3)
    writer.replace([file("f", f"{n}", text) for n, text in enumerate(texts)])
    writer.maintain(finish=True)
    reader = open_reader(directory, backend=kind)
    expected = [places(reader.semantic(unit(text), 5, EVERYTHING)) for text in texts[:20]]
    failures: list[object] = []

    def ask(number: int) -> None:
        for turn in range(10):
            got: Sequence[tuple[str, str, int]] = places(reader.semantic(unit(texts[number]), 5, EVERYTHING))
            if got != expected[number] or not reader.lexical(texts[number].split(), 5, EVERYTHING):
                failures.append((number, turn, got))

    def write() -> None:
        for turn in range(10):
            writer.replace([file("g", "moving", f"zz{turn}", has_vectors=False)])
            writer.maintain(finish=True)

    threads = [threading.Thread(target=ask, args=(n,)) for n in range(20)] + [threading.Thread(target=write)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
