"""From the arms' lists to one order, with what each arm said of each chunk. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from everfind_core.fusion import rrf
from everfind_core.model import (
    Abstention,
    Contribution,
    LexicalRank,
    Provenance,
    ProvenanceLabel,
    Relation,
    SearchMode,
    SemanticRank,
)
from everfind_core.ports import ScoredChunk, StoredChunk
from everfind_core.ranking import Admission, Candidate, Limits, order
from everfind_core.ranking import admit as admission_of
from everfind_searcher.settings import Fusion


@dataclass(frozen=True, slots=True)
class Ranked:
    """A chunk in its place, with the score that put it there, and what that score is the sum of: ``parts``, by rule.

    ``relation`` is how it belongs to ``related``, the chunk that brought it to its place; None if it found it itself.
    """

    chunk: StoredChunk
    score: float
    provenance: Provenance
    parts: Sequence[tuple[str, float]] = ()
    relation: Relation | None = None
    related: StoredChunk | None = None

    @property
    def contributions(self) -> tuple[Contribution, ...]:
        """What the score is the sum of; made when asked for, since most ranked chunks are never shown."""
        return tuple(Contribution(rule, value) for rule, value in self.parts)


def rank(
    query: str,
    semantic: Sequence[ScoredChunk],
    lexical: Sequence[ScoredChunk],
    *,
    mode: SearchMode,
    fusion: Fusion,
    rrf_k: float,
) -> list[Ranked]:
    """One order: in a plain mode by the arm's own score, in hybrid mode by weights and rules or by reciprocal ranks."""
    if mode is not SearchMode.HYBRID:
        return _plain(mode, semantic or lexical)
    arms = _Arms.of(semantic, lexical)
    return arms.reciprocal(rrf_k) if fusion is Fusion.RRF else arms.weighted(query)


def _plain(mode: SearchMode, found: Sequence[ScoredChunk]) -> list[Ranked]:
    arms = _Arms.of(found, ()) if mode is SearchMode.SEMANTIC else _Arms.of((), found)
    return [Ranked(f.chunk, f.score, arms.provenance(f.chunk.chunk_id), [(mode.value, f.score)]) for f in found]


@dataclass(frozen=True, slots=True)
class _Arms:
    """What both arms found, by chunk id; ``semantic`` and ``lexical`` in their order."""

    chunks: dict[str, StoredChunk]
    semantic: dict[str, SemanticRank]
    lexical: dict[str, LexicalRank]

    @classmethod
    def of(cls, semantic: Sequence[ScoredChunk], lexical: Sequence[ScoredChunk]) -> _Arms:
        return cls(
            {found.chunk.chunk_id: found.chunk for found in (*semantic, *lexical)},
            {f.chunk.chunk_id: SemanticRank(n, f.score) for n, f in enumerate(semantic, start=1)},
            {f.chunk.chunk_id: LexicalRank(n, f.score) for n, f in enumerate(lexical, start=1)},
        )

    def provenance(self, key: str) -> Provenance:
        semantic, lexical = self.semantic.get(key), self.lexical.get(key)
        if semantic and lexical:
            label = ProvenanceLabel.BOTH
        else:
            label = ProvenanceLabel.SEMANTIC if semantic else ProvenanceLabel.LEXICAL
        return Provenance(label, semantic, lexical)

    def reciprocal(self, k: float) -> list[Ranked]:
        return [
            Ranked(self.chunks[key], score, self.provenance(key), self._reciprocal_parts(key, k))
            for key, score in rrf([list(self.semantic), list(self.lexical)], k)
        ]

    def _reciprocal_parts(self, key: str, k: float) -> list[tuple[str, float]]:
        ranks = (("semantic", self.semantic.get(key)), ("lexical", self.lexical.get(key)))
        return [(arm, 1 / (k + found.rank)) for arm, found in ranks if found]

    def weighted(self, query: str) -> list[Ranked]:
        candidates = [
            Candidate(
                chunk,
                self.semantic[key].cosine if key in self.semantic else None,
                self.lexical[key].bm25 if key in self.lexical else None,
            )
            for key, chunk in self.chunks.items()
        ]
        return [
            Ranked(chunk := one.candidate.chunk, one.score, self.provenance(chunk.chunk_id), one.parts)
            for one in order(query, candidates)
        ]


@dataclass(frozen=True, slots=True)
class Admitted:
    """What may answer, in its order; ``abstained`` says why nothing may, None if something does.

    Whether it is any good could be ``judged`` only where the model or the index knows the question's words.
    """

    hits: Sequence[Ranked]
    abstained: Abstention | None
    judged: bool = True


def admit(query: str, ranked: Sequence[Ranked], limits: Limits, chunks: int) -> Admitted:
    """Those of ``ranked`` with enough evidence; exact matches are marked as such (:mod:`everfind_core.ranking`)."""
    candidates = [Candidate(one.chunk, *_scores(one.provenance)) for one in ranked]
    admission = admission_of(query, candidates, limits, chunks)
    least = limits.tail * max((one.score for one in ranked), default=0.0)
    hits = [
        replace(ranked[place], provenance=_with_exact(ranked[place].provenance, place, admission))
        if place in admission.exact
        else ranked[place]
        for place in admission.kept
        if place in admission.exact or ranked[place].score >= least
    ]
    return Admitted(hits, None if hits else Abstention(admission.best, admission.threshold), admission.judged)


def _scores(found: Provenance) -> tuple[float | None, float | None]:
    return found.semantic.cosine if found.semantic else None, found.lexical.bm25 if found.lexical else None


def _with_exact(found: Provenance, place: int, admission: Admission) -> Provenance:
    label = ProvenanceLabel.EXACT if place in admission.alone else found.label
    return replace(found, label=label, exact=admission.exact[place])


def pack(ranked: Sequence[Ranked], max_tokens: int) -> tuple[int, list[Ranked]]:
    """The best ones that together fit ``max_tokens`` (0: all), in order without a gap, so that a next page follows.

    Gives how many were skipped before them, because each alone is larger than the budget, and the ones that fit.
    """
    if not max_tokens:
        return 0, list(ranked)
    skipped = next((n for n, one in enumerate(ranked) if one.chunk.tokens <= max_tokens), len(ranked))
    packed: list[Ranked] = []
    left = max_tokens
    for one in ranked[skipped:]:
        left -= one.chunk.tokens
        if left < 0:
            break
        packed.append(one)
    return skipped, packed
