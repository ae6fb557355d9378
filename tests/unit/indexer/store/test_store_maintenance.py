"""Segments, fragments and versions stay few, and what is found does not depend on how the table came to be."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import lance
import pytest

from everfind_core.index.store_schema import TABLE_DIRECTORY, TERMS, TOKEN_COLUMNS, VECTOR, index_name
from everfind_core.model import FileRef, Filters
from everfind_core.ports import ChunkWriter, FileChunks
from everfind_indexer.store import maintenance, open_writer
from everfind_indexer.store.maintenance import Layout
from everfind_searcher.store import open_reader
from tests.support.store_samples import DIMENSIONS, EVERYTHING, file, places, random_texts, unit

LEXICAL = {index_name(column) for column in TOKEN_COLUMNS}


def layout(directory: Path) -> Layout:
    return Layout.of(lance.dataset(str(directory / TABLE_DIRECTORY)))


def segments(directory: Path) -> dict[str, int]:
    return {index.name: len(index.segments) for index in layout(directory).indices}


def filled(index: Any) -> list[Any]:
    """Its segments but the empty one that some have of when the table was made."""
    return [segment for segment in index.segments if segment.fragment_ids]


def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("FIRST_SEGMENT_ROWS", 20), ("FRAGMENT_ROWS", 80), ("SMALL_ROWS", 20), ("SMALL_FRAGMENTS", 4)):
        monkeypatch.setattr(maintenance, name, value)


def test_the_first_bulk_run_ends_with_one_large_segment(
    directory: Path, writer: ChunkWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_steps(monkeypatch)
    most = 0
    for start in range(0, 900, 10):
        texts = random_texts(10, seed=start)
        writer.replace([file("f", f"{start + n}", text) for n, text in enumerate(texts)])
        writer.maintain(finish=False)
        most = max(most, layout(directory).waiting)
        assert max(segments(directory).values()) <= maintenance.SEGMENTS
    assert most <= 80
    writer.maintain(finish=True)
    after = layout(directory)
    assert after.uncovered == []
    assert len(after.rows) <= 16
    assert all(after.outside_largest(index) <= maintenance.OUTSIDE_SHARE * after.live for index in after.indices)


def test_many_small_runs_stay_small(directory: Path, writer: ChunkWriter, monkeypatch: pytest.MonkeyPatch) -> None:
    small_steps(monkeypatch)
    writer.replace([file("f", f"{n}", text) for n, text in enumerate(random_texts(400, seed=1))])
    writer.maintain(finish=True)
    for turn in range(40):
        writer.replace([file("f", f"{turn}", f"turn{turn} w1 w2")])
        writer.maintain(finish=True)
        assert layout(directory).uncovered == []
        assert max(segments(directory).values()) <= maintenance.SEGMENTS
        assert len(layout(directory).small()) <= maintenance.SMALL_FRAGMENTS + maintenance.SEGMENTS
        found = open_reader(directory).lexical([f"turn{turn}"], 5, EVERYTHING)
        assert places(found) == [("f", f"{turn}", 0)]
    assert len(writer.chunk_counts()) == 400


def test_a_whole_run_merges_what_saves_left_and_leaves_the_large_segment_alone(
    directory: Path, writer: ChunkWriter
) -> None:
    def large() -> dict[str, str]:
        return {index.name: filled(index)[0].uuid for index in layout(directory).indices}

    writer.replace([file("f", f"{n}", text) for n, text in enumerate(random_texts(200, seed=1))])
    writer.maintain(finish=True)
    before = large()
    for name in "abcd":
        writer.replace([file("g", name, "saved")])
        writer.maintain(finish=True)
    assert {len(filled(index)) for index in layout(directory).indices} == {5}
    writer.maintain(finish=True, exact=True)
    assert {len(filled(index)) for index in layout(directory).indices} == {2}
    assert large() == before


def test_many_segments_are_merged_with_their_like(
    directory: Path, writer: ChunkWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer.replace([file("f", f"{n}", text) for n, text in enumerate(random_texts(400, seed=1))])
    writer.maintain(finish=True)
    for number, rows in enumerate((30, 1, 1)):
        writer.replace([file("g", f"{number} {n}", "saved") for n in range(rows)])
        writer.maintain(finish=True)
    assert {layout(directory).alike(index) for index in layout(directory).indices} == {2}
    monkeypatch.setattr(maintenance, "SEGMENTS", 4)
    writer.maintain(finish=True)
    assert {len(filled(index)) for index in layout(directory).indices} == {3}


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_an_index_grown_in_steps_finds_what_a_fresh_one_finds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """Scores included, once a run over whole folders has ended."""
    small_steps(monkeypatch)
    choose = random.Random(seed)
    grown, fresh = tmp_path / "grown", tmp_path / "fresh"
    writer = open_writer(grown, DIMENSIONS)
    files: dict[FileRef, FileChunks] = {}
    for turn in range(30):
        batch = [
            file(choose.choice("fg"), f"{choose.randrange(60)}", *random_texts(choose.randrange(4), turn * 100 + n))
            for n in range(choose.choice([1, 1, 3, 20]))
        ]
        writer.replace(batch)
        files |= {each.ref: each for each in batch}
        writer.maintain(finish=choose.random() < 0.5)
    writer.maintain(finish=True, exact=True)
    other = open_writer(fresh, DIMENSIONS)
    other.replace(list(files.values()))
    other.maintain(finish=True)
    assert writer.chunk_counts() == other.chunk_counts()
    grown_reader, fresh_reader = open_reader(grown), open_reader(fresh)
    for query in random_texts(40, seed=seed + 50, words=4):
        for where in (EVERYTHING, Filters(folders=("f",)), Filters(exclude=("1?",))):
            one = grown_reader.lexical(query.split(), 10, where)
            two = fresh_reader.lexical(query.split(), 10, where)
            assert [(f.chunk, f.score) for f in one] == [(f.chunk, f.score) for f in two]
            one, two = grown_reader.semantic(unit(query), 10, where), fresh_reader.semantic(unit(query), 10, where)
            assert [(f.chunk, f.score) for f in one] == [(f.chunk, f.score) for f in two]


def scores(directory: Path, term: str) -> dict[tuple[str, str, int], float]:
    found = open_reader(directory).lexical([term], 100, EVERYTHING)
    return {place: one.score for place, one in zip(places(found), found, strict=True)}


def test_dead_rows_count_in_scores_only_until_a_run_over_whole_folders(directory: Path, tmp_path: Path) -> None:
    """And those of one file saved over and over count once: what it had when its fragment was written."""
    texts = [f"common {text}" for text in random_texts(300, seed=1)]
    texts[:20] = [f"rare {text}" for text in texts[:20]]
    writer = open_writer(directory, DIMENSIONS)
    writer.replace([file("f", f"{n}", text) for n, text in enumerate(texts)])
    writer.maintain(finish=True)
    for turn in range(12):
        writer.replace([file("f", "0", f"{texts[0]} w{turn % 2}")])
        writer.maintain(finish=True)
    fresh = open_writer(tmp_path / "fresh", DIMENSIONS)
    fresh.replace([file("f", f"{n}", text) for n, text in enumerate([f"{texts[0]} w1", *texts[1:]])])
    fresh.maintain(finish=True)
    for term in ("rare", "common"):
        wanted, found = scores(tmp_path / "fresh", term), scores(directory, term)
        assert found.keys() == wanted.keys()
        assert found == pytest.approx(wanted, rel=0.05)
    assert scores(directory, "rare") != pytest.approx(scores(tmp_path / "fresh", "rare"), abs=1e-4)
    assert layout(directory).dead == 1
    writer.maintain(finish=True, exact=True)
    for term in ("rare", "common"):
        assert scores(directory, term) == pytest.approx(scores(tmp_path / "fresh", term), abs=1e-4)
    assert layout(directory).dead == 0


@pytest.mark.parametrize("later", [0, 1, 3])
def test_rows_of_a_fragment_that_went_as_a_whole_count_in_no_score(
    directory: Path, writer: ChunkWriter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, later: int
) -> None:
    """Once a run over whole folders has ended: ``later`` runs over a few files leave them in a large segment."""
    monkeypatch.setattr(maintenance, "GONE_ROWS", 5)
    kept = [file("f", f"{n}", f"{'rare' if n < 3 else 'common'} {text}") for n, text in enumerate(random_texts(30, 1))]
    gone = [file("g", f"{n}", f"rare {text} {text}") for n, text in enumerate(random_texts(20, 2))]
    saved = [file("f", f"saved{n}", "saved") for n in range(later)]
    for files in (kept, gone):
        writer.replace(files)
        writer.maintain(finish=True)
    writer.delete_folder("g")
    for each in saved:
        writer.replace([each])
        writer.maintain(finish=True)
    if not later:
        writer.maintain(finish=True)
    fresh = open_writer(tmp_path / "fresh", DIMENSIONS)
    fresh.replace([*kept, *saved])
    fresh.maintain(finish=True)
    wanted = {term: scores(tmp_path / "fresh", term) for term in ("rare", "common")}
    assert {index.name for index in layout(directory).naming_gone(TOKEN_COLUMNS)} == LEXICAL
    assert scores(directory, "rare") != pytest.approx(wanted["rare"], abs=0.1)
    writer.maintain(finish=True, exact=True)
    assert layout(directory).naming_gone(TOKEN_COLUMNS) == []
    for term, found in wanted.items():
        assert scores(directory, term) == pytest.approx(found, abs=1e-4)
    before = writer.generation()
    writer.maintain(finish=True, exact=True)
    assert writer.generation() == before


@pytest.mark.parametrize("few", [0, 10])
def test_rows_of_a_gone_fragment_go_without_the_large_segments_being_written_anew(
    directory: Path, writer: ChunkWriter, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    """Those of the terms, which readers count in memory, as soon as the segments to merge are small."""
    monkeypatch.setattr(maintenance, "GONE_ROWS", few)

    def large() -> set[str]:
        return {index.segments[0].uuid for index in layout(directory).indices if index.name in LEXICAL}

    texts = random_texts(200, seed=1)
    for half in (0, 100):
        writer.replace([file("f", f"{half + n}", text) for n, text in enumerate(texts[half : half + 100])])
        writer.maintain(finish=True)
    before = large()
    with monkeypatch.context() as early:
        early.setattr(maintenance, "SEGMENTS", 3)
        for name in "ab":
            writer.replace([file("g", name, "rare")])
            writer.maintain(finish=True)
    writer.replace([file("g", "a", "other")])
    writer.maintain(finish=True)
    naming_gone = layout(directory).naming_gone(TOKEN_COLUMNS)
    assert [index.name for index in naming_gone if len(index.segments) == 3]
    assert ("terms_idx" in {index.name for index in naming_gone}) == (not few)
    writer.maintain(finish=True, exact=True)
    assert layout(directory).naming_gone(TOKEN_COLUMNS) == []
    assert [segments(directory)[name] for name in LEXICAL] == [2, 2]
    assert large() == before


def test_a_run_writes_only_so_many_rows_anew_for_the_sake_of_scores(
    directory: Path, writer: ChunkWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    for half in "ab":
        writer.replace([file(half, f"{n}", text) for n, text in enumerate(random_texts(50, seed=1))])
        writer.maintain(finish=True)
    writer.replace([FileChunks(FileRef("a", "1")), FileChunks(FileRef("b", "1")), FileChunks(FileRef("b", "2"))])
    monkeypatch.setattr(maintenance, "EXACT_ROWS", 60)
    writer.maintain(finish=True, exact=True)
    assert layout(directory).dead == 1
    writer.maintain(finish=True, exact=True)
    assert layout(directory).dead == 0
    assert layout(directory).live == 97


def test_dead_rows_are_dropped_when_they_are_many(directory: Path, writer: ChunkWriter) -> None:
    writer.replace([file("f", f"{n}", text) for n, text in enumerate(random_texts(100, seed=1))])
    writer.maintain(finish=True)
    writer.replace([FileChunks(FileRef("f", f"{n}")) for n in range(15)])
    writer.maintain(finish=True)
    assert layout(directory).dead == 15
    writer.replace([FileChunks(FileRef("f", f"{n}")) for n in range(15, 30)])
    writer.maintain(finish=True)
    assert layout(directory).dead == 0
    assert layout(directory).live == 70


def test_versions_and_files_do_not_pile_up(
    directory: Path, writer: ChunkWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(maintenance, "KEEP_SECONDS", 0.0)
    monkeypatch.setattr(maintenance, "CLEANUP_SECONDS", 0.0)
    sizes = []
    for turn in range(12):
        writer.replace([file("f", "a", *random_texts(50, seed=turn))])
        writer.maintain(finish=True)
        sizes.append(sum(1 for path in directory.rglob("*") if path.is_file()))
    assert max(sizes[6:]) <= max(sizes[:6]) + 5


def test_rows_without_vectors_are_covered_too(directory: Path, writer: ChunkWriter) -> None:
    writer.replace([file("f", f"{n}", text, has_vectors=False) for n, text in enumerate(random_texts(50, seed=1))])
    writer.maintain(finish=True)
    assert index_name(VECTOR) not in segments(directory)
    writer.replace([file("f", "with", "has a vector")])
    writer.maintain(finish=True)
    writer.replace([file("f", "late", "has none", has_vectors=False)])
    writer.maintain(finish=True)
    assert layout(directory).uncovered == []
    assert index_name(VECTOR) in segments(directory)
    assert places(open_reader(directory).semantic(unit("has a vector"), 5, EVERYTHING)) == [("f", "with", 0)]


def test_a_half_made_table_is_completed(directory: Path, writer: ChunkWriter) -> None:
    dataset = lance.dataset(str(directory / TABLE_DIRECTORY))
    dataset.drop_index(index_name(TERMS))
    dataset.drop_index(index_name(VECTOR))
    again = open_writer(directory, DIMENSIONS)
    again.replace([file("f", "a", "one")])
    again.maintain(finish=True)
    assert {index_name(TERMS), index_name(VECTOR)} <= segments(directory).keys()
    assert len(open_reader(directory).lexical(["one"], 5, EVERYTHING)) == 1
