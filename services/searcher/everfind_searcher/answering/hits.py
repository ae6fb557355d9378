"""A chunk of the store as a hit of an answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from everfind_core.index.directory import IndexCoverage
from everfind_core.lifecycle import shown_successors, split_refs
from everfind_core.model import Contribution, Hit, Provenance, SearchRequest
from everfind_core.ports import StoredChunk
from everfind_searcher.ordering.ranking import Ranked


def roots_for(coverage: IndexCoverage, folders: Sequence[str]) -> Mapping[str, str]:
    """The roots of these folders by name; of all if none is named."""
    return {name: root for name, root in coverage.roots().items() if not folders or name in folders}


def ranked_hit(one: Ranked, roots: Mapping[str, str], request: SearchRequest) -> Hit:
    """The hit of a search, with what brought it to its place."""
    explain = one.contributions if request.explain else ()
    hit = hit_of(one.chunk, one.score, one.provenance, roots, explain)
    if one.related is None:
        return hit
    path = one.related.ref.path
    return replace(hit, relation=one.relation, relation_to=one.related.chunk_id, relation_path=path)


def hit_of(
    chunk: StoredChunk,
    score: float,
    provenance: Provenance,
    roots: Mapping[str, str],
    explain: tuple[Contribution, ...] = (),
) -> Hit:
    """The hit; ``roots`` are the absolute paths by name of the folders that it may speak of."""
    successors = [ref for ref in split_refs(chunk.successor) if ref.folder in roots]
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
        successor=shown_successors(chunk.ref.folder, successors),
        page=chunk.page,
        tokens=chunk.tokens,
        explain=explain,
    )
