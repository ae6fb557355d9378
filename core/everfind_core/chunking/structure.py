"""What the analysers find in a document's lines, in one form for the packer and the assembly.

A *boundary* stands before a line that is not blank; its *strength* says how good a place to cut it is. Only the order
of strengths matters, and on which side of :data:`STRUCTURAL` they are.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

BLANK = -1
"""Strength of a blank line: it starts nothing and is dropped at the edges of a chunk."""

STRUCTURAL = 70
"""From here on a boundary starts a section or a definition: a cut there needs no overlap."""

MAX_STRENGTH = 127

_TAB = 4


@dataclass(frozen=True, slots=True)
class Label:
    """A heading, definition or key that encloses lines: its column (headings: level) and its text."""

    depth: int
    text: str
    symbol: str = ""
    kind: str = ""


Trail = tuple[Label, ...]
"""Enclosing labels, outermost first."""


@dataclass(frozen=True, slots=True)
class Structure:
    """Strength before each line, and what encloses it.

    ``strengths`` has one entry a line, :data:`BLANK` for blank ones. ``trail_lines`` ascend; ``trails[i]`` holds from
    line ``trail_lines[i]`` up to the next. ``label_lines`` (ascending) and ``labels`` say where headings, definitions
    and keys start, comments and decorators before them included; their own lines are not enclosed by them.
    ``preamble`` is the number of leading lines (front matter) that stand apart. ``by_column``: a label encloses only
    lines that start right of it. ``code`` are lines of code among prose, with the marks around it,
    ``furniture`` those that a page has at its head and foot.
    """

    strengths: Sequence[int]
    trail_lines: Sequence[int] = ()
    trails: Sequence[Trail] = ()
    label_lines: Sequence[int] = ()
    labels: Sequence[Label] = ()
    preamble: int = 0
    by_column: bool = False
    code: frozenset[int] = frozenset()
    furniture: frozenset[int] = frozenset()

    def trail_at(self, line: int, column: int) -> Trail:
        """The labels that enclose ``line`` (from 0), whose text starts at ``column``."""
        place = bisect_right(self.trail_lines, line) - 1
        if place < 0:
            return ()
        trail = self.trails[place]
        return tuple(label for label in trail if label.depth < column) if self.by_column else trail

    def labels_in(self, first: int, beyond: int) -> Sequence[Label]:
        """The labels that start from line ``first`` up to, not including, ``beyond``."""
        return self.labels[bisect_left(self.label_lines, first) : bisect_left(self.label_lines, beyond)]


@dataclass(slots=True)
class Outline:
    """Collects a document's labels in line order."""

    _stack: list[Label] = field(default_factory=list)
    _trail_lines: list[int] = field(default_factory=list)
    _trails: list[Trail] = field(default_factory=list)
    _label_lines: list[int] = field(default_factory=list)
    _labels: list[Label] = field(default_factory=list)

    def open(self, first: int, last: int, label: Label) -> None:
        """``label`` stands in lines ``first`` to ``last`` and encloses what follows, until one not deeper."""
        self.close(first, label.depth)
        self._label_lines.append(first)
        self._labels.append(label)
        self._stack.append(label)
        self._mark(last + 1)

    def enclose(self, first: int, beyond: int, label: Label) -> None:
        """``label`` encloses lines ``first`` up to, not including, ``beyond``, without standing in any of them."""
        self.close(first, label.depth)
        self._stack.append(label)
        self._mark(first)
        self.close(beyond, label.depth)

    def close(self, line: int, depth: int) -> None:
        """From ``line`` on no label of ``depth`` or deeper encloses anything."""
        if self._stack and self._stack[-1].depth >= depth:
            while self._stack and self._stack[-1].depth >= depth:
                self._stack.pop()
            self._mark(line)

    @property
    def enclosing(self) -> Trail:
        """The labels open now."""
        return tuple(self._stack)

    def structure(self, strengths: Sequence[int], *, preamble: int = 0, by_column: bool = False) -> Structure:
        """The whole, with the lines' strengths."""
        return Structure(
            strengths, self._trail_lines, self._trails, self._label_lines, self._labels, preamble, by_column
        )

    def _mark(self, line: int) -> None:
        while self._trail_lines and self._trail_lines[-1] >= line:
            self._trail_lines.pop()
            self._trails.pop()
        self._trail_lines.append(line)
        self._trails.append(tuple(self._stack))


def column_of(line: str) -> int:
    """The column of the first character that is not white space; a tab reaches the next multiple of four."""
    stripped = line.lstrip()
    lead = len(line) - len(stripped)
    if lead and "\t" in line[:lead]:
        return len(line[:lead].expandtabs(_TAB))
    return lead
