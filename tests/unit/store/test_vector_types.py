"""Stores whose vectors are whole numbers of eight bits keep every promise, and rank by what these stand for."""

from __future__ import annotations

import random
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import lance
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from everfind_core.errors import IndexIncompatibleError, InternalError
from everfind_core.index.store_backends import StoreBackend
from everfind_core.index.store_schema import TABLE_DIRECTORY, VECTOR, index_name
from everfind_core.index.vector_codec import VectorCodec, decoded
from everfind_core.index.vector_types import VectorType
from everfind_core.model import FileRef, Filters
from everfind_core.ports import ChunkReader, ChunkWriter, ScoredChunk
from everfind_indexer.store import open_writer
from everfind_indexer.store.kinds import copy_version, salvage_table, table_damage
from everfind_searcher.store import lance_version, open_reader
from everfind_searcher.store.copies import Copy
from everfind_searcher.store.postings import Postings
from tests.support.store_edits import EDITS, FILTERS, edit
from tests.support.store_samples import DIMENSIONS, EVERYTHING, file, places, random_texts, unit

CODEC = VectorCodec(VectorType.INT8, DIMENSIONS)
QUESTIONS = 4


@pytest.fixture(params=list(StoreBackend))
def kind(request: pytest.FixtureRequest) -> StoreBackend:
    return StoreBackend(request.param)


def open_int8(directory: Path, kind: StoreBackend) -> ChunkWriter:
    return open_writer(directory, DIMENSIONS, kind, VectorType.INT8)


@pytest.fixture
def writer(directory: Path, kind: StoreBackend) -> ChunkWriter:
    return open_int8(directory, kind)


def stands_for(text: str) -> npt.NDArray[np.floating]:
    found: npt.NDArray[np.floating] = decoded(CODEC.encode(unit(text))[None])[0]
    return found


def in_memory(directory: Path, kind: StoreBackend) -> ChunkReader:
    """A reader that has all rows in memory."""
    reader = open_reader(directory, backend=kind)
    snapshot = reader.snapshot()
    snapshot._resident.load(snapshot._version)  # type: ignore[attr-defined]  # not of the port
    assert snapshot._resident.whole(snapshot._version) is not None  # type: ignore[attr-defined]
    return reader


def cosines(writer: ChunkWriter, passing: Sequence[FileRef], query: npt.NDArray[np.float32]) -> list[float]:
    """Of all rows of these files, by numpy, from what their stored numbers stand for; highest first."""
    chunks = [c for found in writer.file_chunks(passing).values() for c in found if c.vector is not None]
    asked = query.astype(np.float16).astype(np.float64)
    stored = [np.asarray(c.vector, np.float64) for c in chunks]
    return sorted((float(one @ asked / np.linalg.norm(one) / np.linalg.norm(asked)) for one in stored), reverse=True)


def scores(found: Sequence[ScoredChunk]) -> list[float]:
    return [one.score for one in found]


def test_vectors_come_back_as_what_is_stored_of_them(kind: StoreBackend, directory: Path, writer: ChunkWriter) -> None:
    made = file("f", "a", "one", "two", "three")
    waiting = replace(made, chunks=(*made.chunks[:2], replace(made.chunks[2], vector=None)))
    writer.replace([waiting])
    [read] = writer.file_chunks([made.ref]).values()
    for found in (open_reader(directory, backend=kind).file_chunks(made.ref), read):
        assert [c.vector is None for c in found] == [False, False, True]
        for chunk in found[:2]:
            np.testing.assert_array_equal(chunk.vector, stands_for(chunk.text))
    keys = {c.embedding_key: c.text for c in made.chunks}
    kept = writer.vectors(keys)
    assert {keys[key] for key in kept} == {"one", "two"}
    for key, vector in kept.items():
        np.testing.assert_array_equal(vector, stands_for(keys[key]))
    assert sorted(map(tuple, writer.sample_vectors(10))) == sorted(tuple(stands_for(text)) for text in ("one", "two"))
    assert writer.unembedded() == {made.ref: 1}


@settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(kinds=EDITS, seed=st.integers(0, 10**6))
def test_after_any_edits_the_nearest_are_those_of_a_flat_scan(
    tmp_path_factory: pytest.TempPathFactory, kind: StoreBackend, kinds: list[str], seed: int
) -> None:
    """Whether the rows are in memory or not, and a part at a time."""
    directory = tmp_path_factory.mktemp("edited")
    writer = open_int8(directory, kind)
    choose = random.Random(seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lance_version, "_ROWS_AT_ONCE", 16)
        for one in ["replace", *kinds, "replace", "finish", "replace"]:
            edit(writer, one, choose)
        rows = writer.file_chunks(writer.chunk_counts())
        memory, scanning = in_memory(directory, kind), open_reader(directory, 0, kind)
        for n in range(QUESTIONS):
            for where in FILTERS:
                passing = [ref for ref in rows if passes(ref, rows[ref][0].language, rows[ref][0].kind, where)]
                expected = cosines(writer, passing, unit(n))
                for limit in (3, 1_000):
                    found = scanning.semantic(unit(n), limit, where)
                    assert scores(found) == pytest.approx(expected[:limit], abs=1e-5)
                    assert places(memory.semantic(unit(n), limit, where)) == places(found)
    writer.close()


