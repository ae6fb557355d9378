"""The process of a server, which lives long."""

from __future__ import annotations

import gc

from everfind_core.allocator import limit_arenas

GARBAGE = 5_000
"""Objects that may be made before a look for cycles among them: gRPC leaves six in one with every call, so that the
50,000 of a command would hold 7 MiB of 8,000 calls."""


def live_long() -> None:
    """Have the process hold little that it does not use. Before it has threads."""
    gc.set_threshold(GARBAGE)
    limit_arenas()
