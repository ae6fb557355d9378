"""Search with one hop of the call graph.

The rule: what a search found by itself stays as it is, in its order and number. After a page's hits come at most half
as many chunks as were asked for that surely (:data:`~everfind_core.callgraph.resolution.SURE`) call one of the page's
first hits, or are called by it, and are not among the page's hits. Each names the hit that brought it, and its score is
the last hit's times its confidence, so that ordering by score changes nothing. A token budget goes to the page's own
hits first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from everfind_core.callgraph.resolution import SURE, Known
from everfind_core.callgraph.symbols import decode
from everfind_core.model import (
    FileRef,
    Filters,
    Hit,
    Provenance,
    ProvenanceLabel,
    Relation,
    SearchAnswer,
    SearchRequest,
)
from everfind_core.ports import ChunkSnapshot, StoredChunk
from everfind_searcher.answering.budget import Budget
from everfind_searcher.answering.hits import hit_of
from everfind_searcher.related.relations import Link, callees, strongest, users
from everfind_searcher.related.targets import DefinitionChunk, QuestionRows, Target, place_of, target

SEEDS = 5
"""Hits of a page that relations are followed from."""

_HOP = (Relation.CALLER, Relation.CALLEE)


def with_hop(
    answer: SearchAnswer,
    request: SearchRequest,
    snapshot: ChunkSnapshot,
    where: Filters,
    roots: Mapping[str, str],
    *,
    budget: Budget | None,
) -> SearchAnswer:
    """``answer`` with the callers and callees of its first hits after its hits; they pass ``where``, too."""
    last = min((hit.score for hit in answer.hits), default=0.0)
    most = max(1, request.limit // 2)
    links = _links(answer.hits, QuestionRows(snapshot), where)
    related = (_hit(link, seed, last, roots) for link, seed in links)
    if budget is None:
        return _with(answer, islice(related, most))
    found = list(related)
    room = budget.tokens - answer.tokens
    return budget.fitted(room, lambda tokens: _with(answer, _fitting(found, most, tokens, budget.of_hit)))


def _with(answer: SearchAnswer, added: Iterable[Hit]) -> SearchAnswer:
    hits = tuple(added)
    return replace(answer, hits=answer.hits + hits, tokens=answer.tokens + sum(hit.tokens for hit in hits))


def _hit(link: Link, seed: Hit, last: float, roots: Mapping[str, str]) -> Hit:
    score = last * link.confidence if last > 0 else last
    hit = hit_of(link.chunk, score, Provenance(ProvenanceLabel.GRAPH), roots)
    return replace(hit, relation=link.relation, relation_to=seed.chunk_id, relation_path=seed.path)


@dataclass(frozen=True, slots=True)
class _Seed:
    """A hit, and what of it relations are followed from: what it defines (or goes on with), and its own lines."""

    hit: Hit
    defined: Sequence[Target]
    lines: Target


def _links(hits: Sequence[Hit], rows: QuestionRows, where: Filters) -> Iterator[tuple[Link, Hit]]:
    """Sure links to what is no hit yet, surest first, each chunk once."""
    seeds = list(_seeds([hit for hit in hits if hit.language][:SEEDS], rows))
    sources = {target: seed.hit for seed in seeds for target in (*seed.defined, seed.lines)}
    found = [
        *users([target for seed in seeds for target in seed.defined], rows, where),
        *callees([seed.lines for seed in seeds], rows, where),
    ]
    seen = {hit.chunk_id for hit in hits}
    for link in strongest(link for link in found if link.relation in _HOP and link.confidence >= SURE):
        if link.target is not None and link.chunk.chunk_id not in seen:
            seen.add(link.chunk.chunk_id)
            yield link, sources[link.target]


def _seeds(hits: Sequence[Hit], rows: QuestionRows) -> Iterator[_Seed]:
    for hit in hits:
        chunks = rows.file(FileRef(hit.folder, hit.path))
        own = next((chunk for chunk in chunks if chunk.chunk_id == hit.chunk_id), None)
        if own is not None:
            yield _Seed(hit, _defined(own, chunks), Target(own, None, own.start_line, own.end_line))


def _defined(own: StoredChunk, chunks: Sequence[StoredChunk]) -> list[Target]:
    """What the chunk defines; where that is nothing, the definition that its lines go on with."""
    found = [
        DefinitionChunk(chunk, Known(d, place_of(chunk))) for chunk in chunks for d in decode(chunk.symbols).definitions
    ]
    inside = [target(one) for one in found if one.chunk is own]
    around = [one for one in map(target, found) if one.first <= own.start_line and own.end_line <= one.last]
    return inside or around[-1:]


def _fitting(hits: Iterable[Hit], most: int, tokens: int, of_hit: Callable[[Hit], int]) -> Iterator[Hit]:
    """The first ``most`` that fit into ``tokens`` together."""
    for hit in hits:
        if not most:
            return
        if of_hit(hit) > tokens:
            continue
        tokens -= of_hit(hit)
        most -= 1
        yield hit
