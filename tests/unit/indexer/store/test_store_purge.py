"""What is purged is gone from the disk; what stays is whole."""

from __future__ import annotations

from pathlib import Path

import lance
import numpy as np
import pytest

from everfind_core.index.store_schema import TABLE_DIRECTORY
from everfind_core.ports import ChunkWriter
from everfind_searcher.store import open_reader
from tests.support.store_samples import EVERYTHING, chunk, file, paths, random_texts, unit


def indexed(dataset: lance.LanceDataset) -> set[int]:
    return {f for index in dataset.describe_indices() for segment in index.segments for f in segment.fragment_ids}


def test_embedding_keys_are_those_of_rows_with_vectors(writer: ChunkWriter) -> None:
    a, b = file("one", "a", "alpha", "beta"), file("two", "b", "gamma")
    writer.replace([a, b, file("one", "waiting", "delta", has_vectors=False)])
    assert sorted(writer.embedding_keys("one")) == sorted(c.embedding_key for c in a.chunks)
    assert sorted(writer.embedding_keys()) == sorted(c.embedding_key for f in (a, b) for c in f.chunks)
    assert list(writer.embedding_keys("none")) == []


def test_a_purge_leaves_no_version_and_no_row_of_what_was_removed(directory: Path, writer: ChunkWriter) -> None:
    secret = [f"unspeakable{n} words" for n in range(50)]
    writer.replace([file("kept", f"k{n}", text) for n, text in enumerate(random_texts(300, 1))])
    writer.maintain(finish=True)
    writer.replace([file("gone", "secret", *secret[:25])])
    writer.maintain(finish=True)
    writer.replace([file("gone", "other", *secret[25:]), file("kept", "more", "zebra")])
    writer.maintain(finish=True)
    writer.replace([file("kept", "k0", "yak")])
    writer.delete_folder("gone")
    writer.maintain(finish=True)
    writer.purge()

    table = directory / TABLE_DIRECTORY
    dataset = lance.dataset(str(table))
    assert len(dataset.versions()) == 1
    live = {file.path for fragment in dataset.get_fragments() for file in fragment.data_files()}
    assert {path.name for path in (table / "data").iterdir()} == live
    assert sum(fragment.metadata.num_deletions for fragment in dataset.get_fragments()) == 0
    assert indexed(dataset) == {fragment.fragment_id for fragment in dataset.get_fragments()}
    bits = np.asarray(unit(secret[7])).astype(np.float16).tobytes()
    assert not [path for path in table.rglob("*") if path.is_file() and bits in path.read_bytes()]

    assert len(writer.chunk_counts()) == 301
    reader = open_reader(directory)
    assert paths(reader.lexical(["zebra"], 5, EVERYTHING)) == {"more"}
    assert paths(reader.lexical(["yak"], 5, EVERYTHING)) == {"k0"}
    assert list(reader.lexical(["unspeakable7"], 5, EVERYTHING)) == []
    assert (
        reader.semantic(unit("yak"), 1, EVERYTHING)[0].chunk.chunk_id
        == chunk(file("kept", "k0").ref, 0, "yak").chunk_id
    )
    writer.replace([file("kept", "k1", "xerus")])
    writer.maintain(finish=True)
    assert paths(reader.lexical(["xerus"], 5, EVERYTHING)) == {"k1"}
    assert paths(reader.lexical(["zebra"], 5, EVERYTHING)) == {"more"}


@pytest.mark.parametrize("bare", ["none", "before", "after"])
def test_a_purge_leaves_nothing_of_the_last_vectors(directory: Path, writer: ChunkWriter, bare: str) -> None:
    """Whether nothing stays, or rows that wait for their vectors and came before or after."""
    if bare == "before":
        writer.replace([file("kept", "bare", "zebra", has_vectors=False)])
        writer.maintain(finish=True)
    writer.replace([file("gone", f"{n}", text) for n, text in enumerate(random_texts(40, 1))])
    writer.maintain(finish=True)
    writer.delete_folder("gone")
    if bare == "after":
        writer.replace([file("kept", "bare", "zebra", has_vectors=False)])
    writer.maintain(finish=True, exact=True)
    writer.purge()
    dataset = lance.dataset(str(directory / TABLE_DIRECTORY))
    assert indexed(dataset) == {fragment.fragment_id for fragment in dataset.get_fragments()}
    writer.replace([file("kept", "bare", "zebra"), file("kept", "more", "yak")])
    writer.maintain(finish=True)
    reader = open_reader(directory)
    assert paths(reader.semantic(unit("zebra"), 1, EVERYTHING)) == {"bare"}
    assert paths(reader.lexical(["yak"], 5, EVERYTHING)) == {"more"}
