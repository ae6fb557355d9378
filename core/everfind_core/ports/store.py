"""The store: its rows, and its two sides."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from everfind_core.model import FileRef, Filters, Vector

if TYPE_CHECKING:  # the command line must not wait for numpy
    import numpy as np
    import numpy.typing as npt

    from everfind_core.lifecycle import Fate


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """One row of the store.

    ``chunk_id`` is unique in the index, ``ordinal`` counts a file's chunks from 0. ``terms`` is the lexical form of
    text, path and symbol (:mod:`everfind_core.text.lexical`), terms separated by single spaces. ``embedding_key`` names
    the embedded text (hex digest): equal keys have equal vectors. ``vector`` is float16 or float32 of shape
    (dimensions,); None while it waits. ``names`` and ``symbols`` are the two forms of what the chunk defines and uses
    (:mod:`everfind_core.callgraph.symbols`). ``successor`` has the files that replace this one in the end,
    as :func:`everfind_core.lifecycle.join_refs` writes them.
    """

    chunk_id: str
    ref: FileRef
    ordinal: int
    start_line: int
    end_line: int
    text: str
    terms: str
    embedding_key: str
    content_hash: str
    tokens: int
    symbol: str = ""
    kind: str = ""
    language: str = ""
    heading: str = ""
    status: str = ""
    date: str = ""
    successor: str = ""
    page: int = 0
    names: str = ""
    symbols: str = ""
    vector: npt.NDArray[np.floating] | None = None


@dataclass(frozen=True, slots=True)
class Labels:
    """What filters can name of some rows: how many ``rows`` there are, and each value that one of them has.

    ``dates`` are the first and the last one; empty where no row has one. ``path`` is one row's, the first by name.
    """

    rows: int = 0
    languages: frozenset[str] = frozenset()
    kinds: frozenset[str] = frozenset()
    statuses: frozenset[str] = frozenset()
    dates: tuple[str, str] = ("", "")
    path: str = ""

    @classmethod
    def of(
        cls,
        rows: int,
        *,
        languages: Iterable[str],
        kinds: Iterable[str],
        statuses: Iterable[str],
        dates: Iterable[str],
        paths: Iterable[str],
    ) -> Labels:
        """The labels of ``rows`` rows that have these values; an empty one is none."""
        dated = sorted(filter(None, dates))
        return cls(
            rows,
            frozenset(filter(None, languages)),
            frozenset(filter(None, kinds)),
            frozenset(filter(None, statuses)),
            (dated[0], dated[-1]) if dated else ("", ""),
            min(paths, default=""),
        )


@dataclass(frozen=True, slots=True)
class FileChunks:
    """All chunks of one file, to stand in place of whatever the store has of it; none deletes it."""

    ref: FileRef
    chunks: tuple[StoredChunk, ...] = ()


@dataclass(slots=True)  # not frozen: hundreds are made a query, and that would double their cost
class ScoredChunk:
    """A row found by an arm, with the arm's raw score: cosine or BM25.

    ``vector`` reads the row's where the semantic arm found it: not every answer needs it. ``chunk`` may be shared by
    all queries of a version, and may then lack its own ``vector``, ``terms``, ``names`` and ``symbols``, which they
    seldom need.
    """

    chunk: StoredChunk
    score: float
    vector: Callable[[], Vector] | None = field(default=None, compare=False)


class ChunkWriter(Protocol):
    """The writing side of the store: one process at a time, guarded by the index lock."""

    def replace(self, files: Sequence[FileChunks]) -> None:
        """Put each file's chunks in place of its old ones, all files in one commit that readers see whole or not."""
        ...

    def restate(self, fates: Mapping[FileRef, Fate]) -> None:
        """Give the rows of these files another status, date and successor in one commit; nothing else changes."""
        ...

    def delete_folder(self, folder: str) -> None:
        """Remove every chunk of a folder in one commit."""
        ...

    def vectors(self, keys: Iterable[str]) -> Mapping[str, npt.NDArray[np.floating]]:
        """The vectors that the store has for these embedding keys."""
        ...

    def embedding_keys(self, folder: str = "") -> Iterable[str]:
        """The embedding key of every row with a vector, in no order; of one folder's if ``folder`` names one."""
        ...

    def purge(self) -> None:
        """Leave nothing on the disk of what was replaced or removed, at the expense of readers that still use it."""
        ...

    def sample_vectors(self, most: int) -> npt.NDArray[np.floating]:
        """Vectors of at most ``most`` chunks, spread evenly over the store, as rows."""
        ...

    def chunk_counts(self) -> Mapping[FileRef, tuple[int, str]]:
        """Per file in the store: number of chunks, and content hash."""
        ...

    def fates(self) -> Mapping[FileRef, Fate]:
        """The fate that a file's rows have; files of which they have none are left out."""
        ...

    def file_chunks(self, refs: Collection[FileRef]) -> Mapping[FileRef, tuple[StoredChunk, ...]]:
        """The chunks of these files, each file's in order, with vectors where they have one; of others nothing."""
        ...

    def unembedded(self) -> Mapping[FileRef, int]:
        """How many chunks wait for their vectors, per file that has such."""
        ...

    def generation(self) -> int:
        """The generation that a reader would see now."""
        ...

    def maintain(self, *, finish: bool, exact: bool = False) -> None:
        """Keep search structures current and small; ``finish`` at the end of a run does what is worth waiting for.

        With ``exact`` replaced rows stop to count in BM25's statistics: scores are those of a fresh store.
        """
        ...

    def close(self) -> None:
        """Release what is held."""
        ...


