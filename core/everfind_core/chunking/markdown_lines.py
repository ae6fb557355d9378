"""What each line of a Markdown text is (CommonMark 0.31 and GFM tables), by one pass over its lines.

Only what matters for cutting is read: containers are lists (by the column where their items' text starts) and quotes;
what is inside a line stays unread. One departure from CommonMark: what is never closed (a fence that another with an
info string follows, a comment or ``<pre>`` to the end of the file) opens nothing, as it would hide the headings below.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import IntEnum

from everfind_core.chunking.headed import Heading, TableRows, is_blank
from everfind_core.chunking.structure import column_of


class Kind(IntEnum):
    """What a line is, or goes on with."""

    BLANK = 0
    TEXT = 1
    ITEM = 2
    TABLE = 3
    QUOTE = 4
    INDENTED = 5
    FENCE_OPEN = 6
    FENCED = 7
    FENCE_CLOSE = 8
    UNDERLINE = 9
    RULE = 10
    ATX = 11
    HTML = 12


_LINE = re.compile(
    r"""(?P<ATX>\#{1,6}(?=[ \t]|$))
      | (?P<FENCE_OPEN>`{3,}(?=[^`]*$)|~{3,})
      | (?P<UNDERLINE>(?:=+|-+)[ \t]*$)
      | (?P<RULE>(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$)
      | (?P<ITEM>(?:[-+*]|\d{1,9}[.)])(?:[ \t]|$))
      | (?P<QUOTE>>)
      | (?P<HTML><[!/?a-zA-Z])
    """,
    re.VERBOSE,
)
_ITEM = re.compile(r"([-+*]|\d{1,9}[.)])([ \t]*)")
_LINE_ITEM = re.compile(r"(?:[-+*]|\d{1,9}[.)])(?:[ \t]|$)")
_DELIMITERS = re.compile(r"\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
_CELL_BORDER = re.compile(r"(?<!\\)\|")

_VERBATIM_HTML = re.compile(r"<(script|pre|style|textarea)(?=[ \t>]|$)", re.IGNORECASE)
_BLOCK_HTML = re.compile(
    r"</?(?:address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|"
    r"dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|"
    r"main|menu|menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|"
    r"title|tr|track|ul)(?=[ \t>]|/>|$)",
    re.IGNORECASE,
)
_LONE_TAG = re.compile(
    r"<(?:/[a-zA-Z][\w-]*[ \t]*|"
    r"""[a-zA-Z][\w-]*(?:[ \t]+[\w:@.-]+(?:[ \t]*=[ \t]*(?:"[^"]*"|'[^']*'|[^\s"'=<>`]+))?)*"""
    r"[ \t]*/?)>[ \t]*$"
)
_COMMENT, _COMMENT_END = "<!--", "-->"
_DEEPEST_LIST = 50


class Lines:
    """The lines of a text from ``start`` on: their ``kinds``, ``headings`` outside lists and quotes, and ``tables``."""

    def __init__(self, lines: Sequence[str], start: int) -> None:
        self.kinds = [Kind.BLANK if is_blank(line) else Kind.FENCED for line in lines]
        self.headings: list[Heading] = []
        self.tables: list[TableRows] = []
        self._lines = lines
        self._offsets: list[int] = []  # columns at which the text of the open list items starts
        self._paragraph = -1  # first line of the paragraph that the next line may go on with; -1: none
        self._quoted = False
        self._missing: set[str] = set()  # ends of HTML blocks that stand nowhere from here on
        number = start
        while number < len(lines):
            number = self._read(number)

    @property
    def nested(self) -> bool:
        """Whether a list is open."""
        return bool(self._offsets)

    def _read(self, number: int) -> int:
        """Read the block line at ``number``; gives the line after what it read."""
        line = self._lines[number]
        if self.kinds[number] is Kind.BLANK:
            self._paragraph = -1
            return number + 1
        column = column_of(line)
        inside = sum(offset <= column for offset in self._offsets)
        start = self._offsets[inside - 1] if inside else 0
        text = line.strip()
        kind = self._kind(number, text, column - start, same=inside == len(self._offsets))
        lazy = self._paragraph >= 0 and kind is Kind.TEXT
        if not lazy:
            del self._offsets[inside:]
        return self._take(number, number, kind, text, column)

    def _kind(self, number: int, text: str, indent: int, *, same: bool) -> Kind:
        """What starts with ``text``; ``same``: in the innermost open list item."""
        goes_on = self._paragraph >= 0
        if indent >= 4:
            return Kind.TEXT if goes_on else Kind.INDENTED
        match = _LINE.match(text)
        kind = Kind[match.lastgroup] if match and match.lastgroup else Kind.TEXT
        if kind is Kind.UNDERLINE:
            if goes_on and same and not self._quoted:
                return Kind.UNDERLINE
            kind = Kind.TEXT if text[0] == "=" or 1 < len(text) < 3 else (Kind.RULE if len(text) > 1 else Kind.ITEM)
        if kind is Kind.ITEM and goes_on and not (self._offsets or self._quoted) and not _interrupts(text):
            return Kind.TEXT
        if kind is Kind.HTML and not self._html_end(number, text, goes_on=goes_on):
            return Kind.TEXT
        if kind is Kind.TEXT and (same or not goes_on) and self._is_header(number, text):
            return Kind.TABLE
        return kind

    def _take(self, number: int, first: int, kind: Kind, text: str, column: int) -> int:
        """Note a line of ``kind`` whose ``text`` starts at ``column``; list items may hold another in one line."""
        if number == first:
            self.kinds[number] = kind
        match kind:
            case Kind.ITEM | Kind.FENCE_OPEN | Kind.HTML | Kind.TABLE:
                return self._block(number, kind, text, column)
            case Kind.TEXT:
                self._goes_on(number, quoted=False)
            case Kind.QUOTE:
                self._quote(number, text)
            case Kind.ATX | Kind.UNDERLINE:
                self._heading(number, kind, text)
            case _:
                self._paragraph = -1
        return number + 1

    def _block(self, number: int, kind: Kind, text: str, column: int) -> int:
        """Read a block that may have several lines; gives the line after it."""
        if kind is Kind.ITEM:
            return self._item(number, text, column)
        if kind is Kind.FENCE_OPEN:
            return self._fence(number, text)
        return self._html(number, text) if kind is Kind.HTML else self._table(number)

    def _quote(self, number: int, text: str) -> None:
        rest = text.lstrip("> \t")
        self._paragraph = -1
        if rest and not _LINE.match(rest):
            self._goes_on(number, quoted=True)

    def _goes_on(self, number: int, *, quoted: bool) -> None:
        if self._paragraph < 0:
            self._paragraph = number
            self._quoted = quoted
        self._quoted = self._quoted or quoted

    def _heading(self, number: int, kind: Kind, text: str) -> None:
        if self._offsets:
            self.kinds[number] = Kind.TEXT
        elif kind is Kind.ATX:
            title = text.lstrip("#")
            self.headings.append(Heading(number, number, len(text) - len(title), _without_closing(title)))
        else:
            title = " ".join(line.strip() for line in self._lines[self._paragraph : number])
            self.headings.append(Heading(self._paragraph, number, 1 if text[0] == "=" else 2, title))
        self._paragraph = -1

    # --- lists --------------------------------------------------------------------------------------------------------

    def _item(self, number: int, text: str, column: int) -> int:
        match = _ITEM.match(text)
        marker, space = match.groups() if match else (text[:1], "")
        rest = text[len(marker) + len(space) :]
        width = column_of(" " * (column + len(marker)) + space + "x") - column - len(marker)
        self._paragraph = -1
        self._quoted = False
        if not rest and (number + 1 == len(self._lines) or is_blank(self._lines[number + 1])):
            return number + 1  # an item may start with one blank line: this one is empty
        self._offsets.append(column + len(marker) + (width if rest and 1 <= width <= 4 else 1))
        if not rest or width > 4 or len(self._offsets) > _DEEPEST_LIST:
            return number + 1
        kind = self._kind(number, rest, 0, same=True)
        if kind is Kind.TABLE:
            kind = Kind.TEXT
        return self._take(number, -1, kind, rest, self._offsets[-1])

    # --- fences -------------------------------------------------------------------------------------------------------

    def _fence(self, number: int, text: str) -> int:
        closing = self._closing(number, text)
        self._paragraph = -1
        if closing == number:
            self.kinds[number] = Kind.TEXT
            return number + 1
        if closing < len(self._lines) and self._lines[closing].strip().startswith(text[:3]):
            self.kinds[closing] = Kind.FENCE_CLOSE
            return closing + 1
        return closing

    def _closing(self, number: int, text: str) -> int:
        """The line that closes a fence, or the one after its end; ``number`` if it opens none."""
        opening = text[: len(text) - len(text.lstrip(text[0]))]
        least = self._offsets[-1] if self._offsets else 0
        for later in range(number + 1, len(self._lines)):
            line = self._lines[later]
            if least and not is_blank(line) and column_of(line) < least:
                return later
            fence = line.strip()
            if not fence.startswith(opening) or column_of(line) - least >= 4:
                continue
            info = fence.lstrip(text[0])
            if not info:
                return later
            if text[0] not in info:
                return number
        return len(self._lines)

    # --- HTML ---------------------------------------------------------------------------------------------------------

    def _html_end(self, number: int, text: str, *, goes_on: bool) -> int:
        """The line after the HTML block that ``text`` starts; 0 if it starts none."""
        verbatim = _VERBATIM_HTML.match(text)
        if text.startswith(_COMMENT) or verbatim:
            return self._after(f"</{verbatim[1].lower()}>" if verbatim else _COMMENT_END, number)
        if _BLOCK_HTML.match(text) or (not goes_on and _LONE_TAG.match(text)):
            return next((n for n in range(number, len(self._lines)) if is_blank(self._lines[n])), len(self._lines))
        return 0

    def _after(self, end: str, number: int) -> int:
        """The line after the next one with ``end`` in it; 0 if none has."""
        if end in self._missing:
            return 0
        found = next((n + 1 for n in range(number, len(self._lines)) if end in self._lines[n].lower()), 0)
        if not found:
            self._missing.add(end)
        return found

    def _html(self, number: int, text: str) -> int:
        beyond = self._html_end(number, text, goes_on=False)
        for line in range(number, beyond):
            if self.kinds[line] is not Kind.BLANK:
                self.kinds[line] = Kind.HTML
        self._paragraph = -1
        return beyond

    # --- tables -------------------------------------------------------------------------------------------------------

    def _is_header(self, number: int, text: str) -> bool:
        """Whether a table starts here: a row of delimiters follows, with as many cells."""
        if number + 1 >= len(self._lines) or "|" not in text:
            return False
        delimiters = self._lines[number + 1].strip()
        return (
            len(delimiters) > 1 and bool(_DELIMITERS.match(delimiters)) and len(cells(text)) == len(cells(delimiters))
        )

    def _table(self, number: int) -> int:
        self._paragraph = number  # as in a paragraph, not every tag at the start of a line ends the rows
        beyond = number + 2
        while beyond < len(self._lines) and self._is_row(beyond):
            beyond += 1
        self._paragraph = -1
        self.kinds[number:beyond] = [Kind.TABLE] * (beyond - number)
        self.tables.append(TableRows(number + 2, beyond, cells(self._lines[number].strip())))
        return beyond

    def _is_row(self, number: int) -> bool:
        line = self._lines[number]
        if is_blank(line) or column_of(line) - (self._offsets[-1] if self._offsets else 0) not in range(4):
            return False
        text = line.strip()
        kind = self._kind(number, text, 0, same=False)
        return kind in (Kind.TEXT, Kind.TABLE) and not _LINE_ITEM.match(text)


def cells(row: str) -> list[str]:
    """The cells of a table's row."""
    row = row.strip().removeprefix("|")
    if row.endswith("|") and not row.endswith("\\|"):
        row = row[:-1]
    return [cell.strip() for cell in _CELL_BORDER.split(row)]


def _interrupts(item: str) -> bool:
    """Whether a list that starts with ``item`` may do so right below a paragraph."""
    marker, _, rest = item.partition(" ")
    return bool(rest.strip()) and (not marker[0].isdigit() or marker[:-1] == "1")


def _without_closing(title: str) -> str:
    """An ATX title without its closing sequence of ``#``."""
    title = title.strip()
    opened = title.rstrip("#")
    return opened.rstrip() if not opened or opened[-1] in " \t" else title
