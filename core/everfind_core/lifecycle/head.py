"""The header fields that stand in a document's own text, before its second heading or in sections of their own.

``Key: value`` lines as in PEPs, RFCs and BIPs, also in ``<pre>``, fences, lists, bold and quotes, as reStructuredText
field lists, AsciiDoc attributes and Org keywords; tables with a key a row, or with keys as their first row; sections
called as a key is, as in Nygard's decision records; sentences that say that this document was replaced or is not in
force; and short lines that are a date.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from everfind_core.lifecycle.fields import DATELINE, SENTENCE, STATED, Header, HeaderField, is_wanted
from everfind_core.lifecycle.sentences import dateline, replaced_by, stated
from everfind_core.lifecycle.vocabulary import Role, Vocabulary, normal

_HEAD_LINES = 60  # that are not blank
_SECTION_LINES = 12  # that are not blank
_SHORT_LINE = 60
_RIGHT_COLUMN = 24  # what is indented more continues nothing
_ABOUT_STATUS = "status_of_"  # a section in prose, as in RFCs and recommendations of the W3C
_NO_SECTION = frozenset({None, Role.TITLE, Role.ID, Role.STAGE})

_FIELD = re.compile(
    r"[ \t]*(?:>[ \t]?)*(?:[-*+•][ \t]+)?(?:<!--[ \t]*|#\+|\.\.[ \t]+|[*_:`]{1,3})?"
    r"(?P<key>[^\W\d_][\w .()/'-]{0,39}?)[*_`]{0,3}[ \t]*(?:：|::?[*_`]{0,3}(?=[ \t]|$))[ \t]*(?P<value>.*)$"
)
_ATX = re.compile(r"(?:#{1,6}[ \t]+|={1,6}[ \t]*(?=[^\s=])|\*+[ \t]+(?=[A-Z][\w ]*$))(?P<title>\S.*?)[ \t#=]*$")
_ORG_TITLE = re.compile(r"#\+title:[ \t]*(?P<title>.+)$", re.IGNORECASE)
_UNDERLINE = re.compile(r"([=\-~^\"'*+#`])\1{2,}[ \t]*$")
_HEADING_STARTS = tuple("=-~^\"'*+#`")
"""What the lines of a heading start with, one of them at least."""

_DELIMITERS = re.compile(r"[ \t]*[|+](?=.*[-=]{2})[ \t:|+=-]*$")
_ROW = re.compile(r"[ \t]*[a-z]?\|(?!===)(?P<cells>.+)$")
_LIST_TABLE = re.compile(r"[ \t]*\*[ \t]+-[ \t]+(?P<key>.+)$")
_MARKS = " \t*_`~"
_HTML_LINK = re.compile(r"<a\s[^<>]*?href=\"(?P<target>[^\"<>]+)\"[^<>]*>(?P<text>[^<>]*)</a>", re.IGNORECASE)
_TAG = re.compile(r"</?(?!(?:s|del)\b)[A-Za-z][A-Za-z0-9]*(?:\s[^<>]*)?/?>", re.IGNORECASE)
"""Without those of what is struck out: that does not count."""
_COLUMNS = re.compile(r"(?<=\S)[ \t]{3,}.*$")
_BESIDE = re.compile(r"[ \t]+[|·•][ \t]+")
_RIGHT = re.compile(r"\S[ \t]{3,}(?P<right>\S.*)$|^[ \t]{24,}(?P<alone>\S.*)$")


class Head:
    """Reads the lines of a document one after another, and adds what it finds to a header."""

    def __init__(self, lines: Sequence[str], vocabulary: Vocabulary, header: Header) -> None:
        self._lines = lines
        self._vocabulary = vocabulary
        self._header = header
        self._headings = 0

    def read(self, start: int) -> None:
        """Read from line ``start`` on."""
        number, seen = start, 0
        while number < len(self._lines):
            if not self._lines[number].strip():
                number += 1
                continue
            title, after = self._heading(number)
            if after > number:
                number = self._headed(title, after)
                continue
            seen += 1
            number = (self._head_line(number) if self._headings < 2 and seen <= _HEAD_LINES else 0) or number + 1

    # --- headings -----------------------------------------------------------------------------------------------------

    def _heading(self, number: int) -> tuple[str, int]:
        """The title of the heading at this line and the first line after it; this line if it is none."""
        line, below, second = (*self._lines[number : number + 3], "", "")[:3]
        if not (line.startswith(_HEADING_STARTS) or below.startswith(_HEADING_STARTS)):
            return "", number
        if match := _ORG_TITLE.match(line) or _ATX.match(line):
            return match["title"], number + 1
        if _UNDERLINE.match(line):
            over = below.strip() and _UNDERLINE.match(second)
            return (below.strip(), number + 3) if over else ("", number)
        if _UNDERLINE.match(below) and not self._fields(line) and not _ROW.match(line):
            return line.strip(), number + 2
        return "", number

    def _headed(self, title: str, after: int) -> int:
        """What follows from a heading: a section that says what a field says, or the document's own title."""
        role = self._vocabulary.role(normal(title))
        if role not in _NO_SECTION:
            end = self._section_end(after)
            said = [number for number in range(after, end) if self._lines[number].strip()]
            if 0 < len(said) <= _SECTION_LINES:
                self._add(normal(title), [self._lines[number].strip() for number in said], said[0], said[-1])
                return end
        elif normal(title).startswith(_ABOUT_STATUS):
            for number in range(after, self._section_end(after)):
                self._sentence(number)
        elif self._headings == 1:
            date, status = dateline(title, self._vocabulary)
            self._said(DATELINE, f"{date}\n{status}", after - 1)
        self._headings += 1
        self._header.title = self._header.title or title.strip(_MARKS)
        return after

    def _section_end(self, number: int) -> int:
        while number < len(self._lines) and self._heading(number)[1] == number:
            number += 1
        return number

    # --- lines of the head; each gives the line to go on from, 0 if it does not apply ---------------------------------

    def _head_line(self, number: int) -> int:
        self._date(number)
        return self._table(number) or self._list_table(number) or self._key_line(number) or self._sentence(number)

    def _table(self, number: int) -> int:
        cells = _cells(self._lines[number])
        if not cells:
            return 0
        rest = [line for line in range(number + 1, min(number + 3, len(self._lines))) if self._lines[line].strip()]
        if rest and len(cells) > 1 and _DELIMITERS.match(self._lines[rest[0]]) and self._is_known(cells[1]):
            values = _cells(self._lines[rest[-1]])
            for key, value in zip(cells, values, strict=False):
                self._add(key, [value], rest[-1], rest[-1])
            return rest[-1] + 1
        if len(cells) > 1:
            self._add(cells[0], [cells[1]], number, number)
        elif rest and self._is_known(cells[0]):  # AsciiDoc: a cell a line
            self._add(cells[0], _cells(self._lines[rest[0]])[:1], rest[0], rest[0])
            return rest[0] + 1
        return number + 1

    def _list_table(self, number: int) -> int:
        match = _LIST_TABLE.match(self._lines[number])
        below = self._lines[number + 1].strip() if number + 1 < len(self._lines) else ""
        if not match or not below.startswith("- "):
            return 0
        self._add(match["key"], [below.removeprefix("- ")], number, number + 1)
        return number + 2

    def _key_line(self, number: int) -> int:
        found = self._fields(self._lines[number])
        if not any(is_wanted(normal(key), value, self._vocabulary) for key, value in found):
            return 0
        end = number + 1
        while end < len(self._lines) and self._continues(end, _indent(self._lines[number])):
            end += 1
        (key, value), *beside = found
        self._add(
            key, [value, *(_left(line).lstrip("-*+ ") for line in self._lines[number + 1 : end])], number, end - 1
        )
        for other, said in beside:
            self._add(other, [said], number, number)
        return end

    def _sentence(self, number: int) -> int:
        line, title = self._lines[number], self._header.title
        if value := replaced_by(line, title):
            self._said(SENTENCE, value, number)
            return number + 1
        status, instead = stated(line, title, self._vocabulary)
        if status:
            self._said(STATED, f"{status}\n{instead}", number)
        return number + 1 if status else 0

    def _date(self, number: int) -> None:
        """The date in the right column, or of a short line between lines that are no running text."""
        line = self._lines[number]
        right = _RIGHT.search(line)
        around = (self._lines[n].strip() for n in (number - 1, number + 1) if 0 <= n < len(self._lines))
        if right or all(len(one) <= _SHORT_LINE for one in around):
            date, status = dateline((right["right"] or right["alone"]) if right else line, self._vocabulary)
            if date:
                self._said(DATELINE, f"{date}\n{status}", number)

    # --- pieces -------------------------------------------------------------------------------------------------------

    def _fields(self, line: str) -> list[tuple[str, str]]:
        """The fields on a line: one, or several with a bar between them."""
        match = _FIELD.match(line)
        if not match:
            return []
        value, *beside = _BESIDE.split(_left(match["value"]))
        others = [_FIELD.match(part) for part in beside]
        if not beside or not all(others):
            return [(match["key"], _left(match["value"]))]
        return [(match["key"], value), *((other["key"], other["value"]) for other in others if other)]

    def _continues(self, number: int, indent: int) -> bool:
        line = self._lines[number]
        return bool(line.strip()) and indent < _indent(line) <= _RIGHT_COLUMN and not self._fields(line)

    def _is_known(self, key: str) -> bool:
        return self._vocabulary.role(normal(key.strip(_MARKS))) is not None

    def _said(self, key: str, value: str, number: int) -> None:
        self._header.fields.append(HeaderField(key, value.strip(), number, number))

    def _add(self, key: str, said: Sequence[str], first: int, last: int) -> None:
        key, value = normal(key.strip(_MARKS)), _untagged("\n".join(part for part in said if part))
        if value and is_wanted(key, value, self._vocabulary):
            self._header.fields.append(HeaderField(key, value, first, last))


def _cells(line: str) -> list[str]:
    match = _ROW.match(line)
    return [cell.strip(_MARKS) for cell in match["cells"].strip().removesuffix("|").split("|")] if match else []


def _untagged(value: str) -> str:
    """A value without the tags of HTML; a link is one of Markdown."""
    linked = _HTML_LINK.sub(r"[\g<text>](\g<target>)", value.removesuffix("-->"))
    return _TAG.sub("", linked).strip()


def _left(line: str) -> str:
    """A line without what stands far to the right, as authors do in an RFC."""
    return _COLUMNS.sub("", line.strip())


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
