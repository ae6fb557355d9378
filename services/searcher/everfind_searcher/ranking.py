"""From the arms' lists to one order, with what each arm said of each chunk. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from everfind_core.fusion import rrf
from everfind_core.model import LexicalRank, Provenance, ProvenanceLabel, SearchMode, SemanticRank
from everfind_core.ports import ScoredChunk, StoredChunk


@dataclass(frozen=True, slots=True)
class Ranked:
    """A chunk in its place, with the score that put it there."""

    chunk: StoredChunk
    score: float
    provenance: Provenance


def rank(
    semantic: Sequence[ScoredChunk], lexical: Sequence[ScoredChunk], *, mode: SearchMode, rrf_k: float
) -> list[Ranked]:
    """One order: by the arm's own score in a plain mode, by reciprocal rank fusion in hybrid mode."""
    chunks = {found.chunk.chunk_id: found.chunk for found in (*semantic, *lexical)}
    by_meaning = {f.chunk.chunk_id: SemanticRank(n, f.score) for n, f in enumerate(semantic, start=1)}
    by_words = {f.chunk.chunk_id: LexicalRank(n, f.score) for n, f in enumerate(lexical, start=1)}
    if mode is SearchMode.HYBRID:
        scores = rrf([list(by_meaning), list(by_words)], rrf_k)
    else:
        scores = [(found.chunk.chunk_id, found.score) for found in (*semantic, *lexical)]
    return [Ranked(chunks[key], score, _provenance(by_meaning.get(key), by_words.get(key))) for key, score in scores]


def admit(ranked: Sequence[Ranked], *, min_score: float | None, relative_cutoff: float | None) -> list[Ranked]:
    """Those with enough evidence: a cosine that passes both limits, or a lexical match. Keeps the order."""
    best = best_cosine(ranked)
    floor = max(
        -1.0 if min_score is None else min_score,
        -1.0 if relative_cutoff is None else relative_cutoff * best,
    )
    return [
        r for r in ranked if r.provenance.lexical or (r.provenance.semantic and r.provenance.semantic.cosine >= floor)
    ]


def best_cosine(ranked: Sequence[Ranked]) -> float:
    """The highest cosine among them; 0 if there is none."""
    return max((r.provenance.semantic.cosine for r in ranked if r.provenance.semantic), default=0.0)


def pack(ranked: Sequence[Ranked], max_tokens: int) -> list[Ranked]:
    """The best ones whose tokens together fit ``max_tokens`` (0: all); one that does not fit makes room for smaller."""
    if not max_tokens:
        return list(ranked)
    packed: list[Ranked] = []
    left = max_tokens
    for one in ranked:
        if one.chunk.tokens <= left:
            packed.append(one)
            left -= one.chunk.tokens
    return packed


def _provenance(semantic: SemanticRank | None, lexical: LexicalRank | None) -> Provenance:
    if semantic and lexical:
        label = ProvenanceLabel.BOTH
    else:
        label = ProvenanceLabel.SEMANTIC if semantic else ProvenanceLabel.LEXICAL
    return Provenance(label, semantic, lexical)
