"""From a request to its answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, zip_longest

from everfind_core.cancellation import Cancellation
from everfind_core.index.watch_state import WatchState, with_waiting
from everfind_core.model import (
    Filters,
    Hit,
    Provenance,
    ProvenanceLabel,
    RelatedAnswer,
    RelatedHit,
    RelatedRequest,
    Relation,
    Staleness,
)
from everfind_searcher.answering.cursor import Cursor, decode_cursor, encode_cursor
from everfind_searcher.answering.hits import hit_of, roots_for
from everfind_searcher.answering.unmatched import what_filters_left
from everfind_searcher.current import OpenIndex
from everfind_searcher.related.relations import Link, callees, similar, strongest, users, users_of_undefined
from everfind_searcher.related.requests import FOLLOWED, check_folder, read_symbol
from everfind_searcher.related.targets import MAX_ROWS, QuestionRows, Target, find_targets

LEAST = 0.05
"""What is less sure is counted, not shown: one of twenty equal names is no answer."""

MAX_TARGETS = 20

_GRAPH = Provenance(ProvenanceLabel.GRAPH)
_NAMED = Provenance(ProvenanceLabel.EXACT, exact=1)


def answer_related(
    request: RelatedRequest, index: OpenIndex, where: Filters, watch: WatchState | None, cancel: Cancellation
) -> RelatedAnswer:
    """What is related to what ``request`` names, among the chunks that pass ``where``.

    ``watch`` is what the folders' follower knows to have changed.
    """
    snapshot, coverage = index.reader.snapshot(), index.coverage()
    check_folder(request.folder, coverage)
    generation, rows = index.generation(snapshot), QuestionRows(snapshot)
    cursor = decode_cursor(request) or Cursor(0, generation)
    targets = find_targets(request, rows)
    cancel.check()
    found = _follow(request, targets[:MAX_TARGETS], rows, where)
    page = found.links[cursor.offset : cursor.offset + request.limit]
    left = max(0, len(found.links) - cursor.offset - len(page))
    roots = roots_for(coverage, request.filters.folders)
    covered = with_waiting(coverage.total(request.filters.folders), watch, request.filters.folders)
    left_by_filters = ("", ()) if found.links else what_filters_left(request.filters, snapshot, covered.chunks)
    return RelatedAnswer(
        generation=generation,
        targets=_target_hits(targets[:MAX_TARGETS], roots),
        related=tuple(_related(link, roots) for link in page),
        coverage=covered,
        staleness=Staleness(covered.pending > 0, covered.pending, coverage.indexed_at),
        warnings=(
            *_warnings(request, targets, found, moved=cursor.generation != generation),
            *filter(None, [left_by_filters[0], *left_by_filters[1]]),
        ),
        next_cursor=encode_cursor(Cursor(cursor.offset + len(page), generation), request) if left else "",
        left_out=left,
    )


@dataclass(frozen=True, slots=True)
class _Followed:
    """All links in the order of the answer, how many are too unsure to be among them, and whether rows were cut off."""

    links: Sequence[Link]
    unsure: int
    cut: bool


def _follow(request: RelatedRequest, targets: Sequence[Target], rows: QuestionRows, where: Filters) -> _Followed:
    """The relations that are asked for, each in its order, in turns: none crowds out another."""
    wanted = [relation for relation in FOLLOWED if relation in (request.relations or FOLLOWED)]
    links: list[Link] = []
    if Relation.CALLER in wanted or Relation.REFERENCE in wanted:
        if targets or request.path:
            links += users(targets, rows, where)
        else:
            links += users_of_undefined(read_symbol(request.symbol), rows, where)
    if Relation.CALLEE in wanted:
        links += callees(targets, rows, where)
    if Relation.SIMILAR in wanted:
        links += similar(targets, rows, where)
    ordered = strongest(link for link in links if link.relation in wanted)
    sure = [link for link in ordered if link.confidence >= LEAST]
    turns = zip_longest(*([link for link in sure if link.relation is relation] for relation in wanted))
    in_turns = [link for link in chain.from_iterable(turns) if link is not None]
    return _Followed(in_turns, len(ordered) - len(sure), rows.cut)


def _target_hits(targets: Sequence[Target], roots: Mapping[str, str]) -> tuple[Hit, ...]:
    """Each target once, under its own name and lines."""
    hits: dict[tuple[str, str], Hit] = {}
    for target in targets:
        hit = hit_of(target.chunk, 1.0, _NAMED, roots)
        if target.known is not None:
            definition = target.known.definition
            hit = replace(_lines_of(hit, target), symbol=definition.qualified, kind=definition.kind)
        hits.setdefault((hit.chunk_id, hit.symbol), hit)
    return tuple(hits.values())


def _lines_of(hit: Hit, target: Target) -> Hit:
    """The hit with those of its lines alone that ``target`` covers: small siblings share a chunk."""
    lines = hit.text.split("\n")
    first, last = max(target.first, hit.start_line), min(target.last, hit.end_line)
    if first > last or len(lines) != hit.end_line - hit.start_line + 1:
        return hit
    text = "\n".join(lines[first - hit.start_line : last - hit.start_line + 1])
    return replace(hit, start_line=first, end_line=last, text=text)


def _related(link: Link, roots: Mapping[str, str]) -> RelatedHit:
    to = None if link.target is None else link.target.chunk
    hit = replace(
        hit_of(link.chunk, link.confidence, _GRAPH, roots),
        relation=link.relation,
        relation_to="" if to is None else to.chunk_id,
        relation_path="" if to is None else to.ref.path,
    )
    return RelatedHit(hit, link.relation, link.confidence, link.line, link.symbol)


def _warnings(request: RelatedRequest, targets: Sequence[Target], found: _Followed, *, moved: bool) -> Iterator[str]:
    if moved:
        yield "the index changed since the page before: hits may repeat or be missing"
    if request.symbol and not targets:
        yield f"no indexed file defines {request.symbol!r}" + (", these use the name" if found.links else "")
    if len(targets) > MAX_TARGETS:
        yield f"{len(targets):,} definitions are called so; related are the first {MAX_TARGETS}: name one by its scope"
    elif len({(target.chunk.ref, target.known and target.known.identity) for target in targets}) > 1:
        yield f"{len(targets)} definitions are called so: name one by its scope or place"
    if found.unsure:
        yield f"{found.unsure:,} more may be related, each by less than {LEAST:.0%}: too many have the same name"
    if found.cut:
        yield f"not all were looked at: a name stands in more than {MAX_ROWS:,} chunks; limit the folders or paths"
