"""Reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009): one order out of several, by ranks alone."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TypeVar

Item = TypeVar("Item", bound=Hashable)

RRF_K = 60
"""The paper's constant, and the default everywhere."""


def rrf(rankings: Sequence[Sequence[Item]], k: float = RRF_K) -> list[tuple[Item, float]]:
    """Every ranked item with its score Σ 1/(k + rank), best first.

    A ranking lists items best first; ranks count from 1, and an item counts once a ranking, at its first place. Items
    of equal score stand in the order of their best rank, then of the ranking that gave it (earlier rankings first):
    the same rankings always give the same order.
    """
    scores: dict[Item, float] = {}
    places: dict[Item, tuple[int, int]] = {}
    for arm, ranking in enumerate(rankings):
        for rank, item in enumerate(dict.fromkeys(ranking), start=1):
            scores[item] = scores.get(item, 0.0) + 1.0 / (k + rank)
            places[item] = min(places.get(item, (rank, arm)), (rank, arm))
    return sorted(scores.items(), key=lambda pair: (-pair[1], places[pair[0]]))
