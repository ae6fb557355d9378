"""Jupyter notebooks: the cells' sources as Markdown, code in fences, without outputs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from everfind_core.files.parsed_json import parse_json
from everfind_core.model import Document, LineKind, SkipReason
from everfind_core.ports import NotExtractedError
from everfind_indexer.extractors.decoding import decode, unify_line_ends

_BACKTICKS = re.compile(r"^`{3,}", re.MULTILINE)


class NotebookExtractor:
    """Reads ``.ipynb``, nbformat 3 and 4. A broken notebook is indexed as the JSON that it was meant to be."""

    extensions: frozenset[str] = frozenset()

    def accepts(self, path: str, head: bytes) -> bool:  # noqa: ARG002 - the port's signature
        """By extension."""
        return path.lower().endswith(".ipynb")

    def extract(self, path: str, raw: bytes) -> Document:  # noqa: ARG002 - the port's signature
        """The cells in order. ``language`` is the kernel's.

        Raises:
            NotExtractedError: BINARY, or NO_TEXT where every cell is empty.
        """
        text = decode(raw)
        try:
            notebook = parse_json(text)
            cells = list(_cells(notebook))
        except (ValueError, LookupError, TypeError):
            return Document(text=text, kind=LineKind.CONFIG, language="json")
        language = _language(notebook)
        blocks = [block for cell in cells if (block := _block(cell, language))]
        if not blocks:
            raise NotExtractedError(SkipReason.NO_TEXT, "a notebook without text in its cells")
        text = "\n\n".join(blocks) + "\n"
        return Document(text=text, kind=LineKind.MARKDOWN, language=language, extracted_from="notebook")


def _cells(notebook: Any) -> Iterator[dict[str, Any]]:
    """The cells of nbformat 4, or of every worksheet of nbformat 3.

    Raises:
        LookupError, TypeError: it is no notebook.
    """
    sheets = [notebook] if "cells" in notebook else notebook["worksheets"]
    for sheet in sheets:
        for cell in sheet["cells"]:
            if not isinstance(cell, dict):
                raise TypeError(f"a cell is a {type(cell).__name__}")
            yield cell


def _language(notebook: dict[str, Any]) -> str:
    metadata = notebook.get("metadata")
    for place, key in (("kernelspec", "language"), ("language_info", "name")):
        value = metadata.get(place, {}) if isinstance(metadata, dict) else {}
        name = value.get(key) if isinstance(value, dict) else None
        if isinstance(name, str) and name:
            return name.lower()
    return "python"


def _block(cell: dict[str, Any], language: str) -> str:
    source = cell.get("source", cell.get("input", ""))
    if isinstance(source, list):
        source = "".join(line for line in source if isinstance(line, str))
    if not isinstance(source, str) or not source.strip():
        return ""
    source = unify_line_ends(source).strip("\n")
    kind = cell.get("cell_type")
    if kind == "code":
        # Longer than any fence inside, so that nothing in the cell ends it.
        fence = "`" * max([3, *(len(run) + 1 for run in _BACKTICKS.findall(source))])
        return f"{fence}{language}\n{source}\n{fence}"
    if kind == "heading" and isinstance(level := cell.get("level"), int):
        return f"{'#' * min(max(level, 1), 6)} {source}"
    return source
