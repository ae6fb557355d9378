"""The best passage of one file for a query, where neither arm found one: for files that another one brings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from everfind_core.files.globs import compile_file_globs
from everfind_core.model import FileRef, Filters, Provenance, ProvenanceLabel, Vector
from everfind_core.ports import ChunkSnapshot, StoredChunk
from everfind_searcher.ordering.ranking import Ranked


@dataclass(frozen=True, slots=True)
class Fetcher:
    """Reads files that pass ``where``; compares with the query's vector, or with its terms where there is none."""

    snapshot: ChunkSnapshot
    where: Filters
    terms: Sequence[str]
    vector: Vector | None

    def __call__(self, ref: FileRef) -> Ranked | None:
        """The file's best passage; None if the index has none that passes."""
        if self.where.folders and ref.folder not in self.where.folders:
            return None
        chunks = [chunk for chunk in self.snapshot.file_chunks(ref) if passes(chunk, self.where)]
        if not chunks:
            return None
        best = max(chunks, key=lambda chunk: (self._likeness(chunk), -chunk.ordinal))
        return Ranked(best, 0.0, Provenance(ProvenanceLabel.GRAPH))

    def _likeness(self, chunk: StoredChunk) -> float:
        if self.vector is not None:
            return -1.0 if chunk.vector is None else float(np.asarray(chunk.vector, np.float32) @ self.vector)
        return len(set(self.terms) & set(chunk.terms.split()))


def passes(chunk: StoredChunk, where: Filters) -> bool:
    """Whether a chunk passes the filters, as the store would decide."""
    include = compile_file_globs(where.include, field="filters.include")
    exclude = compile_file_globs(where.exclude, field="filters.exclude")
    dated = not (where.since or where.before) or (
        bool(chunk.date) and chunk.date >= where.since and (not where.before or chunk.date < where.before)
    )
    return (
        dated
        and (not where.folders or chunk.ref.folder in where.folders)
        and (not where.languages or chunk.language in where.languages)
        and (not where.kinds or chunk.kind in where.kinds)
        and (not where.statuses or chunk.status in where.statuses)
        and chunk.status not in where.exclude_statuses
        and (include is None or include.matches(chunk.ref))
        and (exclude is None or not exclude.matches(chunk.ref))
    )
