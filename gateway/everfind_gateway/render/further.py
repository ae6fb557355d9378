"""The files of further hits, one line each with the fields of a hit."""

from __future__ import annotations

from collections.abc import Iterable

from everfind_core.answers.text_form import further_place, further_title
from everfind_core.model import FurtherFile


def further_lines(files: Iterable[FurtherFile]) -> str:
    """``path:line<TAB><TAB>[further]<TAB>title``, for grep, cut and awk."""
    return "\n".join(f"{further_place(file)}\t\t[further]\t{further_title(file)}" for file in files)
