"""Path boosts: files of chosen paths move up or down in an order. Scores stay what they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod

from everfind_core.globs import FileGlobs, compile_file_globs
from everfind_core.model import FileRef
from everfind_searcher.ranking import Ranked


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

    def reordered(self, ranked: Sequence[Ranked]) -> list[Ranked]:
        """``ranked`` by score times factor, best first; equal ones stay in their order."""
        if not self._factors:
            return list(ranked)
        factors = {ref: self.factor(ref) for ref in {one.chunk.ref for one in ranked}}
        marked = [_marked(one, factors[one.chunk.ref]) for one in ranked]
        return sorted(marked, key=lambda one: -_weighed(one.score, factors[one.chunk.ref]))


def _weighed(score: float, factor: float) -> float:
    return score * factor if score >= 0 else score / factor


def _marked(one: Ranked, factor: float) -> Ranked:
    """With the factor among what explains its place; it adds nothing to the score."""
    return one if factor == 1 else replace(one, parts=[*one.parts, (f"path boost ×{factor:g}", 0.0)])
