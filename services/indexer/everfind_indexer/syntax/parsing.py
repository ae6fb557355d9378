"""From a text to what its syntax tree says of each line."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from everfind_core.chunking.code import opens_block
from everfind_indexer.syntax.bounds import trial
from everfind_indexer.syntax.collecting import CONSTANT, Names
from everfind_indexer.syntax.grammars import Grammar, dialect, grammar
from everfind_indexer.syntax.symbols import FileSymbols
from everfind_indexer.syntax_trial import CPU_SECONDS

if TYPE_CHECKING:
    from tree_sitter import Node, Point, Tree

_DEFINITION = "definition."
_MINOR = (CONSTANT, "property")
_LONGEST_LINE = 5_000  # minified or generated from there on
_BLOCK_BYTES = 1 << 16
_PATIENCE = 4 * CPU_SECONDS
"""Seconds of processor time for one file that was parsed in less: more only where the machine is in trouble."""

_OPEN_MATCHES = 4_096
"""Matches begun and not yet ended: each new node is compared with all of them. Ordinary files have some hundreds."""

_QUALIFIER = re.compile(r"^.*(?:::|\.|\\)(?=[\w~])")
_TYPE_ARGUMENTS = re.compile(r"<[^<>]*>|[<({].*$", re.DOTALL)


@dataclass(frozen=True, slots=True)
class DefinitionLines:
    """A definition in the lines ``first`` to ``last`` (from 0), named in line ``named``."""

    first: int
    named: int
    last: int
    name: str
    kind: str


@dataclass(frozen=True, slots=True)
class Syntax:
    """What a tree says of a text's lines, one byte a line where bytes are.

    ``definitions`` by the line that names them, the outermost of each line. ``items``: a statement or member starts
    here. ``preludes``: a comment or decorator that stands alone. ``unread``: the grammar could not read it.
    ``symbols`` are all that the text defines and uses.
    """

    definitions: Mapping[int, DefinitionLines]
    items: bytearray
    preludes: bytearray
    unread: bytearray
    symbols: FileSymbols = field(default_factory=FileSymbols)


def parse(lines: Sequence[str], text: str, language: str) -> Syntax:
    """The syntax of ``text``, which is ``lines``, in one of the languages that have a grammar."""
    spoken = dialect(language, text)
    tongue = grammar(spoken)
    count = len(lines)
    data = text.replace("\0", " ").encode("utf-8", "replace")
    sane = max(map(len, lines)) <= _LONGEST_LINE and trial().passes(data, spoken)
    tree = _tree(data, tongue) if sane else None
    matches = None if tree is None else _matches(tree, tongue)
    if matches is None:
        return Syntax({}, bytearray(count), bytearray(count), bytearray(b"\1" * count))
    syntax = Syntax({}, bytearray(count), bytearray(count), bytearray(count))
    found: list[DefinitionLines] = []
    names = Names(data, spoken)
    items: list[Node] = []
    errors: list[Node] = []
    for _, captures in matches:
        if len(captures) > 1 or "item" not in captures:  # nearly half of all are items alone
            names.take(captures)
        for capture, nodes in captures.items():
            if capture == "item":
                syntax.items[nodes[0].start_point.row] = 1
                items.append(nodes[0])
            elif capture == "prelude":
                _mark_prelude(syntax.preludes, lines, nodes[0])
            elif capture == "error":
                errors.append(nodes[0])
            elif capture.startswith(_DEFINITION):
                definition = _definition(data, nodes[0], captures.get("name"), capture[len(_DEFINITION) :])
                found.append(definition)
                for named in captures.get("name", ())[:1]:
                    names.define(nodes[0], named, definition.last, definition.name, definition.kind)
    _mark_unread(syntax.unread, lines, errors, items)
    return replace(syntax, definitions=_by_line(found), symbols=FileSymbols.of(names))


def _tree(data: bytes, tongue: Grammar) -> Tree | None:
    """The tree of ``data``; None where it takes too long."""
    from tree_sitter import Parser

    def read(offset: int, _point: Point) -> bytes:
        return data[offset : offset + _BLOCK_BYTES]

    patience = time.thread_time() + _PATIENCE

    def give_up(_offset: int, _erroneous: bool) -> bool:
        return time.thread_time() > patience

    try:
        return Parser(tongue.language).parse(read, progress_callback=give_up)
    except ValueError:  # how it says that it was told to give up
        return None


def _matches(tree: Tree, tongue: Grammar) -> Sequence[tuple[int, Mapping[str, Sequence[Node]]]] | None:
    """What the query finds; None for a tree so nested that finding all of it would take quadratic time."""
    from tree_sitter import QueryCursor

    cursor = QueryCursor(tongue.query, match_limit=_OPEN_MATCHES)
    found = cursor.matches(tree.root_node)
    return None if cursor.did_exceed_match_limit else found


def _definition(data: bytes, node: Node, names: Sequence[Node] | None, kind: str) -> DefinitionLines:
    first, last = node.start_point.row, _last_line(node)
    if not names:
        return DefinitionLines(first, first, last, "", kind)
    return DefinitionLines(
        first,
        names[0].start_point.row,
        last,
        _bare(data[names[0].start_byte : names[0].end_byte].decode("utf-8", "replace")),
        kind,
    )


def _bare(text: str) -> str:
    """A name without quotes, scope and type arguments."""
    if text.startswith("operator") or "::operator" in text:
        return text.rpartition("::")[2].partition("(")[0].strip()
    return _QUALIFIER.sub("", _TYPE_ARGUMENTS.sub("", text).strip("\"'` \n"))


def _last_line(node: Node) -> int:
    """The last line that ``node`` has text in: some end with the line break."""
    end = node.end_point
    return max(node.start_point.row, end.row - (end.column == 0))


def _mark_prelude(preludes: bytearray, lines: Sequence[str], node: Node) -> None:
    row, column = node.start_point
    line = lines[row]
    if column == len(line) - len(line.lstrip()):
        last = _last_line(node)
        preludes[row : last + 1] = b"\1" * (last + 1 - row)


def _by_line(found: Sequence[DefinitionLines]) -> dict[int, DefinitionLines]:
    """One definition a line, by the line of its name: the outermost, but a constant only if nothing else stands there.

    A constant or property in one line is no landmark: lists of them are packed like statements.
    """
    chosen: dict[int, DefinitionLines] = {}
    for definition in sorted(found, key=lambda d: (d.kind in _MINOR, d.first, -d.last)):
        if definition.kind not in _MINOR or definition.last > definition.first:
            chosen.setdefault(definition.named, definition)
    return dict(sorted(chosen.items()))


def _mark_unread(unread: bytearray, lines: Sequence[str], errors: Sequence[Node], items: Sequence[Node]) -> None:
    """The lines of errors, but for what was read inside them; where that starts, something may be broken before it.

    What ends with the opening of a block has lost its body: its last line may be a definition.
    """
    for node in errors:
        first, last = node.start_point.row, _last_line(node)
        unread[first : last + 1] = b"\1" * (last + 1 - first)
    for node in items if errors else ():
        first, last = node.start_point.row, _last_line(node)
        if last > first and not node.has_error:
            beyond = last + (not opens_block(lines[last]))
            unread[first + 1 : beyond] = bytes(beyond - first - 1)
