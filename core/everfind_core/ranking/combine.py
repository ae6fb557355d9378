"""The default hybrid order: both arms mixed, rules added, files that agree lifted, repeats of a file lowered.

Each step works on all candidates at once, as columns: one number for each candidate.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from everfind_core.model import Contribution, Vector
from everfind_core.ports import StoredChunk
from everfind_core.ranking.evidence import (
    best_first,
    crowding,
    lexical_shares,
    scattered_functions,
    semantic_shares,
    semantic_weight,
)
from everfind_core.ranking.features import Column, Features, read_features
from everfind_core.ranking.ledger import Ledger
from everfind_core.ranking.query import Query, read_query
from everfind_core.ranking.rules import DEMOTIONS, RULES
from everfind_core.ranking.weights import WEIGHTS, Weights

_WORDING_READ = 100
"""So many of the best chunks by the arms alone are compared word by word with the query."""

_COHERENT = 50
_COHERENT_CHUNKS = 5
"""A file's coherence counts its best chunks among the first ``_COHERENT``, at most so many."""


@dataclass(slots=True)  # not frozen: hundreds are made a query, and that would double their cost
class Candidate:
    """A chunk that an arm found, with the scores of those that did; ``vector`` reads its own where it has one."""

    chunk: StoredChunk
    cosine: float | None = None
    bm25: float | None = None
    vector: Callable[[], Vector] | None = field(default=None, compare=False)


@dataclass(slots=True)
class Placed:
    """A candidate in its place, with its score; what that is the sum of stands in a row of the ledger."""

    candidate: Candidate
    score: float
    ledger: Ledger
    row: int

    @property
    def contributions(self) -> tuple[Contribution, ...]:
        """What each rule added or took; together the score."""
        return tuple(Contribution(rule, value) for rule, value in self.ledger.parts(self.row))


def order(text: str, candidates: Sequence[Candidate], weights: Weights = WEIGHTS) -> list[Placed]:
    """``candidates`` for the query ``text``, best first; equal scores stay in the order given.

    Scores are at least 0; the best score of both arms together is at most 1, and rules add to it.
    """
    if not candidates:
        return []
    query = read_query(text)
    chunks = [candidate.chunk for candidate in candidates]
    files = _numbered(chunks)
    ledger = Ledger(len(candidates))
    scatter = _mix(ledger, query, candidates, files, weights)
    features = read_features(query, chunks, files, best_first(ledger.scores)[:_WORDING_READ])
    for name, rule in RULES:
        ledger.add(name, rule(query, features, weights))
    _lift_coherent_files(ledger, files, weights.coherence * (1 - scatter))
    _demote(ledger, query, features, weights)
    _prefer_newer(ledger, [chunk.date for chunk in chunks], weights.newer)
    before = best_first(ledger.scores)
    _lower_repeats(ledger, before, files, weights)
    after = [before[place] for place in best_first(ledger.scores[before])]
    scores = ledger.scores.tolist()
    return [Placed(candidates[row], scores[row], ledger, row) for row in after]


def _numbered(chunks: Sequence[StoredChunk]) -> list[int]:
    """The chunks' files, numbered from 0 as they come."""
    numbers: dict[tuple[str, str], int] = {}
    return [numbers.setdefault((chunk.ref.folder, chunk.ref.path), len(numbers)) for chunk in chunks]


def _mix(
    ledger: Ledger, query: Query, candidates: Sequence[Candidate], files: Sequence[int], weights: Weights
) -> float:
    """Both arms' scores on one scale, weighed by what the query and the arms' evidence say.

    Gives the scatter; in proportion to it cosines lose of what they owe to a crowd.
    """
    cosines = _column([candidate.cosine for candidate in candidates])
    by_meaning = semantic_shares(cosines)
    by_words = lexical_shares(_column([candidate.bm25 for candidate in candidates]))
    scatter = scattered_functions(by_meaning, by_words, files, [candidate.chunk.kind for candidate in candidates])
    best = max((candidate.cosine for candidate in candidates if candidate.cosine is not None), default=0.0)
    weight = semantic_weight(query, best, scatter, weights)
    ledger.add("semantic", weight * by_meaning)
    if scatter:
        crowded = crowding([None if one.vector is None else one.vector() for one in candidates])
        apart = semantic_shares(cosines - weights.crowding * scatter * crowded)
        ledger.add("crowding", weight * (apart - by_meaning))
    ledger.add("lexical", (1 - weight) * by_words)
    return scatter


def _column(scores: Sequence[float | None]) -> Column:
    """Scores, not a number where there is none."""
    return np.array(scores, dtype=np.float64)


def _lift_coherent_files(ledger: Ledger, files: Sequence[int], weight: float) -> None:
    """Files of which several of the best chunks agree gain, in proportion to the file that has most.

    Where the best chunks are scattered functions no file can agree with itself, and ``weight`` is near 0.
    """
    agreeing: dict[int, list[float]] = defaultdict(list)
    for row in best_first(ledger.scores)[:_COHERENT]:
        if len(agreeing[files[row]]) < _COHERENT_CHUNKS:
            agreeing[files[row]].append(float(ledger.scores[row]))
    sums = {file: sum(scores) for file, scores in agreeing.items()}
    most = max(sums.values(), default=0.0)
    if most > 0:
        ledger.add("file coherence", weight * np.array([sums.get(file, 0.0) for file in files]) / most)


def _demote(ledger: Ledger, query: Query, features: Features, weights: Weights) -> None:
    """Files that a question is seldom about lose a share of their score, each for its heaviest reason.

    A chunk that defines a name which the query spells out is what was asked for, wherever it lies.
    """
    active = [(demotion.share(weights), demotion) for demotion in DEMOTIONS if not demotion.unless & query.intents]
    heaviest = {
        roles: max(((share, demotion.name) for share, demotion in active if demotion.role in roles), default=None)
        for roles in set(features.roles)
    }
    rows: dict[tuple[float, str], list[int]] = defaultdict(list)
    for row, roles in enumerate(features.roles):
        reason = heaviest[roles]
        if reason is not None and not (query.coded and features.definition[row]):
            rows[reason].append(row)
    for (share, name), lowered in rows.items():
        ledger.add(name, -share * _only(lowered, ledger.scores))


def _only(rows: Sequence[int] | npt.NDArray[np.intp], column: Column) -> Column:
    """``column`` at these rows, 0 elsewhere."""
    values = np.zeros(len(column))
    values[rows] = column[rows]
    return values


def _prefer_newer(ledger: Ledger, dates: Sequence[str], weight: float) -> None:
    """Between documents that are nearly equal the newer one comes first: a dated one moves by at most half the weight.

    Dates count by their order among the candidates', so that one ancient document does not make all others equal.
    """
    known = sorted({*dates} - {""})
    if len(known) > 1:
        places = {date: place / (len(known) - 1) - 0.5 for place, date in enumerate(known)}
        ledger.add("newer", weight * ledger.scores * np.array([places.get(date, 0.0) for date in dates]))


def _lower_repeats(ledger: Ledger, order_: Sequence[int], files: Sequence[int], weights: Weights) -> None:
    """Each further chunk of a file counts less than the one before, so that the best hits are of different files."""
    seen: dict[int, int] = defaultdict(int)
    earlier = np.zeros(len(files))
    for row in order_:
        earlier[row] = seen[files[row]]
        seen[files[row]] += 1
    ledger.add("repeat", ledger.scores / (1 + weights.repeat * earlier) - ledger.scores)
