"""A model's noise on a corpus, and the floor that follows. Pure.

Question-like probes that the corpus does not answer are asked of its vectors: what they find is noise. Pairs of
unrelated chunks are measured besides, but no floor is made of them: chunks of one corpus are more alike than a question
and its answer are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from everfind_core.model import Calibration, ModelInfo
from everfind_core.model_registry import facts_of

if TYPE_CHECKING:  # the command line must not wait for numpy
    import numpy as np
    import numpy.typing as npt

SAMPLE = 20_000
"""Chunks that are measured at most."""

LEAST_CHUNKS = 100
"""With fewer there is nothing to measure noise on."""

SETTINGS, MODEL, CALIBRATION, NONE = "settings", "model", "calibration", ""
"""Where the floor in use comes from; the last where there is none."""

_PAIRS = 2_000
_STAYS_BELOW = 0.98
_PAIRS_BELOW = 0.99
_CLEAR = 0.15
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

    from everfind_core.ranking.admission import AGREEMENT, FIRST

    vectors = np.asarray(chunks, dtype=np.float32)
    nearest = np.sort(probes @ vectors.T, axis=1)[:, ::-1][:, :FIRST]
    found = (1 - AGREEMENT) * nearest[:, 0] + AGREEMENT * nearest.mean(axis=1)
    random = np.random.default_rng(0)
    left, right = random.integers(0, len(vectors), (2, _PAIRS))
    pairs = np.einsum("ij,ij->i", vectors[left[left != right]], vectors[right[left != right]])
    return Noise(
        float(np.quantile(found, _STAYS_BELOW)), float(np.quantile(pairs, _PAIRS_BELOW)), len(found) + len(pairs)
    )


def calibration_of(noise: Noise, model: ModelInfo, measured: float, chunks: int) -> Calibration:
    """A measurement over an index of ``chunks``, as it is kept; ``measured`` in seconds since the epoch."""
    floor, origin = _of_model(model)
    suggested = noise.suggested
    return Calibration(
        noise_floor=round(noise.probes, 3),
        samples=noise.samples,
        suggested_min_score=suggested,
        min_score=suggested if floor is None else floor,
        origin=CALIBRATION if floor is None else origin,
        measured=measured,
        pair_noise=round(noise.pairs, 3),
        chunks=chunks,
    )


def with_setting(calibration: Calibration, min_score: float | None) -> Calibration:
    """The calibration as a corpus whose settings say ``min_score`` sees it: a configured value always wins."""
    return calibration if min_score is None else replace(calibration, min_score=min_score, origin=SETTINGS)


def floor_in_use(model: ModelInfo, calibration: Calibration | None) -> float | None:
    """What an answer's evidence must reach unless the settings say otherwise; None if nobody knows.

    A floor that was measured on labelled questions beats one that follows from noise alone.
    """
    floor, _ = _of_model(model)
    if floor is not None:
        return floor
    return None if calibration is None else calibration.suggested_min_score


def _of_model(model: ModelInfo) -> tuple[float | None, str]:
    facts = facts_of(model.id)
    return (None, NONE) if facts is None or facts.floor is None else (facts.floor, MODEL)
