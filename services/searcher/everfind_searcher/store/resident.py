"""Rows held in memory: the part of the table that answers are made of, read once and not once a query.

The unit is a fragment, because a fragment's data never changes: a commit masks rows and adds fragments, a compaction
puts new fragments in place of old ones. Each has a name that no other ever had, be it that the table was put back from
a copy and has gone on otherwise. So a row in memory equals the row in the store for each version that has the fragment,
and keeping up with a new version means to read the fragments that are new and to let go of those that are gone. Which
rows a version has, and which of them match, is always asked of the store.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt

from everfind_core.errors import EverfindError
from everfind_core.ports import StoredChunk
from everfind_searcher.remembered import Remembered
from everfind_searcher.store.copies import OFFSET_BITS, OFFSETS, Addresses, Copy, Fragment, Version
from everfind_searcher.store.grouped import PostingsGroup
from everfind_searcher.store.whole import WholeVersion

_VERSIONS: Final = 2
"""So many versions are remembered as wholes, for those who still ask the one before."""

_FEW: Final = 500
"""So many new rows are read sooner than a question is answered without them."""

_MANY: Final = 1_000
"""So many rows read at once are worth a full garbage collection."""


@dataclass(frozen=True, slots=True)
class _Held:
    """What is in memory now, and the versions of which that is all."""

    copies: Mapping[Fragment, Copy]
    groups: Sequence[PostingsGroup] = ()
    """The postings of those copies that have none."""
    wholes: Remembered[Version, WholeVersion] = field(default_factory=lambda: Remembered(_VERSIONS))

    def of(self, version: Version) -> Mapping[int, Copy]:
        """The fragments of this version, by their numbers."""
        return {one.number: self.copies[one] for one in version.fragments() if one in self.copies}


class ResidentRows:
    """The rows of one table that are in memory, at most ``limit`` bytes of them. Thread-safe.

    A version is known by its object: whoever follows one gives the same again.

    A fragment that does not fit is read from the store, query by query.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._guard = threading.Lock()
        self._making = threading.Lock()
        self._asked = False
        self._settled = False
        self._newest: Version | None = None
        self._loader = ThreadPoolExecutor(1, thread_name_prefix="resident-rows")
        self._held = _Held({})

    @property
    def size(self) -> int:
        """Bytes that the rows take."""
        held = self._held
        return sum(copy.size for copy in held.copies.values()) + sum(group.nbytes for group in held.groups)

    def follow(self, version: Version) -> None:
        """Keep up with this version: at once where few rows of it are new, else in the background.

        Only from the second call on: a process that asks once and ends shall not read a whole table for it.
        """
        with self._guard:
            if self._asked and version is not self._newest:
                self._newest = version
                loading = self._loader.submit(self._load_newest)
                if self._is_almost_there(version):
                    wait([loading])
            self._asked = True

    def _is_almost_there(self, version: Version) -> bool:
        """Whether what is in memory is all of this version but for few rows."""
        copies = self._held.copies
        new = [one.number for one in version.fragments() if one not in copies]
        return bool(copies) and len(new) <= _FEW and sum(map(version.count, new)) <= _FEW

    def _load_newest(self) -> None:
        version = self._newest
        read = self.load(version) if version is not None else 0
        if version is not None:
            self._loader.submit(self.regroup, version)  # whoever waits for the rows need not wait for that
        if read >= _MANY or not self._settled:
            self._settled = True
            _leave_alone_what_is_there()

    def load(self, version: Version) -> int:
        """Have the fragments of this version in memory, as far as they fit, and no others; gives the rows read."""
        fragments = version.fragments()
        copies = {fragment: self._held.copies[fragment] for fragment in fragments if fragment in self._held.copies}
        groups = [part for part in (group.only(copies) for group in self._held.groups) if part.fragments]
        self._held = _Held(copies, groups)
        read = 0
        for fragment in fragments:
            if fragment not in copies and self._fits(version, fragment.number):
                try:
                    copy = version.copy(fragment.number)
                except EverfindError:
                    break  # a query that needs these rows meets the same error, and says so
                read += len(copy.chunks)
                if self.size + copy.size <= self._limit:
                    copies = {**copies, fragment: copy}
                    self._held = _Held(copies, groups)
        return read

    def regroup(self, version: Version) -> None:
        """Let terms be found in few postings, without dead rows, where enough changed since that was done."""
        held = self._held
        if set(held.copies) != set(version.fragments()):
            return  # it does not fit, or another came since
        try:
            whole = self.whole(version)
        except EverfindError:
            return  # a query meets the same error, and says so
        groups = None if whole is None else whole.regrouped()
        if groups is not None:
            copies = {fragment: copy.without_postings() for fragment, copy in held.copies.items()}
            self._held = _Held(copies, groups)

    def chunks(self, version: Version, addresses: Addresses) -> list[StoredChunk | None]:
        """The rows of a version at ``addresses``, None where one is not in memory."""
        copies = self._held.of(version)
        found: list[StoredChunk | None] = []
        for address in addresses.tolist():
            copy = copies.get(address >> OFFSET_BITS)
            found.append(None if copy is None else copy.chunks[address & OFFSETS])
        return found

    def vectors(self, version: Version, addresses: Addresses, into: npt.NDArray[np.float32]) -> npt.NDArray[np.bool_]:
        """Write the vectors of a version's rows that are in memory into their places; says which those are."""
        copies = self._held.of(version)
        there = np.zeros(len(addresses), dtype=bool)
        fragments = addresses >> np.uint64(OFFSET_BITS)
        for number in np.unique(fragments).tolist():
            if number in copies:
                positions = np.flatnonzero(fragments == number)
                into[positions] = copies[number].vectors.floats(addresses[positions] & np.uint64(OFFSETS))
                there[positions] = True
        return there

    def whole(self, version: Version) -> WholeVersion | None:
        """All of this version; None unless it is in memory."""
        held = self._held
        known = held.wholes.get(version)
        if known is None:
            with self._making:  # both arms ask at the same time
                known = held.wholes.get(version) or self._make_whole(version, held)
        return known

    def _make_whole(self, version: Version, held: _Held) -> WholeVersion | None:
        spare = max(self._limit - self.size, 0) // _VERSIONS
        made = WholeVersion.of(version, held.copies, spare, held.groups)
        if made is not None:
            held.wholes.put(version, made)
        return made

    def _fits(self, version: Version, fragment: int) -> bool:
        """Judged by what the rows in memory take, so that a fragment is not read in vain with each version."""
        rows = sum(len(copy.chunks) for copy in self._held.copies.values())
        expected = version.count(fragment) * self.size / rows if rows else 0
        return self.size + expected <= self._limit


def _leave_alone_what_is_there() -> None:
    """Keep what a process that goes on has by now, libraries and rows above all, out of later full collections.

    Each would walk all of it in the middle of some query: that alone tripled the slowest of a hundred.
    """
    gc.collect()
    gc.freeze()
