"""What holds for every text in every language, by generated ones."""

from __future__ import annotations

import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from everfind_core.model import Document, LineKind
from everfind_core.ports import ChunkLimits
from everfind_indexer.syntax import SyntaxChunker
from everfind_indexer.syntax.grammars import LANGUAGES
from tests.support.chunk_checks import WordTokenizer, check, model_tokenizer
from tests.support.chunk_strategies import ANY_LINE, LIMITS, LONG_LINE, PIECES, Blind
from tests.support.syntax_samples import FILES, filled

ANY_LANGUAGE = st.sampled_from(sorted(LANGUAGES))
CODE_LINE = st.sampled_from(sorted({line for file in FILES.values() for line in filled(*file).split("\n")}))
TEXTS = st.lists(CODE_LINE | PIECES | ANY_LINE | LONG_LINE, max_size=50).map("\n".join)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(TEXTS, ANY_LANGUAGE, LIMITS)
def test_lines_limits_tokens_and_order(text: str, language: str, limits: ChunkLimits) -> None:
    document = Document(text, LineKind.CODE, language)
    chunks = SyntaxChunker().chunk(document, WordTokenizer(), limits)
    check(text, chunks, limits, WordTokenizer())
    again = SyntaxChunker().chunk(document, WordTokenizer(), limits)
    assert [(c.start_line, c.embedded_text, c.symbol) for c in again] == [
        (c.start_line, c.embedded_text, c.symbol) for c in chunks
    ]


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_token_ids_are_those_of_the_embedded_text(language: str) -> None:
    text, limits = filled(*FILES[language]), ChunkLimits(60, 80, 12)
    chunks = SyntaxChunker().chunk(Document(text, LineKind.CODE, language), model_tokenizer(), limits)
    check(text, chunks, limits, model_tokenizer())


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data(), ANY_LANGUAGE)
def test_half_typed_code(data: st.DataObject, language: str) -> None:
    text = filled(*FILES[language])
    first, second = sorted(data.draw(st.lists(st.integers(0, len(text)), min_size=2, max_size=2)))
    typed, limits = text[:first] + text[second:], ChunkLimits(40, 60, 10)
    check(
        typed,
        SyntaxChunker().chunk(Document(typed, LineKind.CODE, language), WordTokenizer(), limits),
        limits,
        WordTokenizer(),
    )


HOSTILE = ["(", "[", "<", "{", "a<b ", "f(a)", "'", "=> ", "#", "\0", "/*"]


@pytest.mark.slow
@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_no_text_takes_long(language: str) -> None:
    limits = ChunkLimits(160, 254, 35)
    for unit in HOSTILE:
        for text in (unit * (60_000 // len(unit)), f"{unit * 3}\n" * 400):
            started = time.process_time()
            SyntaxChunker().chunk(Document(text, LineKind.CODE, language), Blind(), limits)
            assert time.process_time() - started < 8, unit
