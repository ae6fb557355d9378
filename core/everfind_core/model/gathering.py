"""A search whose hits come as one block of Markdown."""

from __future__ import annotations

from dataclasses import dataclass

from everfind_core.model.search import Hit, SearchAnswer, SearchRequest


@dataclass(frozen=True, slots=True)
class GatherRequest:
    """A search whose hits come as one Markdown block, with ``context_lines`` (0 to 200) of source around each."""

    search: SearchRequest
    context_lines: int = 0


@dataclass(frozen=True, slots=True)
class Passage:
    """A hit with its surroundings. ``changed``: the file is not the indexed version, so the stored text is shown.

    ``extracted_from`` names the format where the lines read around the hit are those of extracted text.
    """

    hit: Hit
    start_line: int
    end_line: int
    text: str
    changed: bool = False
    extracted_from: str = ""


@dataclass(frozen=True, slots=True)
class GatherAnswer:
    """The search's answer, its passages, and both as one Markdown block ready for a context window."""

    answer: SearchAnswer
    passages: tuple[Passage, ...]
    markdown: str
