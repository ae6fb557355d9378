"""The one packer: chooses where to cut from boundary strengths, content and token counts. See the package's docs."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from everfind_core.chunking.structure import STRUCTURAL

Ints = npt.NDArray[np.int64]
Hashes = npt.NDArray[np.uint64]

SPACING = 0.25
"""Anchors are the strongest boundary within this share of the cap to both sides: no piece between two is smaller."""

_STRENGTH_SHIFT = 56


@dataclass(frozen=True, slots=True)
class Units:
    """What is packed: lines that are not blank, or words of one huge line.

    ``positions`` int64 (units + 1,): weight before each unit, and the total. ``strengths`` int64 (units,).
    ``hashes`` uint64 (units,): of each unit's content. No unit weighs more than the cap it is packed with.
    """

    positions: Ints
    strengths: Ints
    hashes: Hashes

    def __len__(self) -> int:
        return len(self.strengths)


def scramble(values: Hashes) -> Hashes:
    """Each value's bits mixed (the finaliser of splitmix64)."""
    mixed = values.copy()
    mixed ^= mixed >> np.uint64(30)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(27)
    mixed *= np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    return mixed


def pack(units: Units, cap: int) -> list[tuple[int, int]]:
    """First unit of each piece and the one after its last, in order; no piece weighs more than ``cap``."""
    count = len(units)
    cuts = _cuts(units, cap) if count else []
    return list(pairwise([*cuts, count]))


def _cuts(units: Units, cap: int) -> list[int]:
    positions, count = units.positions, len(units)
    if positions[-1] <= cap:
        return [0]
    ranked = _Ranked(positions, _priorities(units), cap)
    anchors = _anchors(positions, ranked.priorities, SPACING * cap)
    borders = _needed(positions, ranked.priorities, anchors, cap)
    cuts: list[int] = []
    for start, end in pairwise([*borders, count]):
        cuts.append(start)
        cuts += _split(ranked, start, end)
    return cuts


def _priorities(units: Units) -> Ints:
    """Strength, then the unit's own hash, then that of the four units from it on, as one int64 each."""
    wide = units.hashes
    for step in (1, 2):
        ahead = np.zeros_like(wide)
        ahead[:-step] = wide[step:]
        wide = scramble(wide * np.uint64(3) + ahead)
    content = ((units.hashes >> np.uint64(40)) << np.uint64(32)) | (wide >> np.uint64(32))
    return (units.strengths << _STRENGTH_SHIFT) + content.astype(np.int64)


def _anchors(positions: Ints, priorities: Ints, radius: float) -> list[int]:
    """Units with no stronger boundary within ``radius`` (of equal ones the first stands), edges included."""
    places, own = positions[:-1], np.arange(len(priorities))
    first = np.searchsorted(places, places - radius, "right")
    beyond = np.searchsorted(places, places + radius, "left")
    table = _maxima(priorities, int((beyond - first).max()))
    free = (_range_max(table, first, own) < priorities) & (_range_max(table, own + 1, beyond) <= priorities)
    free &= (places >= radius) & (positions[-1] - places >= radius)
    return [int(place) for place in np.flatnonzero(free) if place]


def _maxima(values: Ints, longest: int) -> list[Ints]:
    """Level k has the maximum of each run of 2**k values, for all runs up to ``longest``."""
    table = [values]
    width = 1
    while 2 * width <= longest:
        level = table[-1].copy()
        level[:-width] = np.maximum(level[:-width], table[-1][width:])
        table.append(level)
        width *= 2
    return table


def _range_max(table: list[Ints], first: Ints, beyond: Ints) -> Ints:
    """The maximum over ``first`` to ``beyond``, the latter left out; -1 for an empty range."""
    lengths = beyond - first
    result = np.full(len(lengths), -1, dtype=np.int64)
    for level, maxima in enumerate(table):
        width = 1 << level
        here = np.flatnonzero((lengths >= width) & (lengths < 2 * width))
        result[here] = np.maximum(maxima[first[here]], maxima[beyond[here] - width])
    return result


def _needed(positions: Ints, priorities: Ints, anchors: list[int], cap: int) -> list[int]:
    """0, and the anchors whose nearest stronger ones left and right are more than ``cap`` apart."""
    left: dict[int, int] = {}
    right: dict[int, int] = {}
    open_: list[int] = []
    for anchor in anchors:
        while open_ and priorities[open_[-1]] < priorities[anchor]:
            right[open_.pop()] = anchor
        left[anchor] = open_[-1] if open_ else 0
        open_.append(anchor)
    end = len(priorities)
    return [0, *(a for a in anchors if positions[right.get(a, end)] - positions[left[a]] > cap)]


class _Window(NamedTuple):
    """Where a cut inside a piece may lie: shares of the cap that stay before and behind it, and the least strength."""

    before: float
    behind: float
    strength: int


_STRUCTURAL_WINDOW = _Window(0.1, 0.1, STRUCTURAL)
_SOFT_WINDOW = _Window(0.5, 0.1, 0)


@dataclass(frozen=True, slots=True)
class _Ranked:
    """Units by place and priority, and what a piece may weigh."""

    positions: Ints
    priorities: Ints
    cap: int


def _split(ranked: _Ranked, start: int, end: int) -> list[int]:
    """Cuts inside a piece without anchors, from its start on, so that none of its parts weighs more than the cap."""
    positions, cap = ranked.positions, ranked.cap
    cuts: list[int] = []
    while positions[end] - positions[start] > cap:
        start = (
            _best(ranked, start, end, _STRUCTURAL_WINDOW)
            or _best(ranked, start, end, _SOFT_WINDOW)
            or max(start + 1, int(np.searchsorted(positions, positions[start] + cap, "right")) - 1)
        )
        cuts.append(start)
    return cuts


def _best(ranked: _Ranked, start: int, end: int, window: _Window) -> int:
    """The last of the strongest boundaries in the window; 0 if there is none."""
    positions, cap = ranked.positions, ranked.cap
    first = max(start + 1, int(np.searchsorted(positions, positions[start] + window.before * cap)))
    reach = min(positions[start] + cap, positions[end] - window.behind * cap)
    beyond = min(end, int(np.searchsorted(positions, reach, "right")))
    if first >= beyond:
        return 0
    best = beyond - 1 - int(np.argmax(ranked.priorities[first:beyond][::-1]))
    return best if ranked.priorities[best] >> _STRENGTH_SHIFT >= window.strength else 0
