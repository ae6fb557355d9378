from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from everfind_core.model import Floor, ModelInfo
from everfind_core.noise.calibration import Noise, as_used, calibration_of, floor_of, measure_noise
from everfind_core.noise.probes import PROBES
from everfind_core.ranking.admission import chance

UNKNOWN = ModelInfo("somebody/new-model", "1", 384, 256, "mean")
KNOWN = replace(UNKNOWN, id="sentence-transformers/all-MiniLM-L6-v2")


def test_noise_is_what_probes_find() -> None:
    random = np.random.default_rng(1)
    chunks = random.normal(size=(500, 8)).astype(np.float32)
    chunks /= np.linalg.norm(chunks, axis=1, keepdims=True)
    probes = np.eye(8, dtype=np.float32)
    noise = measure_noise(probes, chunks)
    found = []
    for probe in probes:
        cosines = sorted((float(probe @ chunk) for chunk in chunks), reverse=True)
        found.append(0.6 * cosines[0] + 0.4 * sum(cosines[:10]) / 10 - chance(len(chunks)))
    assert noise.probes == pytest.approx(np.quantile(found, 0.98), abs=1e-5)
    assert 0.5 < noise.pairs < 1.0
    assert noise.samples > 1_000
    assert measure_noise(probes, chunks) == noise


def test_a_floor_follows_for_a_model_that_nobody_measured() -> None:
    calibration = calibration_of(Noise(0.8, 0.9, 2_040), UNKNOWN, 5.0, 700)
    assert (calibration.suggested_min_score, calibration.min_score) == (0.82, 0.82)
    assert (calibration.origin, calibration.chunks, calibration.measured) == ("calibration", 700, 5.0)
    assert floor_of(UNKNOWN, calibration) == Floor(0.82, "calibration")
    assert floor_of(UNKNOWN, None) is None


def test_a_measured_floor_beats_one_that_follows_from_noise_and_a_setting_beats_both() -> None:
    calibration = calibration_of(Noise(0.2, 0.5, 2_040), KNOWN, 5.0, 700)
    assert (calibration.suggested_min_score, calibration.min_score, calibration.origin) == (0.28, 0.35, "model")
    assert floor_of(KNOWN, calibration) == floor_of(KNOWN, None) == Floor(0.35, "model")
    assert floor_of(KNOWN, calibration, 0.5) == floor_of(UNKNOWN, None, 0.5) == Floor(0.5, "settings")
    chosen = as_used(calibration, KNOWN, 0.5)
    assert (chosen.min_score, chosen.origin, chosen.suggested_min_score) == (0.5, "settings", 0.28)
    assert as_used(calibration, KNOWN, None) == calibration


def test_what_is_known_of_a_model_now_beats_what_was_known_when_it_was_measured() -> None:
    kept = replace(calibration_of(Noise(0.2, 0.5, 2_040), KNOWN, 5.0, 700), min_score=0.1, origin="calibration")
    assert (as_used(kept, KNOWN, None).min_score, as_used(kept, KNOWN, None).origin) == (0.35, "model")


def test_probes_are_many_and_distinct() -> None:
    assert len(set(PROBES)) == len(PROBES) == 40
