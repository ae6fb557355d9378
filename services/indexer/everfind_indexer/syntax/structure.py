"""From what a syntax tree says of a text's lines to the structure that is packed.

Strengths and scopes come from the lines themselves wherever that is as good: lines that an edit does not touch stay as
they are, while a brace that is missing for a moment may change a tree to the end of the file. The tree says where
definitions start, with their comments, and end, what they are called, and which lines only go on with a statement.
Lines that the grammar could not read are analysed as code without a tree is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from everfind_core.chunking import code, definitions
from everfind_core.chunking.source import Source
from everfind_core.chunking.structure import BLANK, Label, Outline, Structure
from everfind_indexer.syntax.collecting import CONSTANT
from everfind_indexer.syntax.parsing import DefinitionLines, Syntax

_CONTINUED = 10
_LONGEST_PRELUDE = 40
_LONGEST_SIGNATURE = 100
_UNINDENTED = 100

_TYPES = frozenset({"class", "struct", "interface", "enum", "trait", "impl", "extension"})


def analyse(source: Source, syntax: Syntax, language: str) -> Structure:
    """The structure of a text with this syntax."""
    lines = source.lines
    columns = code.columns_of(lines)
    strengths = code.line_strengths(lines, columns)
    _weaken_continued(strengths, syntax)
    guessed = _guessed(source, syntax, language)
    scopes = _Scopes(lines, columns)
    for number in range(len(lines)):
        scopes.leave(number)
        if lines[number].lstrip().startswith("}"):
            scopes.close_brace(columns[number])
        definition = syntax.definitions.get(number)
        if definition is not None:
            first = _first_line(lines, columns, syntax, definition)
            if definition.kind != CONSTANT:
                code.start_at(strengths, columns[definition.first], first, number)
            scopes.enter(first, definition)
        elif number in guessed:
            first = code.first_line(lines, columns, number)
            code.start_at(strengths, columns[number], first, number)
            scopes.guess(first, number, guessed[number])
        elif code.opens_block(lines[number]):
            scopes.end_beside(number)
    return scopes.outline.structure(strengths, by_column=True)


def _weaken_continued(strengths: list[int], syntax: Syntax) -> None:
    """Lines inside a string, an argument list or a long expression are the last places to cut."""
    for number, strength in enumerate(strengths):
        if strength != BLANK and not (syntax.items[number] or syntax.unread[number]):
            strengths[number] = min(strength, max(code.WEAK, strength // _CONTINUED))
        elif strength != BLANK and number and syntax.preludes[number - 1]:
            strengths[number] = min(strength, code.WEAK)


def _guessed(source: Source, syntax: Syntax, language: str) -> Mapping[int, definitions.DefinitionLine]:
    """What looks like a definition in lines that the grammar could not read."""
    if not any(syntax.unread):
        return {}
    found = list(definitions.find(source.text, language))
    numbers = np.searchsorted(source.starts, [f.offset for f in found]).tolist() if found else []
    return {number: f for number, f in zip(numbers, found, strict=True) if syntax.unread[number]}


def _first_line(lines: Sequence[str], columns: Sequence[int], syntax: Syntax, definition: DefinitionLines) -> int:
    """The first line of the comments and decorators right above a definition."""
    first = definition.first
    earliest = max(0, first - _LONGEST_PRELUDE)
    while first > earliest and syntax.preludes[first - 1]:
        first -= 1
    return code.banner_above(lines, columns, first, columns[definition.first])


class _Scopes:
    """Puts the definitions, in line order, into an outline.

    A definition encloses what stands right of it until another one or a block stands beside or left of it. That the
    tree sees it end is not enough: a statement at the margin would cut a class in two.
    """

    def __init__(self, lines: Sequence[str], columns: Sequence[int]) -> None:
        self.outline = Outline()
        self._lines = lines
        self._columns = columns
        self._open: list[tuple[int, int]] = []  # last line and depth, of those whose end is known

    def leave(self, number: int) -> None:
        """Forget what ended before line ``number``; a module whose lines are not indented ends there."""
        while self._open and self._open[-1][0] < number:
            last, depth = self._open.pop()
            if depth < 0:
                self.outline.close(last + 1, depth)

    def close_brace(self, column: int) -> None:
        """A brace closes at ``column``: what stands there has ended, whatever a tree of unbalanced braces says."""
        self._open = [(last, depth) for last, depth in self._open if depth < column]

    def end_beside(self, number: int) -> None:
        """A block starts in line ``number``: end what stands beside or right of it, but for what goes on there."""
        column = self._columns[number]
        if not any(depth >= column for _, depth in self._open):
            self.outline.close(number, column)

    def enter(self, first: int, definition: DefinitionLines) -> None:
        """Open a definition that the tree gave."""
        depth = self._depth(definition)
        kind = self._kind(definition.kind, self._columns[definition.first])
        text = _signature(self._lines[definition.named])
        self.outline.open(first, definition.named, Label(depth, text, definition.name, kind))
        self._open.append((definition.last, depth))

    def guess(self, first: int, number: int, found: definitions.DefinitionLine) -> None:
        """Open a definition that a line looks like."""
        column = self._columns[number]
        kind = self._kind(found.kind, column)
        self.outline.open(first, number, Label(column, _signature(self._lines[number]), found.name, kind))

    def _kind(self, kind: str, column: int) -> str:
        enclosing = next((label for label in reversed(self.outline.enclosing) if label.depth < column), None)
        return "method" if kind == "function" and enclosing is not None and enclosing.kind in _TYPES else kind

    def _depth(self, definition: DefinitionLines) -> int:
        """The column of its first line, but for a module whose lines are not indented."""
        column = self._columns[definition.first]
        if definition.kind != "module":
            return column
        inside = range(definition.named + 1, definition.last)
        indented = next((self._columns[n] > column for n in inside if self._columns[n] != BLANK), True)
        return column if indented else column - _UNINDENTED + len(self._open)


def _signature(line: str) -> str:
    """What a definition's line says of it, without the opening of its body."""
    return " ".join(line.split()).rstrip(" {:(,").removesuffix("=>").rstrip(" =")[:_LONGEST_SIGNATURE]
