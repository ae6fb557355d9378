"""Waiting for what another thread or process does, as long as a loaded machine may take."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE_SECONDS = 60.0
_LOOK_SECONDS = 0.01


def wait_until(condition: Callable[[], object]) -> None:
    """Return once ``condition`` holds; fail if it never does."""
    end = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < end, "it never came"
        time.sleep(_LOOK_SECONDS)