class ChunkSnapshot(Protocol):
    """One generation of the store: everything that a snapshot gives comes from the same commit."""

    def generation(self) -> int:
        """Which one."""
        ...

    def semantic(self, vector: Vector, limit: int, where: Filters) -> Sequence[ScoredChunk]:
        """The nearest chunks by cosine, best first, among those that pass ``where``."""
        ...

    def lexical(self, terms: Sequence[str], limit: int, where: Filters) -> Sequence[ScoredChunk]:
        """The best chunks by BM25 over ``terms`` (any of them), best first, among those that pass ``where``."""
        ...

    def quoting(self, phrase: str, terms: Sequence[str], limit: int, where: Filters) -> Sequence[ScoredChunk]:
        """The chunks whose text has ``phrase`` word for word (:func:`everfind_core.text.plain_words.says`).

        The first ``limit`` by BM25 over ``terms``, 0 where a chunk has none of them, among those that pass ``where``.
        """
        ...

    def file_chunks(self, ref: FileRef) -> Sequence[StoredChunk]:
        """A file's chunks in order; empty if the store has none."""
        ...

    def unembedded(self, refs: Collection[FileRef]) -> frozenset[FileRef]:
        """Those of these files of which a chunk waits for its vector."""
        ...

    def naming(self, tokens: Sequence[str], limit: int, where: Filters) -> Sequence[StoredChunk]:
        """Chunks whose ``names`` hold any of ``tokens``, at most ``limit``, among those that pass ``where``.

        By folder, path and line. They come with their ``symbols``, without vector, terms and ``names``.
        """
        ...

    def count(self, where: Filters) -> int:
        """How many rows pass ``where``."""
        ...

    def labels(self, where: Filters) -> Labels:
        """What the rows that pass ``where`` have that a filter can name. Looks at all of them."""
        ...


class ChunkReader(ChunkSnapshot, Protocol):
    """The reading side of the store: any number of processes, also while one writes.

    Each call sees the newest generation, commits of other processes included, without reopening.
    """

    def snapshot(self) -> ChunkSnapshot:
        """The newest generation, for calls that belong together.

        It answers for ten minutes; afterwards, once something replaced it, its files may be gone (IndexDamagedError).
        """
        ...
