"""A chunk of the store as a hit of an answer."""

from __future__ import annotations

from collections.abc import Mapping

from everfind_core.model import Contribution, Hit, Provenance
from everfind_core.ports import StoredChunk


def hit_of(
    chunk: StoredChunk,
    score: float,
    provenance: Provenance,
    roots: Mapping[str, str],
    explain: tuple[Contribution, ...] = (),
) -> Hit:
    """The hit; ``roots`` are the folders' absolute paths by name."""
    return Hit(
        chunk_id=chunk.chunk_id,
        folder=chunk.ref.folder,
        path=chunk.ref.path,
        absolute_path=f"{roots.get(chunk.ref.folder, '').rstrip('/')}/{chunk.ref.path}",
        start_line=chunk.start_line,
        end_line=chunk.end_line,
        score=score,
        provenance=provenance,
        text=chunk.text,
        symbol=chunk.symbol,
        kind=chunk.kind,
        language=chunk.language,
        heading=chunk.heading,
        status=chunk.status,
        date=chunk.date,
        successor=chunk.successor,
        page=chunk.page,
        tokens=chunk.tokens,
        explain=explain,
    )
