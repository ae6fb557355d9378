"""Standard input and output, taken for the protocol before anything can print to them."""

from __future__ import annotations

import os
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Wire:
    """Private descriptors of the protocol's two directions."""

    incoming: int
    outgoing: int


def claim() -> Wire:
    """Take standard input and output for the protocol alone.

    From here on descriptor 0 is empty and descriptor 1 is standard error, for this process and its children, so that
    whatever a library prints misses the wire. Call it before anything heavy is imported.
    """
    wire = Wire(os.dup(0), os.dup(1))
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    try:
        os.dup2(2, 1)
    except OSError:  # there is no standard error
        os.dup2(nothing, 1)
    os.close(nothing)
    return wire
