"""The two arms' scores on one scale, and how far to trust each for a query."""

from __future__ import annotations

from collections.abc import Sequence

from everfind_core.ranking.query import Query
from everfind_core.ranking.weights import Weights

_BEST = 50
_BEST_BY_MEANING = 10
_GATHERED = 0.5  # the share of different files among the best chunks up to which they are not scattered
_FUNCTIONS = frozenset({"function", "method"})


def semantic_shares(cosines: Sequence[float | None]) -> list[float]:
    """Cosines from 0 (the worst that was found, and what the arm did not find) to 1 (the best)."""
    found = [cosine for cosine in cosines if cosine is not None]
    low, high = min(found, default=0.0), max(found, default=0.0)
    spread = high - low
    return [0.0 if c is None else (c - low) / spread if spread > 0 else 1.0 for c in cosines]


def lexical_shares(scores: Sequence[float | None]) -> list[float]:
    """BM25 scores as shares of the best; 0 where the arm did not find the chunk."""
    high = max((score for score in scores if score is not None), default=0.0)
    return [score / high if score is not None and high > 0 else 0.0 for score in scores]


def scattered_functions(
    by_meaning: Sequence[float], by_words: Sequence[float], files: Sequence[int], kinds: Sequence[str]
) -> float:
    """How far the best chunks are functions of many different files, 0 to 1.

    In a repository the chunks about a question gather in a few files. Where they do not, the question is about one
    function among many alike, which share its words: then meaning tells them apart better than words do.
    """
    places = range(len(files))
    best = sorted(places, key=lambda i: -(by_meaning[i] + by_words[i]))[:_BEST]
    nearest = sorted(places, key=lambda i: -by_meaning[i])[:_BEST_BY_MEANING]
    if not best:
        return 0.0
    functions = sum(kinds[i] in _FUNCTIONS for i in nearest) / len(nearest)
    scatter = len({files[i] for i in best}) / len(best)
    return functions * max(0.0, scatter - _GATHERED) / (1 - _GATHERED)


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
