"""A place in a file as people write it: ``PATH:LINE`` or ``PATH:FIRST-LAST``."""

from __future__ import annotations

import re
from dataclasses import dataclass

_PLACE = re.compile(r"(?P<path>.*[^:]):(?P<start>\d{1,9})(?:-(?P<end>\d{0,9}))?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class PathLines:
    """A path as it is written, and lines from 1 as they are given; ``end`` is 0 where there is none."""

    path: str
    start: int
    end: int = 0


def place_in(text: str) -> PathLines | None:
    """The place that ``text`` is; None where no lines follow a path. A file may have such a name: look for it first."""
    found = _PLACE.fullmatch(text)
    return PathLines(found["path"], int(found["start"]), int(found["end"] or 0)) if found else None
