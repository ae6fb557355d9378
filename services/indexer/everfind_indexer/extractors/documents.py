"""Document formats: recognised here, read in a process of their own."""

from __future__ import annotations

import re

from everfind_core.model import Document, LineKind, SkipReason
from everfind_core.ports import NotExtractedError
from everfind_indexer.extractors.formats import ENCRYPTED_PACKAGE, LOOKS, OLE, PDF, Format, Look, extension_of
from everfind_indexer.extractors.notebook import NotebookExtractor
from everfind_indexer.extractors.text import TextExtractor
from everfind_indexer.extractors.worker import DocumentReader

_PDF_HEADER_WITHIN = 1_024
_SMALL_NOTEBOOK = 500_000
_PAGE = re.compile(rb"<!doctype\s+html|<html[\s>]", re.IGNORECASE)
_TEMPLATE = re.compile(rb"\{\{|\{%|<%|<\?(?!xml)|\s(?:v-|ng-|th:|\*ng)\w+=")


class DocumentExtractor:
    """Reads the files of one format (:class:`everfind_core.ports.Extractor`)."""

    def __init__(self, look: Look, reader: DocumentReader) -> None:
        self.extensions = look.extensions
        self._look = look
        self._reader = reader

    def accepts(self, path: str, head: bytes) -> bool:
        """By how the file begins, and by its name where many kinds of files begin so."""
        named = extension_of(path) in self.extensions
        match self._look.format:
            case Format.PDF:
                return head.startswith(PDF) or (named and PDF in head[:_PDF_HEADER_WITHIN])
            case Format.PACKAGE:
                # An encrypted Office document is an OLE file under the same name.
                return named and head.startswith((self._look.beginning, OLE))
            case Format.SHEETS:
                return named and head.startswith((self._look.beginning, LOOKS[Format.PACKAGE].beginning))
            case _:
                return named

    def extract(self, path: str, raw: bytes) -> Document:  # noqa: ARG002 - the port's signature
        """The document's text.

        Raises:
            NotExtractedError: ENCRYPTED, OVER_LIMIT, NO_TEXT, TOO_LARGE or EXTRACTION_FAILED.
            UnavailableError: no process can be started.
        """
        answer = self._reader.read(self._format(raw), raw)
        return Document(answer.text, LineKind.MARKDOWN, answer.language, answer.pages, extracted_from=answer.language)

    def _format(self, raw: bytes) -> Format:
        """The format to read ``raw`` as: what its first bytes say counts more than the name."""
        if self._look.format is Format.SHEETS and not raw.startswith(OLE):
            return Format.PACKAGE
        if self._look.format is Format.PACKAGE and raw.startswith(OLE):
            if ENCRYPTED_PACKAGE in raw:
                raise NotExtractedError(SkipReason.ENCRYPTED, "it needs a password")
            raise NotExtractedError(SkipReason.EXTRACTION_FAILED, "it is in an Office format from before 2007")
        return self._look.format


class LargeNotebookExtractor(DocumentExtractor):
    """Reads notebooks: small ones at once, those with many outputs as documents are read."""

    def extract(self, path: str, raw: bytes) -> Document:
        """The cells in order. ``language`` is the kernel's.

        Raises:
            NotExtractedError: as of :class:`NotebookExtractor`; OVER_LIMIT or EXTRACTION_FAILED if it is large.
            UnavailableError: no process can be started.
        """
        if len(raw) <= _SMALL_NOTEBOOK:
            return NotebookExtractor().extract(path, raw)
        answer = self._reader.read(Format.NOTEBOOK, raw)
        return Document(answer.text, LineKind.MARKDOWN, answer.language, extracted_from="notebook")


class PageExtractor(DocumentExtractor):
    """Reads HTML that is a whole page, not a template or a fragment; what cannot be read as a page is text."""

    def accepts(self, path: str, head: bytes) -> bool:
        """By extension, and by its first bytes."""
        return super().accepts(path, head) and bool(_PAGE.search(head))

    def extract(self, path: str, raw: bytes) -> Document:
        """The page as Markdown, or its source where that says more.

        Raises:
            NotExtractedError: BINARY.
            UnavailableError: no process can be started.
        """
        if _TEMPLATE.search(raw):
            return TextExtractor().extract(path, raw)
        try:
            return super().extract(path, raw)
        except NotExtractedError:
            return TextExtractor().extract(path, raw)
