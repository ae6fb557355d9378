"""A document's lines with their tokens: measured once for the whole file, and what the packer needs of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from everfind_core.chunking.packer import Hashes, Ints, Units, scramble
from everfind_core.chunking.structure import BLANK
from everfind_core.model import TokenSpans
from everfind_core.ports import Tokenizer

CHARACTERS_PER_TOKEN = 32
"""Text that a tokenizer makes (nearly) nothing of, such as long runs of white space or one endless word, still
counts one token for so many characters: a chunk's length in characters is bounded, too."""

_UNBROKEN = 16
_ORDER = np.uint64(0x9E3779B97F4A7C15)

_SENTENCE, _CLAUSE, _COMMA, _SPACE, _PLAIN = 50, 40, 30, 20, 10


@dataclass(frozen=True, slots=True)
class Source:
    """The lines of a text and the tokens of each.

    ``starts`` int64 (lines + 1,): first character of each line, and where a line after the last would start.
    ``first_token`` int64 (lines + 1,): index of each line's first token, and the number of tokens.
    """

    text: str
    lines: Sequence[str]
    starts: Ints
    tokens: TokenSpans
    first_token: Ints

    @classmethod
    def read(cls, text: str, tokenizer: Tokenizer) -> Source:
        """Cut and tokenise ``text``."""
        lines = text.split("\n")
        lengths = np.fromiter(map(len, lines), dtype=np.int64, count=len(lines)) + 1
        starts = np.concatenate(([0], np.cumsum(lengths)))
        tokens = tokenizer.encode(text)
        return cls(text, lines, starts, tokens, np.searchsorted(tokens.starts, starts).astype(np.int64))

    def weights(self) -> Ints:
        """What each line counts in packing: int64 of shape (lines,)."""
        lengths = np.diff(self.starts) - 1
        weights: Ints = np.maximum(np.diff(self.first_token), lengths // CHARACTERS_PER_TOKEN)
        return weights

    def ids(self, first: int, last: int) -> npt.NDArray[np.int64]:
        """Token ids of lines ``first`` to ``last``."""
        return self.tokens.ids[self.first_token[first] : self.first_token[last + 1]]


def line_units(source: Source, weights: Ints, strengths: Ints, first: int, beyond: int) -> tuple[Units, Ints]:
    """The lines from ``first`` up to ``beyond`` that are not blank, and their numbers."""
    numbers = first + np.flatnonzero(strengths[first:beyond] != BLANK)
    positions = np.concatenate(([0], np.cumsum(weights[numbers])))
    hashes = _hashes(source.tokens.ids, source.first_token[numbers], source.first_token[numbers + 1])
    return Units(positions, strengths[numbers], hashes), numbers


def word_units(source: Source, line: int, cap: int) -> tuple[Units, Ints]:
    """The words of one huge line, and the character offset of each in it; sentences are the strongest borders.

    A word of very many tokens or characters is taken apart, so that no unit weighs more than ``cap``.
    """
    start, length = int(source.starts[line]), len(source.lines[line])
    first, beyond = int(source.first_token[line]), int(source.first_token[line + 1])
    token_offsets = source.tokens.starts[first:beyond] - start
    borders = _border_strengths(source.lines[line])
    most = max(1, min(_UNBROKEN, cap))
    offsets = _refined(_word_offsets(token_offsets, borders, most), length, most * CHARACTERS_PER_TOKEN)
    bounds = first + np.searchsorted(token_offsets, np.append(offsets, length)).astype(np.int64)
    widths = np.diff(np.append(offsets, length))
    weights = np.maximum(np.diff(bounds), widths // CHARACTERS_PER_TOKEN)
    positions = np.concatenate(([0], np.cumsum(weights)))
    hashes = _hashes(source.tokens.ids, bounds[:-1], bounds[1:])
    return Units(positions, np.maximum(borders[offsets], 1), hashes), offsets


def _hashes(ids: npt.NDArray[np.int64], first: Ints, beyond: Ints) -> Hashes:
    """A hash of each run of tokens ``ids[first:beyond]``; runs ascend and do not overlap."""
    if not len(first):
        return np.empty(0, dtype=np.uint64)
    base = first[0]
    ids, first, beyond = ids[base : beyond[-1]], first - base, beyond - base
    place = np.arange(len(ids), dtype=np.int64)
    inside = place - first[np.searchsorted(first, place, "right") - 1]
    mixed = scramble(ids.astype(np.uint64) + inside.astype(np.uint64) * _ORDER)
    sums = np.concatenate((np.zeros(1, np.uint64), np.cumsum(mixed, dtype=np.uint64)))
    return scramble(sums[beyond] - sums[first])


def _border_strengths(line: str) -> Ints:
    """How good a place each character of ``line`` is to cut before it; 0 inside a word."""
    codes = np.frombuffer(line.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    before = np.concatenate(([np.uint32(32)], codes[:-1]))
    second = np.concatenate(([np.uint32(32)], before[:-1]))
    strengths = np.where(_is_word(before) & _is_word(codes), 0, _PLAIN)
    spaced = before == ord(" ")
    strengths[spaced] = _SPACE
    strengths[before == ord(",")] = _COMMA
    strengths[_is_any(before, ";{}")] = _CLAUSE
    strengths[(spaced & _is_any(second, ".!?")) | _is_any(before, "。！？")] = _SENTENCE
    return strengths.astype(np.int64)


def _is_any(codes: npt.NDArray[np.uint32], characters: str) -> npt.NDArray[np.bool_]:
    return np.isin(codes, np.array([ord(c) for c in characters], dtype=np.uint32))


def _is_word(codes: npt.NDArray[np.uint32]) -> npt.NDArray[np.bool_]:
    """Letters and digits that a word goes on through; not the scripts that are written without spaces."""
    lower = codes | np.uint32(0x20)
    ascii_ = ((lower >= ord("a")) & (lower <= ord("z"))) | ((codes >= ord("0")) & (codes <= ord("9")))
    unspaced = ((codes >= 0x2E80) & (codes <= 0xA4CF)) | ((codes >= 0xF900) & (codes <= 0xFAFF)) | (codes >= 0x20000)
    return ascii_ | ((codes >= 0xAA) & ~unspaced)


def _word_offsets(token_offsets: Ints, borders: Ints, most: int) -> Ints:
    """0 and the token offsets that start a word; every token's where words of more than ``most`` tokens stand."""
    if not len(token_offsets):
        return np.zeros(1, dtype=np.int64)
    at_word = borders[token_offsets] > 0
    words = np.cumsum(at_word)
    long_words = np.bincount(words)[words] > most
    return np.unique(np.append(token_offsets[at_word | long_words], 0))


def _refined(offsets: Ints, length: int, most: int) -> Ints:
    """``offsets`` with more between two that are more than ``most`` characters apart."""
    ends = np.append(offsets[1:], length)
    wide = np.flatnonzero(ends - offsets > most)
    if not len(wide):
        return offsets
    extra = [np.arange(offsets[w], ends[w], most, dtype=np.int64) for w in wide]
    return np.unique(np.concatenate([offsets, *extra]))
