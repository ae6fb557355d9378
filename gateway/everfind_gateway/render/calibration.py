"""A model's noise on a corpus, as a person reads it."""

from __future__ import annotations

from everfind_core.model import Calibration, Floor
from everfind_core.text.numbers import count

_ORIGINS = {
    "settings": "from the settings",
    "model": "measured for this model",
    "calibration": "from the noise on this corpus",
}


def calibration_lines(found: Calibration) -> list[str]:
    """What was measured, what follows, and what is in use."""
    return [
        f"noise {found.noise_floor:.3f}: off-topic probe questions find no more (over {count(found.chunks, 'chunk')})",
        f"pairs of unrelated chunks stay below {found.pair_noise:.3f}",
        f"suggested min_score {found.suggested_min_score:.3f}",
        f"in use {floor_line(Floor(found.min_score, found.origin))}",
    ]


def floor_line(floor: Floor) -> str:
    """The floor in use, and where it comes from."""
    return f"{floor.min_score:.3f}, {_ORIGINS.get(floor.origin, floor.origin)}"


def run_line(found: Calibration) -> str:
    """What a run says of the measurement at its end; the noise only where the floor comes from it."""
    noise = f"off-topic questions find no more than {found.noise_floor:.3f}; " if found.origin == "calibration" else ""
    return f"noise measured: {noise}floor in use {floor_line(Floor(found.min_score, found.origin))}"
