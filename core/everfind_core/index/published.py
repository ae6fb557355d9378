"""An index on an object store: what the indexer writes there, and searchers read in place.

::

    <place>/
        published.json                           which index, which version of its table, and all that is small of it
        indexes/<publisher>-<index id>/
            chunks.lance/                        the files of the table; none is ever changed

``published.json`` is replaced in one step, on the condition that it is still what the publisher read; so a reader sees
one generation whole, and of two publishers one is refused. Files that a new generation does without stay for readers of
the one before, until they are ``KEPT_SECONDS`` out of use.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final

from everfind_core.errors import IndexDamagedError, IndexIncompatibleError
from everfind_core.files.parsed_json import OTHER_SHAPE, convert, parse_json
from everfind_core.index.names import CALIBRATION, COVERAGE, INDEXES, MANIFEST
from everfind_core.index.store_schema import TABLE_DIRECTORY

FORMAT: Final = 1
PUBLISHED: Final = "published.json"
SIDECARS: Final = (MANIFEST, COVERAGE, CALIBRATION)
KEPT_SECONDS: Final = 600.0


@dataclass(frozen=True, slots=True)
class Published:
    """A published generation.

    ``publisher`` names the index directory that it comes from, ``index`` the index in it, ``version`` that of its
    table; ``sidecars`` are its small files by name. ``unused`` are objects that it does without, with when they came
    out of use; ``at`` is when it was published. Both in seconds since the epoch.
    """

    publisher: str
    index: str
    version: int
    sidecars: Mapping[str, Mapping[str, Any]]
    at: float = 0.0
    unused: Mapping[str, float] = field(default_factory=dict)
    format: int = FORMAT

    @property
    def table(self) -> str:
        """Where the files of the table lie, below the place."""
        return f"{INDEXES}/{self.publisher}-{self.index}/{TABLE_DIRECTORY}"

    def shows(self, other: Published) -> bool:
        """Whether readers find here what they would find in ``other``."""
        return (self.publisher, self.index, self.version, self.sidecars) == (
            other.publisher,
            other.index,
            other.version,
            other.sidecars,
        )

    def follows(self, other: Published) -> bool:
        """Whether this is ``other``'s index with what came since, so that what was read of it still holds."""
        same = (self.publisher, self.index, self.sidecars.get(MANIFEST)) == (
            other.publisher,
            other.index,
            other.sidecars.get(MANIFEST),
        )
        return same and self.version >= other.version

    def encoded(self) -> bytes:
        """As it is stored."""
        return json.dumps(asdict(self), separators=(",", ":")).encode()


def decoded(content: bytes, place: str) -> Published:
    """What was stored at ``place``.

    Raises:
        IndexDamagedError: it cannot be read.
        IndexIncompatibleError: a newer everfind wrote it.
    """
    try:
        found = parse_json(content)
        newer = int(found["format"]) > FORMAT
        told = None if newer else _told(found)
    except OTHER_SHAPE as error:
        raise IndexDamagedError(
            f"the index at {place} is damaged: {PUBLISHED} cannot be read",
            hint="Remove that object, and let the indexer publish again: `everfind index`.",
        ) from error
    if told is None:
        raise IndexIncompatibleError(
            f"the index at {place} was published by a newer everfind", hint="Use that version or a newer one."
        )
    return told


def _told(found: Any) -> Published:
    told = convert(found, Published)
    if not (told.index.isdecimal() and told.publisher.isalnum() and MANIFEST in told.sidecars):
        raise ValueError(told.index)  # they become parts of paths
    return replace(told, sidecars={name: told.sidecars[name] for name in SIDECARS if name in told.sidecars})
