"""Follow one relation from the targets: rows by name, then how well each pair of use and definition fits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from everfind_core.callgraph.resolution import confidences, segments
from everfind_core.callgraph.symbols import decode, using
from everfind_core.model import Filters, Relation
from everfind_core.model.symbols import Use
from everfind_core.ports import StoredChunk
from everfind_searcher.related.requests import Symbol
from everfind_searcher.related.targets import DefinitionChunk, QuestionRows, Target, definitions, place_of, uses_in

MAX_NAMES = 200
"""Distinct names that are looked up for what one target calls."""

MAX_SIMILAR = 50
UNDEFINED = 0.5
"""How sure it is that a use means the symbol that was asked for, if no file defines it."""


@dataclass(frozen=True, slots=True)
class Link:
    """A related chunk: to which target, how, how sure (0 to 1), in which line (0: none), by or of which symbol.

    There is no target where no indexed file defines it.
    """

    chunk: StoredChunk
    target: Target | None
    relation: Relation
    confidence: float
    line: int = 0
    symbol: str = ""

    @property
    def identity(self) -> tuple[str, Relation, str]:
        """What counts once in an answer."""
        return self.chunk.chunk_id, self.relation, self.symbol


def users(targets: Sequence[Target], rows: QuestionRows, where: Filters) -> Iterator[Link]:
    """Who calls the targets or refers to them."""
    by_name: dict[str, list[Target]] = {}
    for target in targets:
        if target.known is not None:
            by_name.setdefault(target.known.definition.name, []).append(target)
    if not by_name:
        return
    rivals = _by_name(definitions(list(by_name), rows, Filters(folders=where.folders)))
    for chunk in rows.naming(list(map(using, by_name)), where):
        for use in decode(chunk.symbols).uses:
            if use.name in by_name:
                yield from _user(chunk, use, by_name[use.name], rivals.get(use.name, ()))


def _user(chunk: StoredChunk, use: Use, targets: Sequence[Target], rivals: Sequence[DefinitionChunk]) -> Iterator[Link]:
    known = [found.known for found in rivals]
    sure = dict(zip(known, confidences(use, place_of(chunk), known), strict=True))
    best = max(targets, key=lambda target: sure.get(target.known, 0.0) if target.known else 0.0)
    confidence = sure.get(best.known, 0.0) if best.known else 0.0
    lines = [line for line in use.lines if not best.holds(chunk.ref, line)]
    if confidence and lines:
        relation = Relation.CALLER if use.called else Relation.REFERENCE
        yield Link(chunk, best, relation, confidence, lines[0], use.within)


def users_of_undefined(symbol: Symbol, rows: QuestionRows, where: Filters) -> Iterator[Link]:
    """Who calls something that no indexed file defines, such as a library's function."""
    for chunk in rows.naming([using(symbol.name)], where):
        for use in decode(chunk.symbols).uses:
            named = {use.receiver, *segments(use.origin)}
            if use.name == symbol.name and set(symbol.qualifiers) <= named:
                relation = Relation.CALLER if use.called else Relation.REFERENCE
                yield Link(chunk, None, relation, UNDEFINED, use.lines[0], use.within)


def callees(targets: Sequence[Target], rows: QuestionRows, where: Filters) -> Iterator[Link]:
    """What the targets call."""
    uses = [(target, use) for target in targets for use in uses_in(target, rows)]
    names = list(dict.fromkeys(use.name for _, use in uses))[:MAX_NAMES]
    if not names:
        return
    everywhere = Filters(folders=where.folders)
    known = _by_name(definitions(names, rows, everywhere))
    returned = None if where == everywhere else {f.chunk.chunk_id for f in definitions(names, rows, where)}
    for target, use in uses:
        candidates = known.get(use.name, ())
        sure = confidences(use, place_of(target.chunk), [found.known for found in candidates])
        for found, confidence in zip(candidates, sure, strict=True):
            outside = not target.holds(found.chunk.ref, found.known.definition.line)
            if confidence and outside and (returned is None or found.chunk.chunk_id in returned):
                definition = found.known.definition
                yield Link(found.chunk, target, Relation.CALLEE, confidence, definition.line, definition.qualified)


def similar(targets: Sequence[Target], rows: QuestionRows, where: Filters) -> Iterator[Link]:
    """The chunks nearest to the targets by their vectors; confidence is the cosine, where it is positive."""
    for target in targets:
        own = next((c for c in rows.file(target.chunk.ref) if c.chunk_id == target.chunk.chunk_id), None)
        if own is None or own.vector is None:
            continue
        for found in rows.snapshot.semantic(own.vector.astype("float32"), MAX_SIMILAR, where):
            inside = target.holds(found.chunk.ref, found.chunk.start_line)
            if found.chunk.chunk_id != target.chunk.chunk_id and not inside and found.score > 0:
                yield Link(found.chunk, target, Relation.SIMILAR, min(1.0, found.score))


def strongest(links: Iterable[Link]) -> list[Link]:
    """Each related symbol of a chunk once, with its surest link and the earliest line; surest first."""
    best: dict[tuple[str, Relation, str], Link] = {}
    for link in links:
        before = best.get(link.identity)
        if before is None or (link.confidence, -link.line) > (before.confidence, -before.line):
            best[link.identity] = link
    return sorted(best.values(), key=lambda link: (-link.confidence, link.chunk.ref, link.line, link.symbol))


def _by_name(found: Iterable[DefinitionChunk]) -> Mapping[str, list[DefinitionChunk]]:
    by_name: dict[str, list[DefinitionChunk]] = {}
    for one in found:
        by_name.setdefault(one.known.definition.name, []).append(one)
    return by_name
