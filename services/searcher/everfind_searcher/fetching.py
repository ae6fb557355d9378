"""The best passage of one file for a query, where neither arm found one: for files that another one brings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from everfind_core.globs import FileGlobs, compile_file_globs
from everfind_core.model import FileRef, Filters, Provenance, ProvenanceLabel
from everfind_core.ports import ChunkSnapshot, StoredChunk
from everfind_searcher.ranking import Ranked


@dataclass(frozen=True)
class Fetcher:
    """Reads files that pass ``where``; compares with the query's vector, or with its terms where there is none."""

    snapshot: ChunkSnapshot
    where: Filters
    terms: Sequence[str]
    vector: npt.NDArray[np.float32] | None

    def __call__(self, ref: FileRef) -> Ranked | None:
        """The file's best passage; None if the index has none that passes."""
        if not self._reachable(ref):
            return None
        chunks = [chunk for chunk in self.snapshot.file_chunks(ref) if passes(chunk, self.where)]
        if not chunks:
            return None
        best = max(chunks, key=lambda chunk: (self._likeness(chunk), -chunk.ordinal))
        return Ranked(best, 0.0, Provenance(ProvenanceLabel.GRAPH))

    @cached_property
    def _globs(self) -> tuple[FileGlobs | None, FileGlobs | None]:
        return (
            compile_file_globs(self.where.include, field="filters.include"),
            compile_file_globs(self.where.exclude, field="filters.exclude"),
        )

    def _reachable(self, ref: FileRef) -> bool:
        """Whether the filters by folder and path let the file through."""
        include, exclude = self._globs
        return (
            (not self.where.folders or ref.folder in self.where.folders)
            and (include is None or include.matches(ref))
            and (exclude is None or not exclude.matches(ref))
        )

    def _likeness(self, chunk: StoredChunk) -> float:
        if self.vector is not None:
            return -1.0 if chunk.vector is None else float(np.asarray(chunk.vector, np.float32) @ self.vector)
        return len(set(self.terms) & set(chunk.terms.split()))


def passes(chunk: StoredChunk, where: Filters) -> bool:
    """Whether a chunk passes the filters on what it is, as the store would decide; its folder and path are not read."""
    dated = not (where.since or where.before) or (
        bool(chunk.date) and chunk.date >= where.since and (not where.before or chunk.date < where.before)
    )
    return (
        dated
        and (not where.languages or chunk.language in where.languages)
        and (not where.kinds or chunk.kind in where.kinds)
        and (not where.statuses or chunk.status in where.statuses)
        and chunk.status not in where.exclude_statuses
    )
