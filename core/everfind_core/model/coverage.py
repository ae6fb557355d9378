"""What an answer was searched in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

EMPTY_COUNTS: Mapping[str, int] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Coverage:
    """What an answer was searched in, so that "nothing found" means something.

    ``files`` and ``chunks`` are searchable, ``skipped`` counts by reason, ``pending`` are files known to have changed
    or to wait for their vectors; it is never 0 while a run that changes something has not settled. ``unembedded``
    chunks wait for their vectors: only the lexical arm finds them.
    """

    files: int = 0
    chunks: int = 0
    skipped: Mapping[str, int] = field(default_factory=lambda: EMPTY_COUNTS)
    pending: int = 0
    unembedded: int = 0
