"""What a request may mean: definitions of its symbol, or what stands at its place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from everfind_core.callgraph.resolution import Known, Place, address
from everfind_core.callgraph.symbols import decode, defining
from everfind_core.errors import FileNotIndexableError, InvalidRequestError
from everfind_core.model import FileRef, Filters, RelatedRequest
from everfind_core.model.symbols import Use
from everfind_core.ports import ChunkSnapshot, StoredChunk
from everfind_searcher.related.requests import Symbol, read_symbol

MAX_ROWS = 2_000
"""Rows that are looked at for one kind of token."""


@dataclass(slots=True)
class QuestionRows:
    """What one question reads: from one snapshot, each file's chunks once.

    ``cut``: a name stands in more chunks than are read.
    """

    snapshot: ChunkSnapshot
    cut: bool = False
    _files: dict[FileRef, Sequence[StoredChunk]] = field(default_factory=dict)

    def file(self, ref: FileRef) -> Sequence[StoredChunk]:
        """A file's chunks in order; empty if the store has none."""
        if ref not in self._files:
            self._files[ref] = self.snapshot.file_chunks(ref)
        return self._files[ref]

    def naming(self, tokens: Sequence[str], where: Filters) -> Sequence[StoredChunk]:
        """The chunks whose names hold any of ``tokens``, at most :data:`MAX_ROWS`."""
        found = self.snapshot.naming(tokens, MAX_ROWS, where)
        self.cut |= len(found) == MAX_ROWS
        return found


@dataclass(frozen=True, slots=True)
class DefinitionChunk:
    """A definition, and the chunk that names it."""

    chunk: StoredChunk
    known: Known


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """What is asked about: a chunk, and the definition in it, if it is about one; the lines (from 1) that it covers.

    Equal only to itself.
    """

    chunk: StoredChunk
    known: Known | None
    first: int
    last: int

    def holds(self, ref: FileRef, line: int) -> bool:
        """Whether a line of a file is part of it."""
        return ref == self.chunk.ref and self.first <= line <= self.last


def find_targets(request: RelatedRequest, rows: QuestionRows) -> Sequence[Target]:
    """What ``request`` may mean; none if nothing is called so.

    Raises:
        FileNotIndexableError: the place's file is not in the index.
        InvalidRequestError: the file has no such line.
    """
    if request.path:
        return [_at(FileRef(request.folder, request.path), request.line, rows)]
    symbol = read_symbol(request.symbol)
    folders = (request.folder,) if request.folder else request.filters.folders
    found = definitions([symbol.name], rows, Filters(folders=folders))
    return [target(one) for one in found if is_qualified(one.known, symbol)]


def definitions(names: Sequence[str], rows: QuestionRows, where: Filters) -> list[DefinitionChunk]:
    """All definitions of ``names``, by folder, path and line."""
    wanted = set(names)
    return [
        DefinitionChunk(chunk, Known(definition, place_of(chunk)))
        for chunk in rows.naming([defining(name) for name in names], where)
        for definition in decode(chunk.symbols).definitions
        if definition.name in wanted
    ]


def target(found: DefinitionChunk) -> Target:
    """A definition as what is asked about."""
    definition = found.known.definition
    return Target(found.chunk, found.known, definition.line, definition.end_line)


def is_qualified(known: Known, symbol: Symbol) -> bool:
    """Whether the names before the symbol's stand in the definition's address, in their order."""
    names = iter((known.place.ref.folder, *address(known.place.ref, known.definition.scope)))
    return all(qualifier in names for qualifier in symbol.qualifiers)


def place_of(chunk: StoredChunk) -> Place:
    """Where a chunk's lines stand."""
    return Place(chunk.ref, chunk.language)


def uses_in(target: Target, rows: QuestionRows) -> Iterator[Use]:
    """The calls in the target's lines."""
    for chunk in rows.file(target.chunk.ref):
        if chunk.end_line < target.first or chunk.start_line > target.last:
            continue
        for use in decode(chunk.symbols).uses:
            if use.called and any(target.first <= line <= target.last for line in use.lines):
                yield use


def _at(ref: FileRef, line: int, rows: QuestionRows) -> Target:
    chunks = rows.file(ref)
    if not chunks:
        raise FileNotIndexableError(
            f"the index has no file {ref.path} in {ref.folder}",
            hint="Index it first; `everfind status --skipped` says what was left out.",
        )
    own = next((chunk for chunk in chunks if line <= chunk.end_line), None)
    if own is None:
        raise InvalidRequestError.of("line", f"{ref.path} has no text at or after line {line:,}")
    defined = [(chunk, d) for chunk in chunks for d in decode(chunk.symbols).definitions]
    around = [(chunk, d) for chunk, d in defined if d.line <= line <= d.end_line]
    if not around:
        return Target(own, None, own.start_line, own.end_line)
    chunk, innermost = max(around, key=lambda one: (one[1].line, -one[1].end_line))
    return target(DefinitionChunk(chunk, Known(innermost, place_of(chunk))))
