"""From the names in a file to what each of its chunks defines and uses.

Hints are what the file itself says: what it imports, and the types that parameters, variables and fields are declared
with or constructed as.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from everfind_core.callgraph.symbols import MAX_NAME
from everfind_core.model.symbols import NO_SYMBOLS, Definition, Symbols, Use
from everfind_indexer.syntax.collecting import Mention, Names, Span
from everfind_indexer.syntax.naming import THIS, Receiver, receiver_of

TYPES = frozenset({"class", "struct", "interface", "enum", "trait", "impl", "extension"})
FILE = -1
"""Stands for the definition around what stands in none."""


class _Key(NamedTuple):
    """What the uses of a chunk are grouped by."""

    name: str
    receiver: str
    origin: str
    within: str
    called: bool


@dataclass(frozen=True, slots=True)
class FileSymbols:
    """A file's definitions, and its uses, each with its line (from 1), both in the order of the text."""

    definitions: Sequence[Definition] = ()
    uses: Sequence[tuple[int, _Key]] = ()

    @classmethod
    def of(cls, names: Names) -> FileSymbols:
        """The symbols that ``names`` amount to."""
        outline = _Outline.of(names)
        hints = _Hints.of(names, outline)
        known = {span.name for span in names.spans.values()} | names.imports.keys()
        mentions = {mention.start: mention for mention in names.handed if mention.name in known} | names.mentions
        used = sorted(m for m in mentions.values() if m.called or m.start not in names.spans)
        owners = outline.owners([mention.start for mention in used])
        keyed = (
            (m.row + 1, hints.key(m, owner, outline.qualified[owner])) for m, owner in zip(used, owners, strict=True)
        )
        return cls(outline.definitions(), list(keyed))

    def by_chunk(self, last_lines: Sequence[int]) -> list[Symbols]:
        """The part of each chunk, given the chunks' last lines in order: up to it, from the one before."""
        definitions: list[list[Definition]] = [[] for _ in range(len(last_lines) + 1)]
        uses: list[dict[_Key, list[int]]] = [{} for _ in range(len(last_lines) + 1)]
        for definition in self.definitions:
            definitions[bisect_left(last_lines, definition.line)].append(definition)
        for line, key in self.uses:
            lines = uses[bisect_left(last_lines, line)].setdefault(key, [])
            if not lines or lines[-1] != line:
                lines.append(line)
        return list(map(_symbols, definitions[:-1], uses[:-1]))


def _symbols(definitions: Sequence[Definition], uses: Mapping[_Key, Sequence[int]]) -> Symbols:
    if not definitions and not uses:
        return NO_SYMBOLS
    return Symbols(
        tuple(definitions),
        tuple(
            Use(key.name, tuple(lines), key.receiver, key.origin, key.within, key.called) for key, lines in uses.items()
        ),
    )


@dataclass(frozen=True, slots=True)
class _Outline:
    """The definitions by their starts, which one each stands in, and their qualified names; one more for the file."""

    spans: Sequence[Span]
    parents: Sequence[int]
    qualified: Sequence[str]

    @classmethod
    def of(cls, names: Names) -> _Outline:
        scoped = [s._replace(scope=names.scopes.get(at) or s.scope) for at, s in names.spans.items()]
        spans = sorted(scoped, key=lambda span: (span.start, -span.end, span.row))
        parents = list(_enclosing(spans, [span.start for span in spans], own=True))
        qualified: list[str] = []
        for span, parent in zip(spans, parents, strict=True):
            around = [qualified[parent]] if parent != FILE and spans[parent].kind != "type" else []
            full = ".".join(filter(None, [*around, span.scope, span.name]))
            qualified.append(full if len(full) <= MAX_NAME else span.name)
        return cls(spans, parents, [*qualified, ""])

    def owners(self, starts: Sequence[int]) -> Iterator[int]:
        """The innermost definition around each place; ``starts`` ascend."""
        return _enclosing(self.spans, starts, own=False)

    def around(self, owner: int) -> Iterator[int]:
        """``owner`` and what encloses it, innermost first, the file last."""
        while owner != FILE:
            yield owner
            owner = self.parents[owner]
        yield FILE

    def types_around(self, owner: int) -> Sequence[str]:
        """The names of what ``owner`` is or stands in, innermost first: a method's type among them."""
        return self.qualified[owner].split(".")[::-1]

    def definitions(self) -> list[Definition]:
        """All but the file, in the order of the lines that name them."""
        found = [
            Definition(span.name, self._kind(place), span.row + 1, max(span.row, span.last) + 1, full)
            for place, (span, full) in enumerate(zip(self.spans, self._scopes(), strict=True))
        ]
        return sorted(found, key=lambda definition: definition.line)

    def _scopes(self) -> Iterator[str]:
        for span, full in zip(self.spans, self.qualified[:-1], strict=True):
            yield full[: -len(span.name) - 1]

    def _kind(self, place: int) -> str:
        """A function of a type is a method."""
        span, parent = self.spans[place], self.parents[place]
        of_type = span.scope or (parent != FILE and self.spans[parent].kind in TYPES)
        return "method" if span.kind == "function" and of_type else span.kind


