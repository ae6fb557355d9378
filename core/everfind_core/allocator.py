"""What the C library's allocator holds back: as little as a process that lives long can do with."""

from __future__ import annotations

import ctypes
import sys
from typing import Final

from everfind_core.cpu_quota import cpu_quota

_M_ARENA_MAX: Final = -8
_LEAST_ARENAS: Final = 2


def limit_arenas() -> None:
    """Let the process's threads share as many arenas as it may use CPUs, at least two. Does nothing without glibc.

    glibc gives each new thread an arena of its own, up to eight a CPU, and each keeps what its largest call took: 16
    held 57 MiB free where two held 17, and the last of them had met its largest call after ten minutes only. Call it
    before there are threads: arenas that exist stay.
    """
    if sys.platform == "linux":
        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
        if mallopt is not None:
            mallopt(_M_ARENA_MAX, max(_LEAST_ARENAS, cpu_quota()))


def trim() -> None:
    """Give what was freed back to the system. Does nothing without glibc."""
    if sys.platform == "linux":
        malloc_trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if malloc_trim is not None:
            malloc_trim(0)
