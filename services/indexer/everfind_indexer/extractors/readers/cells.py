"""Large notebooks, most of whose bytes are outputs."""

from __future__ import annotations

from everfind_core.model import LineKind, SkipReason
from everfind_core.ports import NotExtractedError
from everfind_indexer.extractors.notebook import NotebookExtractor
from everfind_indexer.extractors.wire import Extracted


def read(raw: bytes) -> Extracted:
    """The cells of a notebook, without outputs."""
    document = NotebookExtractor().extract("", raw)
    if document.kind is not LineKind.MARKDOWN:
        raise NotExtractedError(SkipReason.EXTRACTION_FAILED, "it is no notebook")
    return Extracted(document.text, document.language)
