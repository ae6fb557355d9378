"""Scores of all candidates as rules make them, and what each is the sum of."""

from __future__ import annotations

import numpy as np

from everfind_core.ranking.features import Column


class Ledger:
    """Columns of numbers that add up to the candidates' scores, in the order in which they were added."""

    def __init__(self, count: int) -> None:
        """Start with a score of 0 for each of ``count`` candidates."""
        self.scores: Column = np.zeros(count)
        self._entries: list[tuple[str, Column]] = []

    def add(self, rule: str, values: Column) -> None:
        """Let ``rule`` change the scores."""
        self.scores = self.scores + values
        self._entries.append((rule, values))

    def parts(self, row: int) -> list[tuple[str, float]]:
        """What each rule added to a candidate's score or took from it; together the score."""
        return [(rule, float(values[row])) for rule, values in self._entries if values[row]]
