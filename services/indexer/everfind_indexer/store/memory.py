"""Memory that a bulk run has done with."""

from __future__ import annotations

import pyarrow as pa

from everfind_core.allocator import trim


def release_unused() -> None:
    """Give freed memory back to the system: without it a run holds three times as much after a merge."""
    pa.default_memory_pool().release_unused()
    trim()
