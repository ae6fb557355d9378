"""The default hybrid order: both arms mixed, rules added, files that agree lifted, repeats of a file lowered."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import attrgetter

from everfind_core.model import Contribution, FileRef
from everfind_core.ports import StoredChunk
from everfind_core.ranking.evidence import lexical_shares, scattered_functions, semantic_shares, semantic_weight
from everfind_core.ranking.features import ChunkFeatures, FeatureReader
from everfind_core.ranking.query import Query, read_query
from everfind_core.ranking.rules import DEMOTIONS, RULES
from everfind_core.ranking.weights import WEIGHTS, Weights

_WORDING_READ = 100
"""So many of the best chunks by the arms alone are compared word by word with the query."""

_COHERENT = 50
_COHERENT_CHUNKS = 5
"""A file's coherence counts its best chunks among the first ``_COHERENT``, at most so many."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk that an arm found, with the scores of those that did."""

    chunk: StoredChunk
    cosine: float | None = None
    bm25: float | None = None


@dataclass(slots=True)
class Placed:
    """A candidate in its place, with its score and what that is the sum of."""

    candidate: Candidate
    file: int
    score: float = 0.0
    parts: list[tuple[str, float]] = field(default_factory=list)

    def add(self, rule: str, value: float) -> None:
        """Let ``rule`` change the score."""
        if value:
            self.parts.append((rule, value))
            self.score += value

    @property
    def contributions(self) -> tuple[Contribution, ...]:
        """What each rule added or took; together the score."""
        return tuple(Contribution(rule, value) for rule, value in self.parts)


_by_score = attrgetter("score")


def order(text: str, candidates: Sequence[Candidate], weights: Weights = WEIGHTS) -> list[Placed]:
    """``candidates`` for the query ``text``, best first; equal scores stay in the order given.

    Scores are at least 0; the best score of both arms together is at most 1, and rules add to it.
    """
    query = read_query(text)
    placed, scatter = _mixed(query, candidates, weights)
    features = _read(query, placed)
    for one, read in zip(placed, features, strict=True):
        for name, rule in RULES:
            if value := rule(query, read, weights):
                one.add(name, value)
    _lift_coherent_files(placed, weights.coherence * (1 - scatter))
    _demote(query, placed, features, weights)
    _prefer_newer(placed, weights.newer)
    placed.sort(key=_by_score, reverse=True)
    _lower_repeats(placed, weights)
    placed.sort(key=_by_score, reverse=True)
    return placed


def _mixed(query: Query, candidates: Sequence[Candidate], weights: Weights) -> tuple[list[Placed], float]:
    """Both arms' scores on one scale, weighed by what the query and the arms' evidence say; and the scatter."""
    numbers: dict[FileRef, int] = {}
    files = [numbers.setdefault(candidate.chunk.ref, len(numbers)) for candidate in candidates]
    cosines = [candidate.cosine for candidate in candidates]
    by_meaning = semantic_shares(cosines)
    by_words = lexical_shares([candidate.bm25 for candidate in candidates])
    scatter = scattered_functions(by_meaning, by_words, files, [candidate.chunk.kind for candidate in candidates])
    best = max((cosine for cosine in cosines if cosine is not None), default=0.0)
    weight = semantic_weight(query, best, scatter, weights)
    placed = [Placed(candidate, file) for candidate, file in zip(candidates, files, strict=True)]
    for one, meaning, words in zip(placed, by_meaning, by_words, strict=True):
        one.add("semantic", weight * meaning)
        one.add("lexical", (1 - weight) * words)
    return placed, scatter


def _read(query: Query, placed: Sequence[Placed]) -> list[ChunkFeatures]:
    reader = FeatureReader(query, [one.candidate.chunk for one in placed])
    promising = {id(one) for one in sorted(placed, key=_by_score, reverse=True)[:_WORDING_READ]}
    return [reader.read(one.candidate.chunk, wording=id(one) in promising) for one in placed]


def _lift_coherent_files(placed: Sequence[Placed], weight: float) -> None:
    """Files of which several of the best chunks agree gain, in proportion to the file that has most.

    Where the best chunks are scattered functions no file can agree with itself, and ``weight`` is near 0.
    """
    agreeing: dict[int, list[float]] = defaultdict(list)
    for one in sorted(placed, key=_by_score, reverse=True)[:_COHERENT]:
        if len(agreeing[one.file]) < _COHERENT_CHUNKS:
            agreeing[one.file].append(one.score)
    sums = {file: sum(scores) for file, scores in agreeing.items()}
    most = max(sums.values(), default=0.0)
    if most > 0:
        for one in placed:
            one.add("file coherence", weight * sums.get(one.file, 0.0) / most)


def _demote(query: Query, placed: Sequence[Placed], features: Sequence[ChunkFeatures], weights: Weights) -> None:
    """Files that a question is seldom about lose a share of their score, each for its heaviest reason.

    A chunk that defines a name which the query spells out is what was asked for, wherever it lies.
    """
    active = [(demotion.share(weights), demotion) for demotion in DEMOTIONS if not demotion.unless & query.intents]
    for one, read in zip(placed, features, strict=True):
        if read.roles and not (query.coded and read.definition):
            reasons = [(share, demotion.name) for share, demotion in active if demotion.role in read.roles]
            if reasons:
                share, name = max(reasons)
                one.add(name, -share * one.score)


def _prefer_newer(placed: Sequence[Placed], weight: float) -> None:
    """Between documents that are nearly equal the newer one comes first: a dated one moves by at most half the weight.

    Dates count by their order among the candidates', so that one ancient document does not make all others equal.
    """
    dates = sorted({one.candidate.chunk.date for one in placed} - {""})
    if len(dates) > 1:
        places = {date: place / (len(dates) - 1) - 0.5 for place, date in enumerate(dates)}
        for one in placed:
            one.add("newer", weight * one.score * places.get(one.candidate.chunk.date, 0.0))


def _lower_repeats(placed: Sequence[Placed], weights: Weights) -> None:
    """Each further chunk of a file counts less than the one before, so that the best hits are of different files."""
    seen: dict[int, int] = defaultdict(int)
    for one in placed:
        if seen[one.file]:
            one.add("repeat", one.score / (1 + weights.repeat * seen[one.file]) - one.score)
        seen[one.file] += 1
