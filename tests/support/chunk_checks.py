"""Tokenizers and checks that the chunking tests share."""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer as HfTokenizer

from everfind_core.chunking import TextChunker
from everfind_core.model import Chunk, Document, LineKind, TokenSpans
from everfind_core.ports import ChunkLimits, Tokenizer
from tests.support.repository import ROOT

TOKENIZER_FILE = ROOT / "services/embedder/everfind_embedder/data/tokenizer.json"


class WordTokenizer:
    """So many letters a token, ids from a checksum, as fast as a test needs."""

    def __init__(self, *, sliceable: bool = True, letters: int = 6) -> None:
        self.sliceable = sliceable
        self._token = re.compile(rf"\w{{1,{letters}}}|[^\w\s]")

    def encode(self, text: str) -> TokenSpans:
        found = [
            (zlib.crc32(m.group().encode("utf-8", "surrogatepass")), m.start()) for m in self._token.finditer(text)
        ]
        pairs = np.array(found, dtype=np.int64).reshape(-1, 2)
        return TokenSpans(pairs[:, 0].copy(), pairs[:, 1].copy())


class ByLine:
    """A sliceable tokenizer that remembers the tokens of lines it has seen."""

    sliceable = True

    def __init__(self, inner: Tokenizer) -> None:
        self._inner = inner
        self._seen: dict[str, TokenSpans] = {}

    def encode(self, text: str) -> TokenSpans:
        ids: list[npt.NDArray[np.int64]] = []
        starts: list[npt.NDArray[np.int64]] = []
        offset = 0
        for line in text.split("\n"):
            spans = self._seen.get(line)
            if spans is None:
                spans = self._seen[line] = self._inner.encode(line)
            ids.append(spans.ids)
            starts.append(spans.starts + offset)
            offset += len(line) + 1
        return TokenSpans(np.concatenate(ids), np.concatenate(starts))


class ModelTokenizer:
    """The default model's own tokenizer."""

    sliceable = True

    def __init__(self) -> None:
        self._tokenizer = HfTokenizer.from_file(str(TOKENIZER_FILE))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()

    def encode(self, text: str) -> TokenSpans:
        encoding = self._tokenizer.encode(text, add_special_tokens=False)
        starts = np.array([start for start, _ in encoding.offsets], dtype=np.int64)
        return TokenSpans(np.array(encoding.ids, dtype=np.int64), starts)


@cache
def model_tokenizer() -> ModelTokenizer:
    return ModelTokenizer()


def cut(
    text: str,
    kind: LineKind,
    *,
    language: str = "",
    limits: ChunkLimits | None = None,
    tokenizer: Tokenizer | None = None,
) -> Sequence[Chunk]:
    document = Document(text, kind, language)
    return TextChunker().chunk(document, tokenizer or WordTokenizer(), limits or ChunkLimits(40, 60, 10))


def new_texts(before: Sequence[Chunk], after: Sequence[Chunk], *, context: bool) -> int:
    """How many chunks of ``after`` must be embedded that ``before`` does not have."""
    old, new = (Counter(c.embedded_text if context else c.text for c in chunks) for chunks in (before, after))
    return (new - old).total()


def is_part(some: Sequence[str], lines: Sequence[str]) -> bool:
    """Whether ``some`` are among ``lines``, in their order."""
    rest = iter(lines)
    return all(line in rest for line in some)


def check(text: str, chunks: Sequence[Chunk], limits: ChunkLimits, tokenizer: Tokenizer) -> None:
    """Every property that holds for all documents."""
    lines = text.split("\n")
    covered: Counter[int] = Counter()
    for chunk in chunks:
        assert chunk.tokens <= limits.hard
        assert chunk.tokens == len(tokenizer.encode(replace(chunk, said=None).embedded_text))
        assert chunk.said is None or is_part(chunk.said.split("\n"), chunk.text.split("\n"))
        assert chunk.context_tokens + chunk.overlap_tokens <= chunk.tokens
        assert chunk.overlap_tokens <= limits.overlap
        if tokenizer.sliceable:
            assert chunk.token_ids is not None
            np.testing.assert_array_equal(chunk.token_ids, tokenizer.encode(chunk.embedded_text).ids)
        assert 1 <= chunk.start_line <= chunk.end_line <= len(lines)
        whole = "\n".join(lines[chunk.start_line - 1 : chunk.end_line])
        if chunk.text != whole:
            assert chunk.start_line == chunk.end_line
            assert chunk.text in whole
        covered.update(range(chunk.start_line, chunk.end_line + 1))
    assert {number for number, line in enumerate(lines, 1) if line.strip()} <= set(covered)
    _check_order(lines, chunks)


def _check_order(lines: Sequence[str], chunks: Sequence[Chunk]) -> None:
    """Chunks follow one another; only overlap stands twice, only blank lines between; slices make up their line."""
    for before, after in pairwise(chunks):
        sliced = before.start_line == after.start_line == before.end_line == after.end_line
        if sliced:
            continue
        assert after.start_line > before.start_line
        assert after.end_line > before.end_line
        if after.overlap_tokens == 0:
            assert after.start_line > before.end_line
        assert not any(line.strip() for line in lines[before.end_line : after.start_line - 1])
    slices: dict[int, str] = {}
    for chunk in chunks:
        if chunk.start_line == chunk.end_line:
            slices[chunk.start_line] = slices.get(chunk.start_line, "") + chunk.text
    for number, text in slices.items():
        if len(text) >= len(lines[number - 1]):
            assert text == lines[number - 1]
