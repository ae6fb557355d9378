"""Takes the matches of a language's query for one file, as far as they are about names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from everfind_core.callgraph.symbols import is_name
from everfind_indexer.syntax.imports import Imported, imported
from everfind_indexer.syntax.naming import BUILT_IN, scope_of, type_name

if TYPE_CHECKING:
    from tree_sitter import Node

_LONGEST_EXPRESSION = 200
_LONGEST_IMPORT = 20_000
_NO_EXPRESSION = b"?"

CONSTANT = "constant"


class Span(NamedTuple):
    """A definition's bytes, the rows of its name and of its end (from 0), and what it is."""

    start: int
    end: int
    row: int
    last: int
    name: str
    kind: str
    scope: str


class Mention(NamedTuple):
    """A name that is used: where it stands, on what, and how."""

    start: int
    row: int
    name: str
    receiver: bytes
    called: bool


class Binding(NamedTuple):
    """A variable, parameter or field and its type; ``of_object``: it belongs to the object, not to the function."""

    start: int
    name: str
    type_name: str
    of_object: bool


@dataclass(slots=True)
class Names:
    """What was found in a file. Spans by where their name starts, mentions by where they start."""

    data: bytes
    language: str
    spans: dict[int, Span] = field(default_factory=dict)
    mentions: dict[int, Mention] = field(default_factory=dict)
    handed: list[Mention] = field(default_factory=list)
    bindings: list[Binding] = field(default_factory=list)
    imports: dict[str, Imported] = field(default_factory=dict)
    scopes: dict[int, str] = field(default_factory=dict)

    def define(self, node: Node, named: Node, last: int, name: str, kind: str) -> None:
        """Take a definition; ``last`` is its last row. A constant that holds a function is the function."""
        start = named.start_byte
        if is_name(name) and (start not in self.spans or self.spans[start].kind == CONSTANT):
            scope = scope_of(self._text(named))
            self.spans[start] = Span(node.start_byte, node.end_byte, named.start_point.row, last, name, kind, scope)

    def take(self, captures: Mapping[str, Sequence[Node]]) -> None:
        """Take a match about a call, a reference, an import or a hint."""
        if "call" in captures:
            self._mention(captures["call"][0], captures.get("receiver"), called=True)
        elif "reference" in captures:
            self._mention(captures["reference"][0], captures.get("receiver"), called=False)
        elif "handed" in captures:
            node = captures["handed"][0]
            name = self._text(node).lstrip(":")
            self.handed.append(Mention(node.start_byte, node.start_point.row, name, b"", False))
        elif "bound" in captures:
            self._bind(captures["bound"][0], captures["type"][0], of_object=False)
        elif "field" in captures:
            self._bind(captures["field"][0], captures["type"][0], of_object=True)
        elif "import" in captures:
            self._import(captures["import"][0])
        elif "scoped" in captures:
            self.scopes[captures["scoped"][0].start_byte] = type_name(self._bytes(captures["scope"][0]), self.language)

    def _mention(self, node: Node, receivers: Sequence[Node] | None, *, called: bool) -> None:
        start, name = node.start_byte, self._text(node)
        if not called and (start in self.mentions or len(name) == 1 or name in BUILT_IN.get(self.language, ())):
            return
        receiver = self._bytes(receivers[0]) if receivers else b""
        if "::" in name:
            head, _, name = name.rpartition("::")
            receiver, name = head.encode(), name.partition("<")[0]
        elif name == "new" and receiver and self.language == "ruby":
            name, receiver = receiver.decode("utf-8", "replace").rpartition("::")[2], b""
        if is_name(name):
            self.mentions[start] = Mention(start, node.start_point.row, name, receiver, called)

    def _bind(self, bound: Node, declared: Node, *, of_object: bool) -> None:
        name = type_name(self._bytes(declared), self.language)
        if name:
            self.bindings.append(Binding(bound.start_byte, self._text(bound).lstrip("@#"), name, of_object))

    def _import(self, node: Node) -> None:
        if node.end_byte - node.start_byte <= _LONGEST_IMPORT:
            for one in imported(self.language, self._text(node)):
                if is_name(one.bound):
                    self.imports.setdefault(one.bound, one)

    def _bytes(self, node: Node) -> bytes:
        start, end = node.start_byte, node.end_byte
        return self.data[start:end] if end - start <= _LONGEST_EXPRESSION else _NO_EXPRESSION

    def _text(self, node: Node) -> str:
        return self.data[node.start_byte : node.end_byte].decode("utf-8", "replace")
