"""What the C library's allocator holds back: as little as a process that lives long can do with."""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from typing import Final

from everfind_core.cpu_quota import cpu_quota

_M_ARENA_MAX: Final = -8
_LEAST_ARENAS: Final = 2


def limit_arenas() -> None:
    """Let the process's threads share as many arenas as it may use CPUs, at least two. Does nothing without glibc.

    glibc gives each new thread an arena of its own, up to eight a CPU, and each keeps what its largest call took: 16
    held 57 MiB free where two held 17, and the last of them met its largest call after minutes. Call it
    before there are threads: arenas that exist stay.
    """
    _call("mallopt", _M_ARENA_MAX, max(_LEAST_ARENAS, cpu_quota()))


def trim() -> None:
    """Give what was freed back to the system. Does nothing without glibc."""
    _call("malloc_trim", 0)


def _call(name: str, *arguments: int) -> None:
    function = getattr(_library(), name, None)
    if function is not None:
        function(*arguments)


@cache
def _library() -> ctypes.CDLL | None:
    """The C library; opened once, for each opening makes types that only a look for cycles removes."""
    return ctypes.CDLL(None) if sys.platform == "linux" else None
