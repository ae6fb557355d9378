"""In which numbers an index's vectors are stored. The setting chooses for a new index, whose manifest then names it."""

from __future__ import annotations

from enum import StrEnum


class VectorType(StrEnum):
    """What a stored number is: half precision, or one of eight bits."""

    HALF = "half"
    INT8 = "int8"
