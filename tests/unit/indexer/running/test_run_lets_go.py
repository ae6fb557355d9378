"""What a run had in hand goes with it, and not when Python next looks for cycles: a store's memory is not Python's."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from pathlib import Path

import pytest

from everfind_core.chunking import TextChunker
from everfind_core.errors import StorageError
from everfind_core.model import Folder, IndexRequest
from everfind_indexer.engine import IndexEngine
from everfind_indexer.settings import IndexerSettings
from tests.support.fakes import FakeEmbedder, MemoryStore


class FullStore(MemoryStore):
    def generation(self) -> int:
        raise StorageError("no space left")


@pytest.mark.parametrize("kind", [MemoryStore, FullStore])
def test_a_store_goes_with_its_run(tmp_path: Path, kind: Callable[[], MemoryStore]) -> None:
    (tmp_path / "corpus").mkdir()
    opened: list[weakref.ref[MemoryStore]] = []

    def open_writer(_directory: Path, _dimensions: int) -> MemoryStore:
        store = kind()
        opened.append(weakref.ref(store))
        return store

    settings = IndexerSettings(tmp_path / "index", (Folder("f", str(tmp_path / "corpus")),))
    engine = IndexEngine(settings, FakeEmbedder(), TextChunker(), open_writer)
    gc.collect()
    gc.disable()
    try:
        for number in range(2):
            (tmp_path / "corpus" / f"{number}.md").write_text(f"# Note {number}\n\nText {number}.\n", encoding="utf-8")
            ended = _index(engine)
            assert ended == (kind is MemoryStore)
        assert [one() for one in opened] == [None] * len(opened)
    finally:
        gc.enable()


def _index(engine: IndexEngine) -> bool:
    try:
        engine.index(IndexRequest(), lambda _event: None)
    except StorageError:
        return False
    return True
