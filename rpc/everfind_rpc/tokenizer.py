"""A tokenizer in the form in which it travels: the ``tokenizer.json`` of the library ``tokenizers``."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

import numpy as np

from everfind_core.errors import ModelUnusableError
from everfind_core.model import TokenSpans
from everfind_core.ports import TokenIds
from everfind_rpc.word_tokens import ByWords

if TYPE_CHECKING:
    import tokenizers

_SHORT = 80
"""Characters of a text that the library tokenises faster than its words are looked up."""

_LONE_SURROGATES = re.compile("[\ud800-\udfff]")


class FileTokenizer:
    """A ``tokenizer.json``, with no truncation and no padding whatever the file says.

    Implements :class:`everfind_core.ports.Tokenizer`, at the embedder and at its callers alike. Text is data: the name
    of a special token in it (``[SEP]``, ``<s>``) is tokenised like any other characters.
    """

    def __init__(self, content: bytes, *, source: str) -> None:
        """Read the file's ``content``; ``source`` names it in errors.

        Raises:
            ModelUnusableError: it is not a tokenizer.
        """
        self.content = content
        self._tokenizer = _parse(content, source)
        self._sliceable = _is_bert_style(self._tokenizer)
        self._by_words = ByWords(self._encode_whole) if self._sliceable and _adds_no_words(self._tokenizer) else None

    @property
    def sliceable(self) -> bool:
        """Whether the tokens of lines are the same alone as inside a longer text; true for BERT-style models."""
        return self._sliceable

    def encode(self, text: str) -> TokenSpans:
        """Tokens of ``text``, without special tokens, prefix, truncation or padding."""
        found = self._by_words.encode(text) if self._by_words and len(text) > _SHORT else None
        if found is None:
            found = self._encode_whole(text)
        return TokenSpans(found.ids, np.maximum.accumulate(found.starts))

    def encode_ids(self, text: str) -> TokenIds:
        """The ids alone, which is faster."""
        return np.array(self._encode(text).ids, np.int64)

    def _encode_whole(self, text: str) -> TokenSpans:
        encoding = self._encode(text)
        starts = [start for start, _ in encoding.offsets]
        return TokenSpans(np.array(encoding.ids, np.int64), np.array(starts, np.int64))

    def _encode(self, text: str) -> tokenizers.Encoding:
        try:
            return self._tokenizer.encode(text, add_special_tokens=False)
        except TypeError:  # how the library refuses lone surrogates
            return self._tokenizer.encode(_LONE_SURROGATES.sub("\ufffd", text), add_special_tokens=False)


class EstimateTokenizer:
    """Counts tokens where no tokenizer is at hand: one for so many bytes of UTF-8.

    Implements :class:`everfind_core.ports.Tokenizer`. Tokenizers that start from bytes never make more tokens than
    bytes, so a window that is divided by ``bytes_per_token`` is never overrun. Its ids mean nothing, and it does not
    slice: texts are embedded as texts.
    """

    sliceable = False

    def __init__(self, bytes_per_token: float) -> None:
        """Count a token for each ``bytes_per_token`` (at least 1) bytes."""
        self.bytes_per_token = max(1.0, bytes_per_token)

    def encode(self, text: str) -> TokenSpans:
        """As many tokens as estimated; each starts at the character that holds its first byte."""
        points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
        widths = 1 + (points > 0x7F).astype(np.int64) + (points > 0x7FF) + (points > 0xFFFF)
        ends = np.cumsum(widths)
        total = int(ends[-1]) if len(ends) else 0
        firsts = np.floor(np.arange(math.ceil(total / self.bytes_per_token)) * self.bytes_per_token)
        return TokenSpans(np.zeros(len(firsts), np.int64), np.searchsorted(ends, firsts, side="right").astype(np.int64))


def _parse(content: bytes, source: str) -> tokenizers.Tokenizer:
    from tokenizers import Tokenizer

    try:
        tokenizer: tokenizers.Tokenizer = Tokenizer.from_buffer(content)
    except Exception as error:  # the library raises plain Exception
        raise ModelUnusableError(
            f"{source} is not a tokenizer that everfind can read: {error}",
            hint="The model's directory needs the tokenizer.json of a fast tokenizer.",
            details={"path": source},
        ) from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.encode_special_tokens = True
    return tokenizer


def _is_bert_style(tokenizer: tokenizers.Tokenizer) -> bool:
    """BERT's rules look at one character at a time and split at every white space, so no token sees another line."""
    from tokenizers.normalizers import BertNormalizer
    from tokenizers.pre_tokenizers import BertPreTokenizer

    return isinstance(tokenizer.pre_tokenizer, BertPreTokenizer) and isinstance(tokenizer.normalizer, BertNormalizer)


def _adds_no_words(tokenizer: tokenizers.Tokenizer) -> bool:
    """Whether all that was added to the vocabulary is special; an added word may go over white space."""
    return all(token.special for token in tokenizer.get_added_tokens_decoder().values())
