"""A model's noise on a corpus, and the floor that follows. Pure.

Question-like probes that the corpus does not answer are asked of its vectors: what they find is noise. Pairs of
unrelated chunks are measured besides, but no floor is made of them: chunks of one corpus are more alike than a question
and its answer are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from everfind_core.model import Calibration, Floor, ModelInfo
from everfind_core.noise.model_registry import facts_of

if TYPE_CHECKING:  # the command line must not wait for numpy
    import numpy as np
    import numpy.typing as npt

SAMPLE = 20_000
"""Chunks that are measured at most."""

LEAST_CHUNKS = 100
"""With fewer there is nothing to measure noise on."""

SETTINGS, MODEL, CALIBRATION = "settings", "model", "calibration"
"""Where the floor in use comes from."""

_PAIRS = 2_000
_STAYS_BELOW = 0.98
_PAIRS_BELOW = 0.99
_CLEAR = 0.1
"""Of the way from the noise to a perfect match, so much must be gone."""


@dataclass(frozen=True, slots=True)
class Noise:
    """What the measurement found: the evidence that probes stay below, the cosine that pairs do, and of how many."""

    probes: float
    pairs: float
    samples: int

    @property
    def suggested(self) -> float:
        """The floor that follows."""
        return round(self.probes + _CLEAR * (1 - self.probes), 3)


def measure_noise(probes: npt.NDArray[np.float32], chunks: npt.NDArray[np.floating]) -> Noise:
    """The noise of ``probes`` over ``chunks``: unit vectors, one a row."""
    import numpy as np

    from everfind_core.ranking.admission import AGREEMENT, chance
    from everfind_core.ranking.reading import FIRST

    vectors = np.asarray(chunks, dtype=np.float32)
    likeness = probes @ vectors.T
    most = min(FIRST, likeness.shape[1])
    nearest = np.sort(np.partition(likeness, -most, axis=1)[:, -most:], axis=1)[:, ::-1]
    found = (1 - AGREEMENT) * nearest[:, 0] + AGREEMENT * nearest.mean(axis=1) - chance(len(vectors))
    random = np.random.default_rng(0)
    left, right = random.integers(0, len(vectors), (2, _PAIRS))
    pairs = np.einsum("ij,ij->i", vectors[left[left != right]], vectors[right[left != right]])
    return Noise(
        float(np.quantile(found, _STAYS_BELOW)), float(np.quantile(pairs, _PAIRS_BELOW)), len(found) + len(pairs)
    )


def calibration_of(noise: Noise, model: ModelInfo, measured: float, chunks: int) -> Calibration:
    """A measurement over an index of ``chunks``, as it is kept; ``measured`` in seconds since the epoch."""
    floor = _of_model(model) or Floor(noise.suggested, CALIBRATION)
    return Calibration(
        noise_floor=round(noise.probes, 3),
        samples=noise.samples,
        suggested_min_score=noise.suggested,
        min_score=floor.min_score,
        origin=floor.origin,
        measured=measured,
        pair_noise=round(noise.pairs, 3),
        chunks=chunks,
    )


def as_used(calibration: Calibration, model: ModelInfo, min_score: float | None) -> Calibration:
    """The calibration as a corpus whose settings say ``min_score`` sees it."""
    floor = floor_of(model, calibration, min_score)
    return calibration if floor is None else replace(calibration, min_score=floor.min_score, origin=floor.origin)


def floor_of(model: ModelInfo, calibration: Calibration | None, min_score: float | None = None) -> Floor | None:
    """The floor in use; None if nobody knows one.

    The settings' ``min_score`` always wins. A floor that was measured on labelled questions beats one that follows from
    noise alone.
    """
    if min_score is not None:
        return Floor(min_score, SETTINGS)
    if calibration is None:
        return _of_model(model)
    return _of_model(model) or Floor(calibration.suggested_min_score, CALIBRATION)


def _of_model(model: ModelInfo) -> Floor | None:
    facts = facts_of(model.id)
    return None if facts is None or facts.floor is None else Floor(facts.floor, MODEL)
