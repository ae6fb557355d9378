"""The weights of the default ranking: one table, fitted on the development sets (docs/benchmarks.md)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Weights:
    """How the arms are mixed, and what each rule may add at most, in units of the best mixed score (1).

    ``semantic`` is the semantic arm's share for a sentence whose best cosine is ``clear_cosine``; it moves by
    ``semantic_slope`` times the difference, between ``semantic_least`` and ``semantic_most``, and by
    ``semantic_for_scatter`` times the scatter up to ``semantic_limit``. ``crowding`` times the scatter is the share of
    a chunk's crowding that its cosine loses. Demotions are shares of a chunk's score; so is ``newer``, between the
    oldest and the newest document.
    """

    semantic: float = 0.5
    semantic_slope: float = 0.8
    clear_cosine: float = 0.6
    semantic_least: float = 0.2
    semantic_most: float = 0.8
    semantic_for_scatter: float = 0.3
    semantic_limit: float = 0.85
    semantic_for_identifier: float = 0.25
    semantic_for_cjk: float = 0.1
    crowding: float = 0.2

    definition_asked_for: float = 0.4
    definition_in_sentence: float = 0.1
    stem: float = 0.12
    path: float = 0.1
    wording: float = 0.35
    quoted: float = 1.0
    coherence: float = 0.2

    test: float = 0.6
    example: float = 0.2
    legacy: float = 0.25
    generated: float = 0.25
    record: float = 0.25
    internal: float = 0.08
    index: float = 0.05

    repeat: float = 1.0
    newer: float = 0.02


WEIGHTS = Weights()
"""The default."""
