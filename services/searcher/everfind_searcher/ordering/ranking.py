"""From the arms' lists to one order, and from that to hits with what each arm said of them. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import overload

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
    """All that the arms found, best first, and the ranks that the lexical arm gave, by chunk id.

    Rows of the ledger are in the order of the semantic arm, then of what the lexical one alone found. Hits are made of
    it one by one: most of what is found is never shown. ``marks`` say, by row, what else moved a chunk.
    """

    placed: Sequence[Placed]
    lexical: Mapping[str, int]
    marks: Mapping[int, str]

    def hit(self, place: int) -> Ranked:
        """The chunk at ``place``."""
        one = self.placed[place]
        parts = one.ledger.parts(one.row)
        if one.row in self.marks:
            parts.append((self.marks[one.row], 0.0))
        return Ranked(one.candidate.chunk, one.score, self._provenance(one.candidate, one.row), parts)

    def _provenance(self, found: Candidate, row: int) -> Provenance:
        semantic = None if found.cosine is None else SemanticRank(row + 1, found.cosine)
        lexical = None if found.bm25 is None else LexicalRank(self.lexical[found.chunk.chunk_id], found.bm25)
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
    by_words = _ranks(lexical)
    candidates = _candidates(semantic, lexical, by_words)
    if mode is not SearchMode.HYBRID:
        placed = _plain(mode, candidates)
    elif fusion is Fusion.RRF:
        placed = _reciprocal(candidates, _ranks(semantic), by_words, rrf_k)
    else:
        placed = order(query, candidates)
    return Ranking(placed, by_words, {})


def _ranks(found: Sequence[ScoredChunk]) -> dict[str, int]:
    return {one.chunk.chunk_id: rank for rank, one in enumerate(found, start=1)}


def _candidates(
    semantic: Sequence[ScoredChunk], lexical: Sequence[ScoredChunk], by_words: Mapping[str, int]
) -> list[Candidate]:
    """What either arm found, each chunk once: the semantic arm's in its order, then those of the other alone."""
    alone = dict(by_words)
    both = [(found, alone.pop(found.chunk.chunk_id, 0)) for found in semantic]
    candidates = [Candidate(f.chunk, f.score, lexical[rank - 1].score if rank else None, f.vector) for f, rank in both]
    return candidates + [Candidate(lexical[n - 1].chunk, None, lexical[n - 1].score) for n in alone.values()]


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
class AdmittedHits(Sequence[Ranked]):
    """The hits at some ``places`` of a ranking, each made when it is looked at, and the same one from then on."""

    ranking: Ranking
    admission: Admission
    places: Sequence[int]
    _made: dict[int, Ranked] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.places)

    @overload
    def __getitem__(self, which: int) -> Ranked: ...

    @overload
    def __getitem__(self, which: slice) -> AdmittedHits: ...

    def __getitem__(self, which: int | slice) -> Ranked | AdmittedHits:
        if isinstance(which, slice):
            return AdmittedHits(self.ranking, self.admission, self.places[which], self._made)
        place = self.places[which]
        if (made := self._made.get(place)) is None:
            hit = self.ranking.hit(place)
            made = _with_exact(hit, place, self.admission) if place in self.admission.exact else hit
            self._made[place] = made
        return made

    def chunks(self) -> Iterator[StoredChunk]:
        """Their chunks alone."""
        return (self.ranking.placed[place].candidate.chunk for place in self.places)


@dataclass(frozen=True, slots=True)
class Admitted:
    """What may answer, in its order; ``abstained`` says why nothing may, None if something does.

    Whether it is any good could be ``judged`` only where the model or the index knows the question's words.
    """

    hits: AdmittedHits
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
    return Admitted(
        AdmittedHits(ranking, admission, shown),
        None if shown else Abstention(admission.best, admission.threshold),
        admission.judged,
    )


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
