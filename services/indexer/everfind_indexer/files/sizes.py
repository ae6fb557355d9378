"""How large a file may be: one limit for text, another for documents, most of whose bytes are no text."""

from __future__ import annotations

from dataclasses import dataclass

from everfind_core.model import SkipReason
from everfind_core.ports import NotExtractedError
from everfind_indexer.extractors.formats import is_document


@dataclass(frozen=True, slots=True)
class SizeLimits:
    """The most bytes of a text file, and of a document (PDF, Office, mail …)."""

    text: int = 500_000
    documents: int = 50_000_000

    def of(self, path: str) -> int:
        """The limit that holds for the file at ``path``."""
        return max(self.text, self.documents) if is_document(path) else self.text


DEFAULT_SIZES = SizeLimits()


def too_large(path: str, size: int, limit: int) -> NotExtractedError:
    """Why a file of ``size`` bytes is left out."""
    setting = "max_document_bytes" if is_document(path) else "max_file_bytes"
    return NotExtractedError(SkipReason.TOO_LARGE, f"{size:,} bytes; {setting} is {limit:,}")
