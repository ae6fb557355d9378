"""A model's noise on a corpus, as a person reads it."""

from __future__ import annotations

from everfind_core.model import Calibration
from everfind_gateway.render.numbers import count

_ORIGINS = {
    "settings": "from the settings",
    "model": "measured for this model",
    "calibration": "from this measurement",
}


def calibration_lines(found: Calibration) -> list[str]:
    """What was measured, what follows, and what is in use."""
    return [
        f"noise {found.noise_floor:.3f}: off-topic probe questions find no more (over {count(found.chunks, 'chunk')})",
        f"pairs of unrelated chunks stay below {found.pair_noise:.3f}",
        f"suggested min_score {found.suggested_min_score:.3f}",
        f"in use {found.min_score:.3f}, {_ORIGINS[found.origin]}",
    ]
