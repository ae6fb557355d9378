"""From the arms' lists to one order, and from that to hits with what each arm said of them. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from everfind_core.model import (
    Abstention,
    Contribution,
    FileRef,
    LexicalRank,
    Provenance,
    ProvenanceLabel,
    Relation,
    SearchMode,
    SemanticRank,
)
from everfind_core.ports import ScoredChunk, StoredChunk
from everfind_core.ranking import Admission, Candidate, Ledger, Limits, Placed, order
from everfind_core.ranking import admit as admission_of
from everfind_core.ranking.fusion import rrf
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


@dataclass(frozen=True, slots=True)
class Ranking:
    """All that the arms found, best first, and the ranks that each arm gave, by chunk id.

    Hits are made of it one by one: most of what is found is never shown. ``marks`` say, by row of the ledger, what
    else moved a chunk.
    """

    placed: Sequence[Placed]
    semantic: Mapping[str, int]
    lexical: Mapping[str, int]
    marks: Mapping[int, str]

    def hit(self, place: int) -> Ranked:
        """The chunk at ``place``."""
        one = self.placed[place]
        parts = one.ledger.parts(one.row)
        if one.row in self.marks:
            parts.append((self.marks[one.row], 0.0))
        return Ranked(one.candidate.chunk, one.score, self._provenance(one.candidate), parts)

    def _provenance(self, found: Candidate) -> Provenance:
        key = found.chunk.chunk_id
        semantic = None if found.cosine is None else SemanticRank(self.semantic[key], found.cosine)
        lexical = None if found.bm25 is None else LexicalRank(self.lexical[key], found.bm25)
        if semantic and lexical:
            label = ProvenanceLabel.BOTH
        else:
            label = ProvenanceLabel.SEMANTIC if semantic else ProvenanceLabel.LEXICAL
        return Provenance(label, semantic, lexical)


def rank(
    query: str,
    semantic: Sequence[ScoredChunk],
    lexical: Sequence[ScoredChunk],
    *,
    mode: SearchMode,
    fusion: Fusion,
    rrf_k: float,
) -> Ranking:
    """One order: in a plain mode by the arm's own score, in hybrid mode by weights and rules or by reciprocal ranks."""
    by_meaning, by_words = _ranks(semantic), _ranks(lexical)
    candidates = _candidates(semantic, lexical)
    if mode is not SearchMode.HYBRID:
        placed = _plain(mode, candidates)
    elif fusion is Fusion.RRF:
        placed = _reciprocal(candidates, by_meaning, by_words, rrf_k)
    else:
        placed = order(query, candidates)
    return Ranking(placed, by_meaning, by_words, {})


def _ranks(found: Sequence[ScoredChunk]) -> dict[str, int]:
    return {one.chunk.chunk_id: rank for rank, one in enumerate(found, start=1)}


def _candidates(semantic: Sequence[ScoredChunk], lexical: Sequence[ScoredChunk]) -> list[Candidate]:
    """What either arm found, each chunk once: the semantic arm's in its order, then those of the other alone."""
    bm25 = {found.chunk.chunk_id: found.score for found in lexical}
    candidates = [Candidate(f.chunk, f.score, bm25.pop(f.chunk.chunk_id, None)) for f in semantic]
    return candidates + [Candidate(f.chunk, None, f.score) for f in lexical if f.chunk.chunk_id in bm25]


def _plain(mode: SearchMode, candidates: Sequence[Candidate]) -> list[Placed]:
    scores = [one.bm25 or 0.0 if one.cosine is None else one.cosine for one in candidates]
    ledger = Ledger(len(candidates))
    ledger.add(mode.value, np.array(scores))
    return [Placed(one, score, ledger, row) for row, (one, score) in enumerate(zip(candidates, scores, strict=True))]


def _reciprocal(
    candidates: Sequence[Candidate], semantic: Mapping[str, int], lexical: Mapping[str, int], k: float
) -> list[Placed]:
    ledger = Ledger(len(candidates))
    rows = {one.chunk.chunk_id: row for row, one in enumerate(candidates)}
    for arm, ranks in (("semantic", semantic), ("lexical", lexical)):
        ledger.add(arm, np.array([1 / (k + ranks[key]) if key in ranks else 0.0 for key in rows]))
    return [
        Placed(candidates[rows[key]], score, ledger, rows[key])
        for key, score in rrf([list(semantic), list(lexical)], k)
    ]


Unembedded = Callable[[Collection[FileRef]], frozenset[FileRef]]
"""Says which of some files have chunks that wait for their vectors."""


@dataclass(frozen=True, slots=True)
class Admitted:
    """What may answer, in its order; ``abstained`` says why nothing may, None if something does.

    Whether it is any good could be ``judged`` only where the model or the index knows the question's words.
    """

    hits: Sequence[Ranked]
    abstained: Abstention | None
    judged: bool = True


def admit(query: str, ranking: Ranking, limits: Limits, chunks: int, unembedded: Unembedded | None = None) -> Admitted:
    """The hits with enough evidence; exact matches are marked as such (:mod:`everfind_core.ranking`).

    Hits of files that ``unembedded`` names have no semantic part yet, so a low score does not tell against them.
    """
    placed = ranking.placed
    waiting: frozenset[FileRef] = frozenset()
    if unembedded:
        waiting = unembedded({one.candidate.chunk.ref for one in placed if one.candidate.cosine is None})
    admission = admission_of(query, [one.candidate for one in placed], limits, chunks, waiting)
    least = limits.tail * max((one.score for one in placed), default=0.0)
    shown = [
        place
        for place in admission.kept
        if place in admission.exact or place in admission.waiting or placed[place].score >= least
    ]
    if limits.of_a_file:
        shown = _few_of_each_file(shown, placed, admission.exact, limits.of_a_file)
    hits = [
        _with_exact(ranking.hit(place), place, admission) if place in admission.exact else ranking.hit(place)
        for place in shown
    ]
    return Admitted(hits, None if hits else Abstention(admission.best, admission.threshold), admission.judged)


def _few_of_each_file(
    places: Sequence[int], placed: Sequence[Placed], exact: Mapping[int, int], most: int
) -> list[int]:
    """``places`` without those of files that have enough, exact matches before others; in their order."""
    counts: Counter[tuple[str, str]] = Counter()  # a FileRef's hash is Python's own, and many times slower
    kept = []
    for place in sorted(places, key=lambda place: (place not in exact, place)):
        ref = placed[place].candidate.chunk.ref
        counts[file := (ref.folder, ref.path)] += 1
        if counts[file] <= most:
            kept.append(place)
    return sorted(kept)


def _with_exact(hit: Ranked, place: int, admission: Admission) -> Ranked:
    label = ProvenanceLabel.EXACT if place in admission.alone else hit.provenance.label
    return replace(hit, provenance=replace(hit.provenance, label=label, exact=admission.exact[place]))
