"""Presentations (.pptx): a slide is a page; titles, text, tables, and notes as Markdown."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator

from pptx import Presentation
from pptx.shapes.base import BaseShape
from pptx.slide import Slide
from pptx.table import Table
from pptx.text.text import TextFrame

from everfind_indexer.extractors.readers.tables import markdown_table
from everfind_indexer.extractors.wire import Extracted


def read(raw: bytes) -> Extracted:
    """The text of all slides in order."""
    lines: list[str] = []
    pages: list[int] = []
    for number, slide in enumerate(Presentation(io.BytesIO(raw)).slides, start=1):
        pages.append(len(lines) + 1)
        lines += _slide(slide, number)
    return Extracted("\n".join(lines), "pptx", pages=tuple(pages))


def _slide(slide: Slide, number: int) -> Iterator[str]:
    """The lines of a slide; the last one is blank."""
    title = slide.shapes.title
    heading = _one_line(title.text_frame.text) if title is not None and title.has_text_frame else ""
    yield f"# {heading or f'Slide {number}'}"
    yield ""
    for shape in _in_reading_order(slide.shapes):
        if title is None or shape.shape_id != title.shape_id:
            yield from _shape(shape)
    if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
        notes = list(_paragraphs(slide.notes_slide.notes_text_frame))
        if notes:
            yield from ("Notes:", *notes, "")


def _in_reading_order(shapes: Iterable[BaseShape]) -> list[BaseShape]:
    """From top to bottom, then from left to right; what has no place of its own keeps its turn before all others."""
    return sorted(shapes, key=lambda shape: (shape.top or 0, shape.left or 0))


def _shape(shape: BaseShape) -> Iterator[str]:
    inner = getattr(shape, "shapes", None)
    if inner is not None:
        for one in _in_reading_order(inner):
            yield from _shape(one)
        return
    table = getattr(shape, "table", None) if getattr(shape, "has_table", False) else None
    if isinstance(table, Table):
        yield from markdown_table([[_one_line(cell.text) for cell in row.cells] for row in table.rows])
        yield ""
    frame = getattr(shape, "text_frame", None) if shape.has_text_frame else None
    if isinstance(frame, TextFrame):
        lines = list(_paragraphs(frame))
        if lines:
            yield from (*lines, "")


def _paragraphs(frame: TextFrame) -> Iterator[str]:
    """The paragraphs of a text as list items, nested as they are; a single one stands alone."""
    paragraphs = [(p.level, _one_line(p.text)) for p in frame.paragraphs]
    written = [(level, text) for level, text in paragraphs if text]
    for level, text in written:
        yield f"{'  ' * level}- {text}" if len(written) > 1 else text


def _one_line(text: str) -> str:
    return " ".join(text.split())
