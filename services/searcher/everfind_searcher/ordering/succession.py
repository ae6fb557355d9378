"""Documents that replace others come to their place: what an old document's match says holds for its successor. Pure.

Where the old document is hidden its successor takes its place; where it is shown the successor stands beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from everfind_core.lifecycle import split_refs
from everfind_core.model import FileRef, Relation
from everfind_core.ports import StoredChunk
from everfind_searcher.ordering.ranking import Ranked

RULE = "successor"

Fetch = Callable[[FileRef], Ranked | None]
"""The best hit of a file that neither arm found; None where it may not be in the answer."""


def succeed(
    shown: Sequence[Ranked],
    everything: Sequence[Ranked],
    *,
    hidden: Callable[[StoredChunk], bool],
    fetch: Fetch,
    length: int,
) -> list[Ranked]:
    """``shown`` with successors at the places that the documents they replace have in ``everything``.

    ``everything`` is the order with the hidden ones in it. Places from ``length`` on are not looked at. A successor
    that stands before its place already stays there.
    """
    merge = _Merge(shown, fetch)
    seen: set[FileRef] = set()
    for one in everything:
        if len(merge.result) >= length:
            break
        if not hidden(one.chunk):
            merge.take_next()
        if one.chunk.ref not in seen:
            seen.add(one.chunk.ref)
            for successor in split_refs(one.chunk.successor):
                merge.bring(successor, one)
    return merge.finish()


class _Merge:
    """Puts the shown hits one after another, with successors between them."""

    def __init__(self, shown: Sequence[Ranked], fetch: Fetch) -> None:
        self.result: list[Ranked] = []
        self._shown = shown
        self._next = 0
        self._fetch = fetch
        self._moved: set[str] = set()
        self._best: dict[FileRef, Ranked] = {}
        for one in shown:
            self._best.setdefault(one.chunk.ref, one)
        self._placed: set[FileRef] = set()

    def take_next(self) -> None:
        """Place the next shown hit."""
        if (following := self._following()) is not None:
            self._next += 1
            self._place(following)

    def bring(self, successor: FileRef, old: Ranked) -> None:
        """Place the best hit of ``successor`` here, unless a hit of it is placed already."""
        if successor in self._placed:
            return
        hit = self._best.get(successor) or self._fetch(successor)
        if hit is not None:
            self._moved.add(hit.chunk.chunk_id)
            self._place(self._lifted(hit, old))

    def finish(self) -> list[Ranked]:
        """All hits in their order."""
        while self._following() is not None:
            self.take_next()
        return self.result

    def _following(self) -> Ranked | None:
        while self._next < len(self._shown) and self._shown[self._next].chunk.chunk_id in self._moved:
            self._next += 1
        return self._shown[self._next] if self._next < len(self._shown) else None

    def _place(self, one: Ranked) -> None:
        self._placed.add(one.chunk.ref)
        self.result.append(one)

    def _lifted(self, hit: Ranked, old: Ranked) -> Ranked:
        """``hit`` with the old document's score, as far as that fits between the hits around it."""
        above = self.result[-1].score if self.result else old.score
        following = self._following()
        score = max(hit.score, min(old.score, above), following.score if following else hit.score)
        lift = [(RULE, score - hit.score)] if score > hit.score else []
        return replace(hit, score=score, parts=[*hit.parts, *lift], relation=Relation.SUCCESSOR, related=old.chunk)
