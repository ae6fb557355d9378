"""Ranked chunks as evidence is looked for in them. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from everfind_core.model import FileRef
from everfind_core.ports import StoredChunk
from everfind_core.ranking.combine import Candidate

FIRST = 10
_READ = 50  # ranked chunks whose words are looked at
_CODE = 0.3  # of the first ten, so many functions and the like make it an answer in code


@dataclass(frozen=True, slots=True)
class Reading:
    """Ranked chunks as evidence is looked for in them, best first.

    ``cosines`` are 0 where the semantic arm found nothing, ``code`` is 1 where enough of the first ten are functions
    and the like, 0 where none is, ``bm25`` the best BM25 score. ``texts`` and ``refs`` are those of the first ``_READ``
    that were found by words, by their places: path, symbol, headings and text, folded.
    """

    cosines: Sequence[float]
    code: float
    bm25: float
    texts: Mapping[int, str]
    refs: Mapping[int, FileRef]

    @classmethod
    def of(cls, ranked: Sequence[Candidate]) -> Reading:
        """Read ``ranked``, each text once."""
        by_words = {place: one.chunk for place, one in enumerate(ranked[:_READ]) if one.bm25 is not None}
        return cls(
            [one.cosine or 0.0 for one in ranked],
            _code([one.chunk for one in ranked[:FIRST]]),
            max((one.bm25 for one in ranked if one.bm25 is not None), default=0.0),
            {place: _folded(chunk) for place, chunk in by_words.items()},
            {place: chunk.ref for place, chunk in by_words.items()},
        )


def standing_alone(word: str, letter: str) -> re.Pattern[str]:
    """Finds ``word`` between characters that are no ``letter``; begins with the word itself, for which `re` is fast."""
    escaped = re.escape(word)
    return re.compile(rf"{escaped}(?<!{letter}{escaped})(?!{letter})")


def _code(first: Sequence[StoredChunk]) -> float:
    """1 where enough of the first chunks are functions and the like, 0 where none is."""
    share = sum(bool(chunk.kind) for chunk in first) / max(1, len(first))
    return min(1.0, share / _CODE)


def _folded(chunk: StoredChunk) -> str:
    return f"{chunk.ref.path} {chunk.symbol} {chunk.heading} {chunk.text}".casefold()
