"""A hit's lines in their file, coloured, with those of the hit marked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from everfind_core.errors import EverfindError
from everfind_core.model import FileText, Hit, ReadFileRequest

if TYPE_CHECKING:
    from rich.syntax import Syntax

    from everfind_core.ports import SourceReader

_AROUND = 30


def around(reader: SourceReader, hit: Hit) -> FileText:
    """The hit's lines and some around it as they are now; the indexed text where the file cannot be read."""
    start, end = max(1, hit.start_line - _AROUND), hit.end_line + _AROUND
    try:
        return reader.read_file(ReadFileRequest(hit.folder, hit.path, start, end))
    except EverfindError:
        from everfind_core.model import FileRef

        lines = hit.end_line - hit.start_line + 1
        return FileText(FileRef(hit.folder, hit.path), hit.absolute_path, hit.start_line, hit.end_line, lines, hit.text)


def coloured(text: FileText, hit: Hit) -> Syntax:
    """``text`` with line numbers; the hit's are marked."""
    from rich.syntax import Syntax

    lexer = Syntax.guess_lexer(hit.path, text.text)
    return Syntax(
        text.text,
        lexer,
        theme="ansi_dark",
        line_numbers=True,
        start_line=text.start_line,
        highlight_lines=set(range(hit.start_line, hit.end_line + 1)),
        word_wrap=False,
    )
