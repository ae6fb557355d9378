"""The first pass of a big first index: files answer by their words at once, and their vectors follow.

Its rows have the vectors that exist already. The rest waits (:mod:`everfind_indexer.running.backlog`), in the order of
:mod:`everfind_indexer.running.embedding_order`, and embedding begins beside the first pass. The store takes each file
whole in either pass; a run that is interrupted leaves files that wait, and the next one embeds them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from everfind_core.model import IndexStage
from everfind_core.ports import ChunkWriter
from everfind_indexer.files.found import FoundFile
from everfind_indexer.running.pipeline import BATCH_TOKENS, Clock
from everfind_indexer.running.preparing import PreparedFile

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

FIRST_PASS_FILES = 2_000
FIRST_PASS_BYTES = 8_000_000
"""So many files without vectors, or so much in them, are taken in twice: it takes a minute or more to embed them."""

FED_TOKENS = 4 * BATCH_TOKENS
"""So much is given to the embedder at once beside the first pass, for the store is read each time."""

COMMIT_FILES = 200
COMMIT_TEXT = 4_000_000
"""Characters of rows: bounds memory."""

KnownVectors = Mapping[str, "npt.NDArray[np.floating]"]


def pays(waiting: Sequence[FoundFile]) -> bool:
    """Whether these files without vectors are worth a first pass."""
    return len(waiting) >= FIRST_PASS_FILES or sum(file.size for file in waiting) >= FIRST_PASS_BYTES


class FirstPass:
    """Commits prepared files with the vectors that there are. Call :meth:`finish` at the end."""

    def __init__(
        self,
        store: ChunkWriter,
        known: Callable[[set[str]], KnownVectors],
        on_commit: Callable[[list[PreparedFile]], None],
        clock: Clock,
    ) -> None:
        self._store = store
        self._known = known
        self._on_commit = on_commit
        self._clock = clock
        self._files: list[PreparedFile] = []
        self._characters = 0

    def add(self, files: Sequence[PreparedFile]) -> None:
        """Take files in, looking up all their vectors at once."""
        known = self._known({row.embedding_key for file in files for row in file.rows})
        for file in files:
            self._files.append(_with_known(file, known))
            self._characters += sum(len(row.text) + len(row.terms) for row in file.rows)
            if len(self._files) >= COMMIT_FILES or self._characters >= COMMIT_TEXT:
                self.finish()

    def finish(self) -> None:
        """Commit what was taken in."""
        files, self._files, self._characters = self._files, [], 0
        if files:
            with self._clock.measure(IndexStage.STORE):
                self._store.replace([file.file_chunks for file in files])
            self._on_commit(files)


def _with_known(file: PreparedFile, known: KnownVectors) -> PreparedFile:
    rows = tuple(replace(row, vector=known.get(row.embedding_key)) for row in file.rows)
    unembedded = sum(row.vector is None for row in rows)
    return replace(file, rows=rows, state=replace(file.state, unembedded=unembedded))
