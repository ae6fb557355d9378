"""One reader a document format. Imported in the child process only: each reader imports its library when it is used."""

from __future__ import annotations

from importlib import import_module
from typing import Protocol, cast

from everfind_indexer.extractors.formats import Format
from everfind_indexer.extractors.readers.package import kind_of
from everfind_indexer.extractors.wire import Extracted


class _Reader(Protocol):
    """A module of this package."""

    def read(self, raw: bytes) -> Extracted: ...


_MODULES = {
    Format.PDF: "pdf",
    Format.SHEETS: "sheets",
    Format.HTML: "page",
    Format.MAIL: "mail",
    Format.NOTEBOOK: "cells",
}


def read(format_: Format, raw: bytes) -> Extracted:
    """The text in a file of a format.

    Raises:
        NotExtractedError: it has none, with the reason.
        Exception: whatever a library raises on a broken file.
    """
    name = kind_of(raw) if format_ is Format.PACKAGE else _MODULES[format_]
    reader = cast("_Reader", import_module(f"{__name__}.{name}"))
    return reader.read(raw)
