"""Path boosts: files of chosen paths move up or down in an order. Scores stay what they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import prod

from everfind_core.files.globs import FileGlobs, compile_file_globs
from everfind_core.model import FileRef
from everfind_searcher.ordering.ranking import Ranking


class PathBoosts:
    """Factors by path glob; a file that several match has their product."""

    def __init__(self, factors: Mapping[str, float]) -> None:
        """Raises InvalidRequestError for a malformed glob."""
        self._factors: list[tuple[FileGlobs, float]] = []
        for glob, factor in factors.items():
            if (compiled := compile_file_globs([glob], field="path_boosts")) is not None:
                self._factors.append((compiled, factor))

    def factor(self, ref: FileRef) -> float:
        """What the file's scores count times; 1 where nothing matches."""
        return prod(factor for globs, factor in self._factors if globs.matches(ref))

    def reordered(self, ranking: Ranking) -> Ranking:
        """``ranking`` by score times factor, best first; equal ones stay in their order.

        A factor is marked among what explains a place; it adds nothing to the score.
        """
        if not self._factors:
            return ranking
        factors = {ref: self.factor(ref) for ref in {one.candidate.chunk.ref for one in ranking.placed}}
        marks = {
            one.row: f"path boost ×{factor:g}"
            for one in ranking.placed
            if (factor := factors[one.candidate.chunk.ref]) != 1
        }
        placed = sorted(ranking.placed, key=lambda one: -_weighed(one.score, factors[one.candidate.chunk.ref]))
        return replace(ranking, placed=placed, marks=marks)


def _weighed(score: float, factor: float) -> float:
    return score * factor if score >= 0 else score / factor
