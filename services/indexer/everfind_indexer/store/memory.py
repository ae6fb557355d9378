"""Keep what the allocator holds back small.

Lance works on many threads, and glibc gives each its own arena, which it rarely returns: without the two steps here a
bulk run holds 50 MiB more all the time, and three times as much after a merge.
"""

from __future__ import annotations

import ctypes
import sys

import pyarrow as pa

_M_ARENA_MAX = -8
_ARENAS = 2


def limit_arenas() -> None:
    """Let the process's threads share two arenas; only those that do not exist yet. Does nothing without glibc."""
    if sys.platform == "linux":
        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
        if mallopt is not None:
            mallopt(_M_ARENA_MAX, _ARENAS)


def release_unused() -> None:
    """Give freed memory back to the system."""
    pa.default_memory_pool().release_unused()
    if sys.platform == "linux":
        malloc_trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if malloc_trim is not None:
            malloc_trim(0)
