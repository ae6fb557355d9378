"""Tokens of a text by its words, each tokenised once: for tokenizers to which a word's neighbours make no difference.

BERT's rules split at white space and around punctuation before anything else, so the tokens of a text are those of its
words in a row. A look-up a word costs a tenth of what the library takes for its way through a text.
"""

from __future__ import annotations

import re
import string
import threading
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from everfind_core.model import TokenSpans

MOST_CHARACTERS = 1 << 19
"""With words of so many characters (some 70,000 words, 10 MB) all are forgotten before the next text: memory stays
bounded."""

_ODD_SHARE = 1 / 8
"""Of a text's characters: with more that stand outside of ASCII, the library takes the text as a whole."""

_SPACE, _WORD, _MARK, _ODD = range(4)
_ASCII = 128
_PLAIN_WORD = re.compile("[A-Za-z0-9]+")

_Ints = npt.NDArray[np.int64]


class ByWords:
    """Tokenises texts word by word. Thread-safe."""

    def __init__(self, encode: Callable[[str], TokenSpans]) -> None:
        """``encode`` is the tokenizer itself."""
        self._encode = encode
        self._known = _Known(encode)

    def encode(self, text: str) -> TokenSpans | None:
        """Tokens of ``text``; None where its characters are not such that words are worth looking up."""
        kinds = _kinds(text)
        odd = kinds == _ODD
        share = np.count_nonzero(odd)
        if share > _ODD_SHARE * len(kinds):
            return None
        if self._known.full:
            self._known = _Known(self._encode)
        known = self._known
        firsts = _firsts(kinds, odd)
        places = known.places(_slices(text, kinds, firsts)) if share else _plain_places(known, text, kinds, firsts)
        return known.tokens(places, firsts)


class _Known:
    """The tokens of words, each at its place. What is asked for and not known is tokenised."""

    def __init__(self, encode: Callable[[str], TokenSpans]) -> None:
        self._encode = encode
        self._guard = threading.Lock()
        self._places: dict[str, int] = {}
        self._characters = self._words = self._tokens = 0
        # Of each word: its first token below, and how many it has. Arrays have room for more.
        self._offsets, self._counts = np.empty((2, 1 << 10), np.int64)
        self._ids, self._starts = np.empty((2, 1 << 10), np.int64)

    @property
    def full(self) -> bool:
        """Whether it is time to forget."""
        return self._characters >= MOST_CHARACTERS

    def places(self, words: Sequence[str]) -> _Ints:
        """The place of each word."""
        if missing := [word for word in dict.fromkeys(words) if word not in self._places]:
            self._learn(missing)
        return np.fromiter(map(self._places.__getitem__, words), np.int64, len(words))

    def tokens(self, places: _Ints, firsts: _Ints) -> TokenSpans:
        """The tokens of words in a row, given their places and the first character of each."""
        counts = self._counts[places]
        ends = np.cumsum(counts)
        offsets = self._offsets[places] - (ends - counts)
        chosen = np.arange(ends[-1] if len(ends) else 0, dtype=np.int64) + np.repeat(offsets, counts)
        return TokenSpans(self._ids[chosen], self._starts[chosen] + np.repeat(firsts, counts))

    def _learn(self, words: Sequence[str]) -> None:
        """Tokenise words, as one text: that costs a tenth of as many texts."""
        found = self._encode(" ".join(words))
        lengths = np.fromiter(map(len, words), np.int64, len(words)) + 1
        firsts = np.cumsum(lengths) - lengths
        bounds = np.searchsorted(np.maximum.accumulate(found.starts), firsts)
        counts = np.diff(bounds, append=len(found.ids))
        with self._guard:  # whoever reads beside this one reads only what is complete
            place, first = self._words, self._tokens
            self._offsets = _written(self._offsets, place, first + bounds)
            self._counts = _written(self._counts, place, counts)
            self._ids = _written(self._ids, first, found.ids)
            self._starts = _written(self._starts, first, found.starts - np.repeat(firsts, counts))
            self._words, self._tokens = place + len(words), first + len(found.ids)
            self._characters += int(lengths.sum())
            self._places.update(zip(words, range(place, self._words), strict=True))


def _written(column: _Ints, start: int, values: _Ints) -> _Ints:
    """``column`` with ``values`` from ``start`` on; a longer copy where it has no room."""
    if start + len(values) > len(column):
        column = np.resize(column, 2 * (start + len(values)))
    column[start : start + len(values)] = values
    return column


def _plain_places(known: _Known, text: str, kinds: npt.NDArray[np.uint8], firsts: _Ints) -> _Ints:
    """The places of the words of ``text``, which has no odd character; each mark is looked up once."""
    is_mark = kinds[firsts] == _MARK
    marks = np.frombuffer(text.encode("ascii"), np.uint8)[firsts[is_mark]]
    present = np.flatnonzero(np.bincount(marks, minlength=_ASCII))
    mark_places = np.zeros(_ASCII, np.int64)
    mark_places[present] = known.places(list(map(chr, present.tolist())))
    places = np.empty(len(firsts), np.int64)
    places[is_mark] = mark_places[marks]
    places[~is_mark] = known.places(_PLAIN_WORD.findall(text))
    return places


def _kinds(text: str) -> npt.NDArray[np.uint8]:
    """What each character is to BERT's rules; ``_ODD`` where that takes its tables."""
    if text.isascii():
        return _ASCII_KINDS[np.frombuffer(text.encode("ascii"), np.uint8)]
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    return np.where(points < _ASCII, _ASCII_KINDS[np.minimum(points, _ASCII - 1)], np.uint8(_ODD))


def _firsts(kinds: npt.NDArray[np.uint8], odd: npt.NDArray[np.bool_]) -> _Ints:
    """First character of each word; what has odd characters goes from space to space."""
    space = kinds == _SPACE
    first = ~space
    first[1:] &= space[:-1] | (kinds[1:] == _MARK) | (kinds[:-1] == _MARK)
    if odd.any():
        runs = np.cumsum(space)
        whole = np.isin(runs, np.unique(runs[odd]))
        first[1:] &= ~whole[1:] | space[:-1]
    return np.flatnonzero(first).astype(np.int64, copy=False)


def _slices(text: str, kinds: npt.NDArray[np.uint8], firsts: _Ints) -> list[str]:
    """The words themselves: each ends where the next begins, or at white space before that."""
    gaps = np.append(np.flatnonzero(kinds == _SPACE), len(kinds))
    ends = np.minimum(gaps[np.searchsorted(gaps, firsts)], np.append(firsts[1:], len(kinds)))
    return [text[first:end] for first, end in zip(firsts.tolist(), ends.tolist(), strict=True)]


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
