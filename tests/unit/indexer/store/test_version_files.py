"""The files that a version is read from are those that the library lists for it."""

from __future__ import annotations

import random
from pathlib import Path

import lance

from everfind_core.index.store_schema import TABLE_DIRECTORY
from everfind_core.ports import ChunkWriter
from everfind_indexer.store.integrity import version_files
from tests.support.store_edits import edit
from tests.support.store_samples import file, random_texts


def listed(dataset: lance.LanceDataset) -> set[str]:
    """What the library says of the version at hand, but for what a commit notes for a second writer."""
    found = dataset.tracked_files(min_version=dataset.version).read_all()
    rows = zip(*(found[name].to_pylist() for name in ("version", "type", "path")), strict=True)
    return {path for version, kind, path in rows if version == dataset.version and kind != "transaction file"}


def test_they_are_what_the_library_lists_whatever_was_done(directory: Path, writer: ChunkWriter) -> None:
    table = directory / TABLE_DIRECTORY
    writer.replace([file("f", f"{n}", *random_texts(3, n)) for n in range(20)])
    choose = random.Random(3)
    kinds = ["replace", "delete", "finish", "replace", "maintain", "replace", "exact", "folder", "finish", "replace"]
    seen = set()
    for kind in kinds:
        edit(writer, kind, choose)
        dataset = lance.dataset(str(table))
        files = version_files(dataset, table)
        assert files == listed(dataset)
        assert all((table / name).is_file() for name in files)
        seen |= {name.split("/")[0] for name in files}
    assert seen == {"data", "_deletions", "_indices", "_versions"}
