"""The best hits in the order that a reranker gives them; without an answer of it, the order of before stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from everfind_core.cancellation import Cancellation
from everfind_core.errors import DeadlineExceededError, EverfindError, ModelUnusableError, UnavailableError
from everfind_core.model import RerankRank, RerankRequest
from everfind_core.ports import Reranker
from everfind_searcher.ordering.ranking import Ranked

RERANKED: Final = 50
"""So many of the best hits are reranked."""


def reranked(
    query: str, hits: Sequence[Ranked], reranker: Reranker | None, cancel: Cancellation
) -> tuple[Sequence[Ranked], tuple[str, ...]]:
    """The hits, and what to say where they were not reranked.

    The first ``RERANKED`` stand by the reranker's scores, which become theirs; the rest follows as it was. A hit that
    another one brought (a successor) keeps its place.
    """
    if reranker is None:
        return hits, ("not reranked: no reranker is configured",)
    own = [place for place, one in enumerate(hits[:RERANKED]) if one.relation is None]
    if not own:
        return hits, ()
    try:
        scores = reranker.rerank(RerankRequest(query, tuple(hits[place].chunk.text for place in own)), cancel=cancel)
    except (ModelUnusableError, UnavailableError, DeadlineExceededError) as error:
        cancel.check()  # a caller that has no time left gets its own error
        return hits, (f"not reranked: {_why(error)}",)
    best_first = sorted(zip(own, scores, strict=True), key=lambda pair: (-pair[1], pair[0]))
    placed = list(hits)
    for rank, (slot, (place, score)) in enumerate(zip(own, best_first, strict=True), start=1):
        placed[slot] = _placed(hits[place], rank, score)
    return placed, ()


def _placed(one: Ranked, rank: int, score: float) -> Ranked:
    provenance = replace(one.provenance, rerank=RerankRank(rank, score))
    return replace(one, score=score, provenance=provenance, parts=[("rerank", score)])


def _why(error: EverfindError) -> str:
    return f"{error.message} ({error.hint})" if error.hint else error.message
