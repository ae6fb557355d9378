r"""The two stored forms of what a chunk defines and uses: tokens to find rows by, and a text with the rest.

The text has a line a record, its fields separated by tabs::

    +<kind>  <line>  <end line>  <scope>  <name>     a definition
    @<qualified name>                                the definition that the uses below stand in; at first none
    <name>  <lines>  <receiver>  <origin>            a call; empty fields at the end are left out
    ~<name>  <lines>  …                              a reference

Lines are numbers joined by commas, each but the first as its distance from the one before.
"""

from __future__ import annotations

from itertools import accumulate, groupby, pairwise

from everfind_core.model.symbols import Definition, Symbols, Use

REVISION = "2"
"""Changes whenever the same symbols could be written otherwise; travels with the chunker's revision."""

MAX_NAME = 100
"""Characters of a name, receiver, scope or origin. What is longer is no name that anybody asks for, and left out."""


def defining(name: str) -> str:
    """The token of rows that define ``name``."""
    return f"+{name}"


def using(name: str) -> str:
    """The token of rows that call ``name`` or refer to it."""
    return f"-{name}"


def tokens(symbols: Symbols) -> str:
    """The distinct tokens of a row, separated by single spaces."""
    defined = (defining(definition.name) for definition in symbols.definitions)
    used = (using(use.name) for use in symbols.uses)
    return " ".join(dict.fromkeys([*defined, *used]))


def encode(symbols: Symbols) -> str:
    """The text of ``symbols``; :func:`decode` gives them back, uses grouped by the definition they stand in."""
    lines = [f"+{d.kind}\t{d.line}\t{d.end_line}\t{d.scope}\t{d.name}" for d in symbols.definitions]
    for within, uses in groupby(sorted(symbols.uses, key=lambda use: use.within), key=lambda use: use.within):
        if within:
            lines.append(f"@{within}")
        lines += map(_encoded_use, uses)
    return "\n".join(lines)


def decode(text: str) -> Symbols:
    """What :func:`encode` made ``text`` of."""
    definitions: list[Definition] = []
    uses: list[Use] = []
    within = ""
    for line in text.split("\n") if text else ():
        match line[0]:
            case "+":
                kind, first, last, scope, name = line[1:].split("\t")
                definitions.append(Definition(name, kind, int(first), int(last), scope))
            case "@":
                within = line[1:]
            case _:
                uses.append(_decoded_use(line, within))
    return Symbols(tuple(definitions), tuple(uses))


def is_name(text: str) -> bool:
    """Whether ``text`` can stand as a name in both forms."""
    if text.isascii() and text.isidentifier():  # as most are
        return len(text) <= MAX_NAME
    return 0 < len(text) <= MAX_NAME and text.isprintable() and not any(map(str.isspace, text)) and text[0] not in "+@~"


def _encoded_use(use: Use) -> str:
    distances = (b - a for a, b in pairwise((0, *use.lines)))
    fields = (use.name, ",".join(map(str, distances)), use.receiver, use.origin)
    return ("" if use.called else "~") + "\t".join(fields).rstrip("\t")


def _decoded_use(line: str, within: str) -> Use:
    called = not line.startswith("~")
    name, distances, *rest = (line if called else line[1:]).split("\t")
    receiver, origin = (*rest, "", "")[:2]
    return Use(name, tuple(accumulate(map(int, distances.split(",")))), receiver, origin, within, called)