def _enclosing(spans: Sequence[Span], starts: Sequence[int], *, own: bool) -> Iterator[int]:
    """The innermost span around each start; with ``own`` the starts are the spans' own, which do not count."""
    stack: list[int] = []
    coming = 0
    for place, start in enumerate(starts):
        while coming < len(spans) and (coming < place if own else spans[coming].start <= start):
            stack.append(coming)
            coming += 1
        while stack and spans[stack[-1]].end <= start:
            stack.pop()
        yield stack[-1] if stack else FILE


@dataclass(frozen=True, slots=True)
class _Hints:
    """What the file says of names: imports, types of variables by where they are bound, and of fields by their type."""

    names: Names
    outline: _Outline
    variables: Mapping[tuple[int, str], str]
    fields: Mapping[tuple[str, str], str]

    @classmethod
    def of(cls, names: Names, outline: _Outline) -> _Hints:
        variables: dict[tuple[int, str], str] = {}
        fields: dict[tuple[str, str], str] = {}
        bindings = sorted(names.bindings)
        owners = outline.owners([binding.start for binding in bindings])
        for binding, owner in zip(bindings, owners, strict=True):
            if not binding.of_object:
                variables.setdefault((owner, binding.name), binding.type_name)
                continue
            for around in outline.types_around(owner):
                fields.setdefault((around, binding.name), binding.type_name)
        return cls(names, outline, variables, fields)

    def key(self, mention: Mention, owner: int, within: str) -> _Key:
        """A mention in the definition ``owner``, with where its name or receiver comes from."""
        if not mention.receiver:
            imported = self.names.imports.get(mention.name)
            if imported is None:
                return _Key(mention.name, "", "", within, mention.called)
            name = imported.original or mention.name
            return _Key(name, "", _hint(imported.module), within, mention.called)
        receiver = receiver_of(mention.receiver)
        return _Key(mention.name, receiver.last, _hint(self._origin(receiver, owner)), within, mention.called)

    def _origin(self, receiver: Receiver, owner: int) -> str:
        names = receiver.names
        if receiver.constructed:
            return self._imported(receiver.constructed)
        if not names:
            return ""
        if names[0] in self.names.imports:
            return self._imported(".".join(names))
        return self._imported(self._declared(names, owner))

    def _declared(self, names: Sequence[str], owner: int) -> str:
        """The type that a chain of names is declared with, as far as this file has it; empty if it does not."""
        types = self.outline.types_around(owner)
        if names[0] in THIS:
            found = "" if len(names) == 1 else self._field(types, names[1])
            rest = names[2:]
        else:
            around = (self.variables.get((place, names[0])) for place in self.outline.around(owner))
            found = next(filter(None, around), "") or self._field(types, names[0])
            rest = names[1:]
        for name in rest:
            found = self._field([found.rpartition(".")[2]], name)
        return found

    def _field(self, types: Iterable[str], name: str) -> str:
        return next(filter(None, (self.fields.get((one, name)) for one in types)), "")

    def _imported(self, dotted: str) -> str:
        """``dotted`` with its first name as it was imported."""
        first, dot, rest = dotted.partition(".")
        imported = self.names.imports.get(first)
        return dotted if imported is None else f"{imported.origin}{dot}{rest}"


def _hint(origin: str) -> str:
    """An origin as it can be stored; a very long one says nothing."""
    return origin if len(origin) <= MAX_NAME and origin.isprintable() else ""
