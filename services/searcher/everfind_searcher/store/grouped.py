"""The postings of several fragments as one, so that a term is looked up once for all of them.

Fragments come by the save and their rows die one by one; what a search costs shall follow from the rows that there are.
So fragments are put together, and dead rows apart, whenever enough of that is to be done: a twentieth of all rows. Each
row that is saved so moves twenty others, which costs about what it costs to read it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
import numpy.typing as npt

from everfind_searcher.store.bm25 import Mask
from everfind_searcher.store.copies import Fragment
from everfind_searcher.store.postings import Matches, Postings, Renumbered

MOST_ROWS: Final = 1 << 16
"""Rows of a group at most, but for a single fragment: 16 bits number them."""

_SMALL: Final = 500
"""Rows of fragments that are looked up in together: each costs as much as a large one, and a save adds one."""

CHANGED_SHARE: Final = 0.05
"""Rows in no group, or dead beside living ones, that are left so at most."""


@dataclass(frozen=True, slots=True)
class PostingsGroup:
    """The postings of some fragments' rows, which are numbered one after another.

    Those of rows that were dead already are ``dead``: of them a search needs to know only how many there are.
    """

    fragments: Sequence[Fragment]
    rows: Sequence[int]
    """How many each fragment has, dead ones too."""
    living: Postings
    dead: Postings
    beside: npt.NDArray[np.uint32]
    """In how many dead rows each term of the living ones stands."""
    lived: Mask
    """Of all rows, those that ``living`` has."""

    @classmethod
    def single(cls, fragment: Fragment, postings: Postings) -> PostingsGroup:
        """One fragment with all its rows."""
        count = len(postings.lengths)
        nothing = Postings.none()
        return cls((fragment,), (count,), postings, nothing, postings.rows_beside(nothing), np.ones(count, dtype=bool))

    @classmethod
    def joined(cls, parts: Sequence[PostingsGroup], live: Mask) -> PostingsGroup:
        """Those of several, whose rows are ``live`` or not; none that a part has as dead may be."""
        return cls._of(parts, {fragment for part in parts for fragment in part.fragments}, live)

    @property
    def lengths(self) -> npt.NDArray[np.uint32]:
        """The tokens of each row."""
        return self.living.lengths

    @property
    def nbytes(self) -> int:
        """What it takes in memory."""
        return self.living.nbytes + self.dead.nbytes + self.beside.nbytes + self.lived.nbytes

    def only(self, fragments: Collection[Fragment]) -> PostingsGroup:
        """The part of it that is of these fragments."""
        if all(fragment in fragments for fragment in self.fragments):
            return self
        return self._of([self], fragments, self.lived)

    def find(self, term: str) -> Matches | None:
        """The living rows that ``term`` stands in, and in how many dead ones it does; None if in none."""
        number = self.living.number(term)
        if number is not None:
            return self.living.matches(number, int(self.beside[number]))
        dead = self.dead.find(term)
        return None if dead is None else Matches(dead.places[:0], dead.counts[:0], left_out=len(dead.places))

    @classmethod
    def _of(cls, parts: Sequence[PostingsGroup], fragments: Collection[Fragment], live: Mask) -> PostingsGroup:
        own = [(fragment, rows) for part in parts for fragment, rows in zip(part.fragments, part.rows, strict=True)]
        kept = np.repeat([fragment in fragments for fragment, _ in own], [rows for _, rows in own]).astype(bool)
        numbers = np.where(kept, np.cumsum(kept) - 1, -1)
        borders = np.cumsum([len(part.lived) for part in parts])[:-1]
        living = np.split(np.where(live, numbers, -1), borders)
        dead = np.split(np.where(live, -1, numbers), borders)
        lengths = np.concatenate([part.lengths for part in parts])[kept]
        there = [Renumbered(part.living, one) for part, one in zip(parts, living, strict=True)]
        gone = [Renumbered(one, new) for part, new in zip(parts, dead, strict=True) for one in (part.living, part.dead)]
        chosen = [(fragment, rows) for fragment, rows in own if fragment in fragments]
        own_rows, other_rows = Postings.joined(there, lengths), Postings.joined(gone, Postings.none().lengths)
        return cls(
            [fragment for fragment, _ in chosen],
            [rows for _, rows in chosen],
            own_rows,
            other_rows,
            own_rows.rows_beside(other_rows),
            live[kept],
        )


class VersionPostings:
    """The postings of all rows of one version, numbered through its groups and then its other fragments."""

    def __init__(self, groups: Sequence[PostingsGroup], others: Sequence[PostingsGroup], live: Mask) -> None:
        """``others`` are of one fragment each, the small ones last; see :meth:`of`."""
        self._groups = groups
        self._others = others
        self._live = live
        parts = self._parts()
        self.finds = [part.find for part in parts]
        self.lengths = [part.lengths for part in parts]
        self.gone = np.flatnonzero(_lived(parts) & ~live)
        """Dead rows that stand beside living ones."""

    @classmethod
    def of(cls, groups: Sequence[PostingsGroup], others: Sequence[PostingsGroup], live: Mask) -> VersionPostings | None:
        """Those of the version whose rows are ``live``; None where postings of living ones are missing."""
        lived = _lived([*groups, *others])
        return cls(groups, others, live) if len(lived) == len(live) and lived[live].all() else None

    def regrouped(self) -> Sequence[PostingsGroup] | None:
        """Other groups of the same rows, which are all in one; None where too little changed since they were made."""
        parts = [*self._groups, *self._others]
        borders = np.cumsum([0, *(len(part.lived) for part in parts)]).tolist()
        marks = [self._live[first:last] for first, last in pairwise(borders)]
        died = [int((part.lived & ~mark).sum()) for part, mark in zip(parts, marks, strict=True)]
        changed = sum(died[: len(self._groups)]) + sum(len(part.lived) for part in self._others)
        if changed <= CHANGED_SHARE * len(self._live):
            return None
        found = []
        for which in _packed([len(part.lived) for part in parts]):
            own = [parts[n] for n in which]
            few = sum(died[n] for n in which) <= CHANGED_SHARE * sum(len(part.lived) for part in own)
            keep = few and len(own) == 1
            found += own if keep else [PostingsGroup.joined(own, np.concatenate([marks[n] for n in which]))]
        return found

    def _parts(self) -> Sequence[PostingsGroup]:
        """What a term is looked up in: each group, each large fragment, and the small ones together."""
        small = [other for other in self._others if len(other.lived) <= _SMALL]
        large = self._others[: len(self._others) - len(small)]
        rows = sum(len(other.lived) for other in small)
        together = [PostingsGroup.joined(small, self._live[len(self._live) - rows :])] if small else []
        return [*self._groups, *large, *together]


def _lived(parts: Sequence[PostingsGroup]) -> Mask:
    return np.concatenate([np.zeros(0, bool), *(part.lived for part in parts)])


def _packed(sizes: Iterable[int]) -> Sequence[Sequence[int]]:
    """The numbers of the parts, one after another in as many groups as they need."""
    groups: list[list[int]] = []
    room = -1
    for number, size in enumerate(sizes):
        if size > room:
            groups.append([])
            room = MOST_ROWS
        groups[-1].append(number)
        room -= size
    return groups