def passes(ref: FileRef, language: str, kind: str, where: Filters) -> bool:
    """Whether a row passes one of ``FILTERS``."""
    return (
        (not where.folders or ref.folder in where.folders)
        and (not where.include or ref.path.endswith("1"))
        and (not where.exclude or not ref.path.startswith("2"))
        and (not where.languages or language in where.languages)
        and (not where.kinds or kind in where.kinds)
    )


def test_no_search_structure_is_made_of_whole_numbers(directory: Path) -> None:
    writer = open_int8(directory, StoreBackend.LANCEDB)
    writer.replace([file("f", f"{n}", *random_texts(5, n)) for n in range(30)])
    writer.maintain(finish=True, exact=True)
    writer.purge()
    indices = {index.name for index in lance.dataset(str(directory / TABLE_DIRECTORY)).describe_indices()}
    assert index_name("terms") in indices
    assert index_name(VECTOR) not in indices
    assert table_damage(directory, StoreBackend.LANCEDB, None) == []


def test_rows_without_a_vector_and_zeros_are_near_nothing(
    kind: StoreBackend, directory: Path, writer: ChunkWriter
) -> None:
    made = file("f", "zero", "zero")
    nothing = replace(made, chunks=(replace(made.chunks[0], vector=np.zeros(DIMENSIONS, np.float32)),))
    writer.replace([nothing, file("f", "waits", "waits", has_vectors=False), file("f", "there", "there")])
    for reader in (open_reader(directory, 0, kind), in_memory(directory, kind)):
        assert places(reader.semantic(unit("zero"), 5, EVERYTHING)) == [("f", "there", 0)]


def test_where_all_vectors_are_missing_nothing_is_near(
    kind: StoreBackend, directory: Path, writer: ChunkWriter
) -> None:
    waiting = file("f", "waits", "waits", "waits, too", has_vectors=False)
    writer.replace([waiting])
    for reader in (open_reader(directory, 0, kind), in_memory(directory, kind)):
        assert list(reader.semantic(unit("waits"), 5, EVERYTHING)) == []
        assert [chunk.vector for chunk in reader.file_chunks(waiting.ref)] == [None, None]


def test_what_cannot_be_stored_is_refused_whole(writer: ChunkWriter) -> None:
    good, bad = file("f", "good", "one"), file("f", "bad", "two")
    bad = replace(bad, chunks=(replace(bad.chunks[0], vector=np.full(DIMENSIONS, np.nan)),))
    with pytest.raises(InternalError, match="not finite"):
        writer.replace([good, bad])
    assert writer.chunk_counts() == {}


@pytest.mark.parametrize(("made", "asked"), [(VectorType.HALF, VectorType.INT8), (VectorType.INT8, VectorType.HALF)])
def test_a_store_of_other_vectors_is_not_written_on(
    kind: StoreBackend, directory: Path, made: VectorType, asked: VectorType
) -> None:
    open_writer(directory, DIMENSIONS, kind, made).close()
    with pytest.raises(IndexIncompatibleError, match="other columns or vectors"):
        open_writer(directory, DIMENSIONS, kind, asked)


def test_copies_and_what_is_salvaged_hold_the_same(
    kind: StoreBackend, directory: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    writer = open_int8(directory, kind)
    writer.replace([file("f", f"{n}", *random_texts(4, n)) for n in range(10)])
    before = writer.generation()
    expected = places(open_reader(directory, 0, kind).semantic(unit(1), 100, EVERYTHING))
    writer.delete_folder("f")
    writer.close()
    copied = tmp_path_factory.mktemp("copied")
    copy_version(directory, copied, kind, before)
    salvaged = tmp_path_factory.mktemp("salvaged")
    assert salvage_table(copied, salvaged, kind, None)
    for place in (copied, salvaged):
        open_int8(place, kind).close()
        assert places(open_reader(place, 0, kind).semantic(unit(1), 100, EVERYTHING)) == expected
        shutil.rmtree(place)


def test_in_memory_a_row_takes_its_half_precision_less() -> None:
    nothing = Postings.counted([], np.zeros(0, np.int64), np.zeros(0, np.int64))
    half = VectorCodec(VectorType.HALF, DIMENSIONS)
    stored = [codec.from_bytes(b"".join(codec.encode(unit(n)).tobytes() for n in range(10))) for codec in (half, CODEC)]
    sizes = [Copy.of([], one, nothing, 0).size for one in stored]
    assert sizes[0] - sizes[1] == 10 * 2 * DIMENSIONS
