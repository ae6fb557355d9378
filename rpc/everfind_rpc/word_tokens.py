"""Tokens of a text by its words, each tokenised once: for tokenizers to which a word's neighbours make no difference.

BERT's rules split at white space and around punctuation before anything else, so the tokens of a text are those of its
words in a row. A look-up a word costs a quarter of what the library takes for its way through a text.
"""

from __future__ import annotations

import string
from collections.abc import Callable
from itertools import chain
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from everfind_core.model import TokenSpans

MOST_WORDS = 1 << 16
"""Words that are remembered; then all are forgotten, so that memory stays bounded."""

LONGEST_WORD = 64
"""Characters of a word that is worth remembering."""

_ODD_SHARE = 1 / 8
"""Of a text's characters: with more that stand outside of ASCII, the library takes the text as a whole."""

_SPACE, _WORD, _MARK, _ODD = range(4)
_ASCII = 128


class WordTokens(NamedTuple):
    """Token ids of a word, and the character at which each starts."""

    ids: tuple[int, ...]
    starts: tuple[int, ...]


class ByWords:
    """Tokenises texts word by word. Thread-safe."""

    def __init__(self, encode: Callable[[str], WordTokens]) -> None:
        """``encode`` is the tokenizer itself."""
        self._encode = encode
        self._known: dict[str, WordTokens] = {}

    def encode(self, text: str) -> TokenSpans | None:
        """Tokens of ``text``; None where its characters are not such that words are worth looking up."""
        kinds = _kinds(text)
        odd = kinds == _ODD
        if np.count_nonzero(odd) > _ODD_SHARE * len(kinds):
            return None
        firsts, ends = _words(kinds, odd)
        words = [self._of(text[a:b]) for a, b in zip(firsts.tolist(), ends.tolist(), strict=True)]
        counts = np.fromiter((len(word.ids) for word in words), np.int64, len(words))
        count = int(counts.sum())
        ids = np.fromiter(chain.from_iterable(word.ids for word in words), np.int64, count)
        inside = np.fromiter(chain.from_iterable(word.starts for word in words), np.int64, count)
        return TokenSpans(ids, np.repeat(firsts, counts) + inside)

    def _of(self, word: str) -> WordTokens:
        found = self._known.get(word)
        if found is None:
            found = self._encode(word)
            if len(word) <= LONGEST_WORD:
                if len(self._known) >= MOST_WORDS:
                    self._known = {}
                self._known[word] = found
        return found


def _kinds(text: str) -> npt.NDArray[np.uint8]:
    """What each character is to BERT's rules; ``_ODD`` where that takes its tables."""
    if text.isascii():
        return _ASCII_KINDS[np.frombuffer(text.encode("ascii"), np.uint8)]
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    return np.where(points < _ASCII, _ASCII_KINDS[np.minimum(points, _ASCII - 1)], np.uint8(_ODD))


def _words(kinds: npt.NDArray[np.uint8], odd: npt.NDArray[np.bool_]) -> tuple[npt.NDArray[np.intp], ...]:
    """First character of each word, and the one after its last; what has odd characters goes from space to space."""
    space = kinds == _SPACE
    first = ~space
    first[1:] &= space[:-1] | (kinds[1:] == _MARK) | (kinds[:-1] == _MARK)
    if odd.any():
        runs = np.cumsum(space)
        whole = np.isin(runs, np.unique(runs[odd]))
        first[1:] &= ~whole[1:] | space[:-1]
    firsts = np.flatnonzero(first)
    # A word ends where the next begins, or at white space before that.
    gaps = np.flatnonzero(space)
    limit = np.append(firsts[1:], len(kinds))
    at = np.searchsorted(gaps, firsts)
    ends = np.minimum(np.append(gaps, len(kinds))[at], limit)
    return firsts, ends


def _ascii_kinds() -> npt.NDArray[np.uint8]:
    kinds = np.full(_ASCII, _ODD, np.uint8)
    for kind, characters in (
        (_SPACE, " \t\n\r"),
        (_WORD, string.ascii_letters + string.digits),
        (_MARK, string.punctuation),
    ):
        kinds[[ord(character) for character in characters]] = kind
    return kinds


_ASCII_KINDS = _ascii_kinds()
