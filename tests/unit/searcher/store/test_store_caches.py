"""What the store's library keeps of versions that are gone does not add up."""

from __future__ import annotations

from pathlib import Path

import pytest

from everfind_core.ports import ChunkWriter
from everfind_searcher.store import reader as reader_module
from everfind_searcher.store.reader import LanceChunkReader
from tests.support.store_samples import EVERYTHING, file, paths, random_texts

COMMITS = 16


def cached(writer: ChunkWriter, directory: Path) -> list[int]:
    """Bytes in the library's caches after each of some commits, each read in both ways."""
    reader = LanceChunkReader(directory, 0)
    sizes = []
    for number in range(COMMITS):
        writer.replace([file("f", f"{number % 3}", *random_texts(4, number), f"aardvark {number}")])
        writer.maintain(finish=False)
        found = reader.lexical([f"{number}"], 5, EVERYTHING)
        assert f"{number % 3}" in paths(found)
        sizes.append(reader._session.size_bytes())
    return sizes


def test_caches_are_emptied_of_what_is_gone(
    writer: ChunkWriter, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = cached(writer, directory)
    most = kept[-1] // 4
    assert kept[0] < most, "it keeps all"
    monkeypatch.setattr(reader_module, "_STALE_BYTES", most)
    monkeypatch.setattr(reader_module, "bytes_below", lambda _table: 0)
    emptied = cached(writer, directory)
    assert min(emptied[COMMITS // 2 :]) < most
    assert max(emptied) < kept[-1] / 2


def test_a_table_as_large_as_its_caches_keeps_them(
    writer: ChunkWriter, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weighed: list[Path] = []

    def bytes_below(table: Path) -> int:
        weighed.append(table)
        return 1 << 30

    monkeypatch.setattr(reader_module, "_STALE_BYTES", 1)
    monkeypatch.setattr(reader_module, "bytes_below", bytes_below)
    sizes = cached(writer, directory)
    assert sizes[0] < sizes[-1] // 4
    assert len(weighed) == 1, "not at each version: that looks at every file of the table"
