"""From a file's bytes to a document: the first extractor that accepts the file reads it."""

from __future__ import annotations

from everfind_core.model import Document
from everfind_core.ports import Extractor
from everfind_indexer.extractors.notebook import NotebookExtractor
from everfind_indexer.extractors.text import TextExtractor

REVISION = "1"
"""Changes whenever a file could give another document; an index made by another revision must be built again."""

_HEAD_BYTES = 4_096

EXTRACTORS: tuple[Extractor, ...] = (NotebookExtractor(), TextExtractor())
"""In the order in which they are asked; the last one accepts everything."""


def claims(extension: str) -> bool:
    """Whether an extractor reads the files with ``extension`` (lower case, no dot) although they are binary."""
    return any(extension in extractor.extensions for extractor in EXTRACTORS)


def extract(path: str, raw: bytes) -> Document:
    """The document in ``raw``, the bytes of the file at ``path`` (string form). Secrets are not masked yet.

    Raises:
        NotExtractedError: the file holds no text, with the reason.
    """
    head = raw[:_HEAD_BYTES]
    extractor = next(e for e in EXTRACTORS if e.accepts(path, head))
    return extractor.extract(path, raw)
