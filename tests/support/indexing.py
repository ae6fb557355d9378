"""An index engine over a real directory, with a store in memory that can be killed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from everfind_core.chunking import TextChunker
from everfind_core.lifecycle import Fate
from everfind_core.model import FileRef, Folder, IndexReport, IndexRequest
from everfind_core.ports import FileChunks
from everfind_indexer.engine import IndexEngine
from everfind_indexer.settings import IndexerSettings, KeptVectors
from tests.support.fakes import FakeEmbedder, MemoryStore


class KilledError(Exception):
    """Stands for kill -9 at a commit."""


class KillableStore(MemoryStore):
    """Dies before or after a chosen commit."""

    kill_in: int | None = None
    before: bool = True

    def replace(self, files: Sequence[FileChunks]) -> None:
        self._commit(lambda: MemoryStore.replace(self, files))

    def restate(self, fates: Mapping[FileRef, Fate]) -> None:
        self._commit(lambda: MemoryStore.restate(self, fates))

    def _commit(self, commit: Callable[[], None]) -> None:
        killed = self.kill_in == 0
        if self.kill_in:
            self.kill_in -= 1
        if not (killed and self.before):
            commit()
        if killed:
            raise KilledError


class Workspace:
    """An engine over a real directory, with a store that survives its runs."""

    def __init__(self, root: Path, *, kept: KeptVectors | None = None) -> None:
        self.root = root / "corpus"
        self.root.mkdir(parents=True)
        self.store = KillableStore()
        self.embedder = FakeEmbedder()
        self.settings = IndexerSettings(root / "index", (Folder("f", str(self.root)),), kept_vectors=kept)

    def engine(self) -> IndexEngine:
        return IndexEngine(self.settings, self.embedder, TextChunker(), lambda _directory, _dimensions: self.store)

    def index(self, **request: object) -> IndexReport:
        return self.engine().index(IndexRequest(**request), lambda _event: None)  # type: ignore[arg-type]

    def content(self) -> dict[str, list[tuple[int, int, str, str]]]:
        return {
            ref.path: [(r.start_line, r.end_line, r.text, r.embedding_key) for r in rows]
            for ref, rows in list(self.store.rows.items())  # a follower may write meanwhile
        }
