"""One page of an answer: the hits that it gives in full within a budget, and the further files that it names. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice

from everfind_core.model import FileRef, FurtherFile, SearchRequest
from everfind_searcher.ordering.ranking import Ranked

FURTHER_SHARE = 4
"""One part in so many of a budget at most is kept for further files: on the sets of code, their names show more
relevant files in 500 to 2,000 tokens than the texts in whose place they stand (docs/benchmarks.md)."""


@dataclass(frozen=True, slots=True)
class Page:
    """``hits`` in full and ``further`` files; ``after`` is how many of the answer's hits lie before the next page.

    ``left_out`` hits passed and are not given in full.
    """

    hits: Sequence[Ranked]
    further: tuple[FurtherFile, ...]
    after: int
    left_out: int


@dataclass(frozen=True, slots=True)
class Room:
    """``tokens`` that hits and further files may take together, and what each of them takes."""

    tokens: int
    of_hit: Callable[[Ranked], int]
    of_file: Callable[[FurtherFile], int]
    further_heading: int = 0


def page_of(admitted: Sequence[Ranked], start: int, request: SearchRequest, room: Room | None) -> Page:
    """The page of all admitted hits that begins at ``start``; without a budget, ``room`` is None.

    Hits give way to the names of further files where these do not fit beside them, but never the first one.
    """
    page, all_named = _filled(admitted, start, request, room, share=0)
    if all_named or room is None:
        return page
    smaller, _ = _filled(admitted, start, request, room, share=room.tokens // FURTHER_SHARE)
    same_first = page.hits and smaller.hits and page.hits[0] is smaller.hits[0]
    return smaller if same_first and len(smaller.further) > len(page.further) else page


def _filled(
    admitted: Sequence[Ranked], start: int, request: SearchRequest, room: Room | None, *, share: int
) -> tuple[Page, bool]:
    """The page whose hits leave ``share`` tokens of the room, and whether it cut no further file off."""
    rest = admitted[start:]
    first = rest[: request.limit]
    skipped, hits = pack(first, room.tokens - share, room.of_hit) if room else (0, first)
    after = skipped + len(hits)
    shown = {one.chunk.ref for one in (*admitted[:start], *hits)}
    others = list(islice(_further_files(chain(rest[:skipped], rest[after:]), shown), request.further))
    further = tuple(_fitting(others, hits, room) if room else others)
    page = Page(hits, further, start + after, len(rest) - len(hits))
    return page, len(further) == len(others)


def pack(ranked: Sequence[Ranked], tokens: int, of_hit: Callable[[Ranked], int]) -> tuple[int, Sequence[Ranked]]:
    """The best ones that together fit ``tokens``, in order without a gap, so that a next page follows.

    Gives how many were skipped before them, because each alone is larger than the budget, and the ones that fit.
    """
    skipped = next((n for n, one in enumerate(ranked) if of_hit(one) <= tokens), len(ranked))
    packed: list[Ranked] = []
    for one in ranked[skipped:]:
        tokens -= of_hit(one)
        if tokens < 0:
            break
        packed.append(one)
    return skipped, packed


def _further_files(ranked: Iterable[Ranked], shown: Iterable[FileRef]) -> Iterator[FurtherFile]:
    """The files of these hits that are not shown yet, each once, by its best place."""
    seen = set(shown)
    for one in ranked:
        chunk = one.chunk
        if chunk.ref in seen:
            continue
        seen.add(chunk.ref)
        yield FurtherFile(
            chunk.ref.folder, chunk.ref.path, chunk.start_line, chunk.end_line, chunk.symbol, chunk.heading
        )


def _fitting(files: Iterable[FurtherFile], hits: Sequence[Ranked], room: Room) -> Iterator[FurtherFile]:
    """The first of the files, as far as the room beside the hits goes."""
    left = room.tokens - sum(map(room.of_hit, hits)) - room.further_heading
    for file in files:
        left -= room.of_file(file)
        if left < 0:
            return
        yield file
