"""From bytes to chunks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from everfind_core.model import Chunk, Document, SkipReason
from everfind_core.ports.embedding import Tokenizer


class NotExtractedError(Exception):
    """A file that has no text to index; becomes a counted skip, never ends a run."""

    def __init__(self, reason: SkipReason, message: str = "") -> None:
        super().__init__(message or reason.value)
        self.reason = reason
        self.message = message


class Extractor(Protocol):
    """Gets the text out of one family of files.

    ``extensions`` (lower case, no dot) are those of its files that count as binary where no extractor claims them.
    """

    extensions: frozenset[str]

    def accepts(self, path: str, head: bytes) -> bool:
        """Whether this extractor reads a file with this path and these first bytes (at most 4,096)."""
        ...

    def extract(self, path: str, raw: bytes) -> Document:
        """The document in ``raw``.

        Raises:
            NotExtractedError: it has none.
        """
        ...


@dataclass(frozen=True, slots=True)
class ChunkLimits:
    """Sizes in the model's own tokens.

    ``target`` is what a chunk aims at, ``hard`` what context and text together never pass, ``overlap`` how much a
    chunk repeats of the one before where a section or body had to be split.
    """

    target: int
    hard: int
    overlap: int


class Chunker(Protocol):
    """Cuts documents. A pure function of document, tokenizer and limits."""

    @property
    def revision(self) -> str:
        """Changes whenever the same document could be cut otherwise; travels with the index."""
        ...

    def chunk(self, document: Document, tokenizer: Tokenizer, limits: ChunkLimits) -> Sequence[Chunk]:
        """The chunks in line order; every line that is not blank is in one."""
        ...
