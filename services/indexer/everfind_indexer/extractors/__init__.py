"""From a file's bytes to a document: the first extractor that accepts the file reads it."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from everfind_core.model import Document, SkipReason
from everfind_core.ports import Extractor, NotExtractedError
from everfind_indexer.extractors.documents import DocumentExtractor, LargeNotebookExtractor, PageExtractor
from everfind_indexer.extractors.formats import LOOKS, Format, extension_of
from everfind_indexer.extractors.text import TextExtractor
from everfind_indexer.extractors.worker import DocumentReader

REVISION = "4"
"""Changes whenever a file could give another document; an index made by another revision must be built again."""

_HEAD_BYTES = 4_096


def claims(extension: str) -> bool:
    """Whether an extractor reads the files with ``extension`` (lower case, no dot) although they are binary."""
    return any(extension in look.extensions for look in LOOKS.values())


_KINDS = {Format.HTML: PageExtractor, Format.NOTEBOOK: LargeNotebookExtractor}


class Extraction:
    """All extractors, and the process in which some of them read. Close it, or use it as a context manager."""

    def __init__(self) -> None:
        self._reader = DocumentReader()
        self._extractors: tuple[Extractor, ...] = (
            *(_KINDS.get(look.format, DocumentExtractor)(look, self._reader) for look in LOOKS.values()),
            TextExtractor(),
        )
        """In the order in which they are asked; the last one accepts everything."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def extract(self, path: str, raw: bytes) -> Document:
        """The document in ``raw``, the bytes of the file at ``path`` (string form). Secrets are not masked yet.

        Raises:
            NotExtractedError: the file holds no text, with the reason.
            UnavailableError: no process can be started to read it.
        """
        head = raw[:_HEAD_BYTES]
        extractor = next(e for e in self._extractors if e.accepts(path, head))
        try:
            return extractor.extract(path, raw)
        except NotExtractedError as error:
            if error.reason is SkipReason.BINARY and claims(extension_of(path)):
                raise NotExtractedError(SkipReason.EXTRACTION_FAILED, "it is not what its name says") from error
            raise

    def close(self) -> None:
        """End the process, if there is one."""
        self._reader.close()
