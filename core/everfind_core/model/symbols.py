"""What a chunk's lines define and use, by name: what a call graph is made of."""

from __future__ import annotations

from dataclasses import dataclass

ANYTHING = "?"
"""The receiver of a call on an expression that has no name."""


@dataclass(frozen=True, slots=True)
class Definition:
    """Something with a name. ``scope`` are the names around it, outermost first, joined by ``.``; lines from 1."""

    name: str
    kind: str
    line: int
    end_line: int
    scope: str = ""

    @property
    def qualified(self) -> str:
        """``Outer.method``."""
        return f"{self.scope}.{self.name}" if self.scope else self.name


@dataclass(frozen=True, slots=True)
class Use:
    """A name that is called, or only referred to, in these lines of one definition (ascending, from 1).

    ``within`` is that definition's qualified name. ``receiver`` is the last name before the dot, :data:`ANYTHING` for
    an expression, empty where there is none. ``origin`` is where the file says that the name (or its receiver) comes
    from: an imported module, or a type, as the language writes it; empty if it says nothing.
    """

    name: str
    lines: tuple[int, ...]
    receiver: str = ""
    origin: str = ""
    within: str = ""
    called: bool = True


@dataclass(frozen=True, slots=True)
class Symbols:
    """What a chunk's lines define and use."""

    definitions: tuple[Definition, ...] = ()
    uses: tuple[Use, ...] = ()


NO_SYMBOLS = Symbols()
