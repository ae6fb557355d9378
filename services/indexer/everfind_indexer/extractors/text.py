"""Everything that is text: source code, Markdown, settings, prose."""

from __future__ import annotations

from everfind_core.model import Document
from everfind_indexer.extractors.decoding import decode
from everfind_indexer.extractors.languages import classify


class TextExtractor:
    """Reads any file that is not binary; the last one to be asked."""

    extensions: frozenset[str] = frozenset()

    def accepts(self, path: str, head: bytes) -> bool:  # noqa: ARG002 - the port's signature
        """Every file."""
        return True

    def extract(self, path: str, raw: bytes) -> Document:
        """The file's text as it stands.

        Raises:
            NotExtractedError: BINARY.
        """
        text = decode(raw)
        form = classify(path, text)
        return Document(text=text, kind=form.kind, language=form.language)
