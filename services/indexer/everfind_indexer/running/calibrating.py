"""Measures the embedding model's noise on what is indexed, and keeps it with the index."""

from __future__ import annotations

import time

import numpy as np

from everfind_core.cancellation import Cancellation
from everfind_core.model import Calibration, InputKind
from everfind_core.noise.calibration import LEAST_CHUNKS, SAMPLE, as_used, calibration_of, measure_noise
from everfind_core.noise.probes import PROBES
from everfind_core.ports import Embedder
from everfind_indexer.index.target import Target

_GREW = 1.2
"""A corpus that grew or shrank by this factor since it was measured is measured again."""


def calibrate(target: Target, embedder: Embedder, min_score: float | None, cancel: Cancellation) -> Calibration | None:
    """Measure and keep, and tell with the ``min_score`` of the settings in it; None if there are too few chunks."""
    sample = target.store.sample_vectors(SAMPLE)
    if len(sample) < LEAST_CHUNKS:
        return None
    probes = np.asarray(embedder.embed(PROBES, InputKind.QUERY, cancel=cancel), np.float32)
    chunks = target.location.read_coverage().total().chunks
    model = target.location.manifest.model
    calibration = calibration_of(measure_noise(probes, sample), model, time.time(), chunks)
    target.location.write_calibration(calibration)
    return as_used(calibration, model, min_score)


def is_due(target: Target) -> bool:
    """Whether the corpus is another than the one that was measured."""
    chunks = target.location.read_coverage().total().chunks
    if chunks < LEAST_CHUNKS:
        return False
    known = target.location.read_calibration()
    return known is None or not known.chunks / _GREW <= chunks <= known.chunks * _GREW
