"""A document as read from a file, its tokens, and the chunks it is cut into."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from everfind_core.model.symbols import NO_SYMBOLS, Symbols

if TYPE_CHECKING:  # the command line must not wait for numpy
    import numpy as np
    import numpy.typing as npt


class LineKind(StrEnum):
    """How a document is cut: which structure its lines have."""

    PROSE = "prose"
    MARKDOWN = "markdown"
    CODE = "code"
    CONFIG = "config"


@dataclass(frozen=True, slots=True)
class Document:
    r"""The text of one file: decoded, extracted, line ends normalised to ``\n``, secrets masked.

    ``language`` is a lower-case name (``python``, ``markdown``; empty if unknown). ``page_starts`` are the line
    numbers (from 1) at which pages 1, 2, … begin, where the file has pages. ``status``, ``date`` (ISO 8601) and
    ``successor`` come from front matter or recognised headers. ``extracted_from`` names the format (``pdf``, ``docx``)
    of a file whose text is not its bytes; its lines are those of the extracted text.
    """

    text: str
    kind: LineKind
    language: str = ""
    page_starts: tuple[int, ...] = ()
    status: str = ""
    date: str = ""
    successor: str = ""
    redactions: int = 0
    extracted_from: str = ""


@dataclass(frozen=True, slots=True)
class TokenSpans:
    """The tokens of a text without special tokens.

    ``ids`` int64 of shape (tokens,); ``starts`` int64 of shape (tokens,), each token's first character in the text,
    never decreasing.
    """

    ids: npt.NDArray[np.int64]
    starts: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True, slots=True)
class Chunk:
    """A contiguous line range of a document: what is stored, embedded and returned.

    Lines count from 1, both ends included. ``text`` are those lines as they stand in the document (a slice of one
    line where ``start_line == end_line`` and the line is huge). ``context`` (scope or breadcrumb, signature) precedes
    the text in what is embedded; it never holds a path. ``overlap_tokens`` of the leading tokens stand in the chunk
    before, too. ``tokens`` counts ``context`` and text, without special tokens. ``symbols`` are what its own lines,
    without overlap, define and use. ``said`` is what of the text is embedded, where that is not all of it: code that
    would drown the words around it is left out.
    """

    start_line: int
    end_line: int
    text: str
    tokens: int
    context: str = ""
    context_tokens: int = 0
    overlap_tokens: int = 0
    symbol: str = ""
    kind: str = ""
    heading: str = ""
    page: int = 0
    token_ids: npt.NDArray[np.int64] | None = None
    symbols: Symbols = NO_SYMBOLS
    said: str | None = None

    @property
    def embedded_text(self) -> str:
        """Exactly what the model sees, but for special tokens and the model's own prefix."""
        said = self.text if self.said is None else self.said
        return f"{self.context}\n{said}" if self.context else said
