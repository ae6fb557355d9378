"""One page of an answer: the hits that it gives in full within a budget, and the further files that it names. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from everfind_core.model import FileRef, FurtherFile, SearchRequest
from everfind_searcher.ranking import Ranked

FURTHER_SHARE = 4
"""One part in so many of a budget at most is kept for further files: on the sets of code, their names show more
relevant files in 500 to 2,000 tokens than the texts in whose place they stand (docs/benchmarks.md)."""

BYTES_PER_TOKEN = 2
"""What a line that names a file is counted by; paths and symbols take about 2.4 bytes a token of the default model."""


@dataclass(frozen=True, slots=True)
class Page:
    """``hits`` in full and ``further`` files; ``after`` is how many of the answer's hits lie before the next page.

    ``left_out`` hits passed and are not given in full. ``tokens`` is what all of it takes.
    """

    hits: Sequence[Ranked]
    further: tuple[FurtherFile, ...]
    after: int
    left_out: int
    tokens: int


def page_of(admitted: Sequence[Ranked], start: int, request: SearchRequest) -> Page:
    """The page of all admitted hits that begins at ``start``.

    Hits give way to the names of further files where these do not fit beside them, but never the first one.
    """
    page, all_named = _filled(admitted, start, request, request.max_tokens)
    if all_named:
        return page
    smaller, _ = _filled(admitted, start, request, request.max_tokens - request.max_tokens // FURTHER_SHARE)
    same_first = page.hits and smaller.hits and page.hits[0] is smaller.hits[0]
    return smaller if same_first and len(smaller.further) > len(page.further) else page


def _filled(admitted: Sequence[Ranked], start: int, request: SearchRequest, for_hits: int) -> tuple[Page, bool]:
    """The page whose hits take ``for_hits`` tokens at most, and whether the budget cut no further file off."""
    rest = admitted[start:]
    skipped, hits = pack(rest[: request.limit], for_hits)
    after = skipped + len(hits)
    spent = sum(one.chunk.tokens for one in hits)
    shown = {one.chunk.ref for one in (*admitted[:start], *hits)}
    others = list(islice(_further_files((*rest[:skipped], *rest[after:]), shown), request.further))
    further = tuple(_fitting(others, request.max_tokens - spent)) if request.max_tokens else tuple(others)
    page = Page(hits, further, start + after, len(rest) - len(hits), spent + sum(map(tokens_of, further)))
    return page, len(further) == len(others)


def pack(ranked: Sequence[Ranked], max_tokens: int) -> tuple[int, list[Ranked]]:
    """The best ones that together fit ``max_tokens`` (0: all), in order without a gap, so that a next page follows.

    Gives how many were skipped before them, because each alone is larger than the budget, and the ones that fit.
    """
    if not max_tokens:
        return 0, list(ranked)
    skipped = next((n for n, one in enumerate(ranked) if one.chunk.tokens <= max_tokens), len(ranked))
    packed: list[Ranked] = []
    left = max_tokens
    for one in ranked[skipped:]:
        left -= one.chunk.tokens
        if left < 0:
            break
        packed.append(one)
    return skipped, packed


def tokens_of(file: FurtherFile) -> int:
    """An estimate, rather too high, of the tokens of the line that names a file."""
    line = f"{file.folder}/{file.path}:{file.start_line}-{file.end_line} {file.symbol or file.heading}\n"
    return -(-len(line.encode("utf-8", "replace")) // BYTES_PER_TOKEN)


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


def _fitting(files: Iterable[FurtherFile], budget: int) -> Iterator[FurtherFile]:
    """The first of the files, as far as the budget goes."""
    for file in files:
        budget -= tokens_of(file)
        if budget < 0:
            return
        yield file
