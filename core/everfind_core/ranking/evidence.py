"""The two arms' scores on one scale, how far to trust each for a query, and which candidates are crowded.

Scores are columns over the candidates, not a number (NaN) where the arm did not find one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from everfind_core.model import Vector, Vectors
from everfind_core.ranking.features import Column
from everfind_core.ranking.query import Query
from everfind_core.ranking.weights import Weights

_BEST = 50
_BEST_BY_MEANING = 10
_GATHERED = 0.5  # the share of different files among the best chunks up to which they are not scattered
_NEIGHBOURS = 10
_ROWS_AT_ONCE = 25
_TINY = np.float32(1e-12)
_FUNCTIONS = frozenset({"function", "method"})


def semantic_shares(cosines: Column) -> Column:
    """Cosines from 0 (the worst that was found, and what the arm did not find) to 1 (the best)."""
    there = ~np.isnan(cosines)
    if not there.any():
        return np.zeros(len(cosines))
    low, high = cosines[there].min(), cosines[there].max()
    spread = high - low
    return np.where(there, (cosines - low) / spread if spread > 0 else 1.0, 0.0)


def lexical_shares(scores: Column) -> Column:
    """BM25 scores as shares of the best; 0 where the arm did not find the chunk."""
    found = np.nan_to_num(scores)
    high = found.max(initial=0.0)
    return found / high if high > 0 else np.zeros(len(found))


def scattered_functions(by_meaning: Column, by_words: Column, files: Sequence[int], kinds: Sequence[str]) -> float:
    """How far the best chunks are functions of many different files, 0 to 1.

    In a repository the chunks about a question gather in a few files. Where they do not, the question is about one
    function among many alike, which share its words: then meaning tells them apart better than words do.
    """
    if not len(files):
        return 0.0
    best = best_first(by_meaning + by_words)[:_BEST]
    nearest = best_first(by_meaning)[:_BEST_BY_MEANING]
    functions = sum(kinds[i] in _FUNCTIONS for i in nearest) / len(nearest)
    scatter = len({files[i] for i in best}) / len(best)
    return functions * max(0.0, scatter - _GATHERED) / (1 - _GATHERED)


def crowding(vectors: Sequence[Vector | None]) -> Column:
    """How near each candidate's ten nearest others are to it, as a mean cosine less the mean of these over all.

    ``vectors`` may have any length; a candidate without one has 0. Among functions that are much alike some are a
    little near to every question, in a crowd of their like: hubs. One that is as near and stands apart answers this
    question. What is taken off here is the local scaling of CSLS, among the candidates instead of the corpus (Conneau
    et al. 2018, *Word Translation Without Parallel Data*, section 2.3).
    """
    found = np.zeros(len(vectors))
    compared = [place for place, vector in enumerate(vectors) if vector is not None]
    if len(compared) > 1:
        matrix = np.array([vectors[place] for place in compared], dtype=np.float32)
        matrix /= np.maximum(np.linalg.norm(matrix, axis=1, keepdims=True), _TINY)
        near = _products(matrix)
        np.fill_diagonal(near, -1)
        neighbours = min(_NEIGHBOURS, len(compared) - 1)
        means = np.sort(near, axis=1)[:, -neighbours:].mean(axis=1)
        found[compared] = means - means.mean()
    return found


def _products(matrix: Vectors) -> Vectors:
    """The dot products of all pairs of rows, of shape (rows, rows); each is computed once.

    By ``vecdot``, which keeps to this thread, unlike a product of matrices, whose threads know of no CPU quota.
    """
    found = np.empty((len(matrix), len(matrix)), np.float32)
    for start in range(0, len(matrix), _ROWS_AT_ONCE):
        rows = slice(start, start + _ROWS_AT_ONCE)
        found[rows, start:] = np.vecdot(matrix[rows, None], matrix[None, start:])
        found[start:, rows] = found[rows, start:].T
    return found


def best_first(scores: Column) -> list[int]:
    """Places by score, the highest first; equal ones in their order."""
    places: list[int] = np.argsort(-scores, kind="stable").tolist()
    return places


def semantic_weight(query: Query, best_cosine: float, scatter: float, weights: Weights) -> float:
    """How much the semantic arm counts, 0 to 1; the lexical arm counts the rest.

    An identifier leans lexical, and so does a script that the default model was not trained on. Otherwise meaning
    counts the more, the nearer the best chunk is by meaning, and where the best ones are functions all over the place.
    """
    if query.asks_for_identifier:
        weight = weights.semantic_for_identifier
    else:
        clear = weights.semantic + weights.semantic_slope * (best_cosine - weights.clear_cosine)
        clear = min(max(clear, weights.semantic_least), weights.semantic_most)
        weight = min(clear + weights.semantic_for_scatter * scatter, weights.semantic_limit)
    return weight * (1 - query.cjk) + weights.semantic_for_cjk * query.cjk
