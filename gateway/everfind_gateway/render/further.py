"""The files of further hits: a list for a reader, or one line each with the fields of a hit."""

from __future__ import annotations

from collections.abc import Iterable

from everfind_core.model import FurtherFile
from everfind_core.paths import printable, shown_path


def further_list(files: Iterable[FurtherFile]) -> str:
    """A Markdown list under a line that says what it is; empty where there are none."""
    items = [f"- {_place(file)}-{file.end_line} {_title(file)}".rstrip() for file in files]
    return "\n".join(["Further files, each by its best place:", *items]) if items else ""


def further_lines(files: Iterable[FurtherFile]) -> str:
    """``path:line<TAB><TAB>[further]<TAB>title``, for grep, cut and awk."""
    return "\n".join(f"{_place(file)}\t\t[further]\t{_title(file)}" for file in files)


def _place(file: FurtherFile) -> str:
    return f"{shown_path(f'{file.folder}/{file.path}')}:{file.start_line}"


def _title(file: FurtherFile) -> str:
    return printable(file.symbol or file.heading)
