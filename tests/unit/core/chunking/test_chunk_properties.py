"""What holds for every document, by generated ones."""

from __future__ import annotations

import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from everfind_core.chunking import TextChunker
from everfind_core.model import Document, LineKind, TokenSpans
from everfind_core.ports import ChunkLimits
from tests.support.chunk_checks import WordTokenizer, check, cut, model_tokenizer, new_texts
from tests.support.chunk_strategies import ANY_LINE, LIMITS, LONG_LINE, PIECES, Blind

KINDS = st.sampled_from(list(LineKind))
CODE = ["python", "go", "c", "typescript", "sql", "rust"]
MARKUP = ["restructuredtext", "asciidoc", "org", "html", "csv"]
LANGUAGES = st.sampled_from(["", *CODE, *MARKUP])

DOCUMENTS = st.lists(PIECES | ANY_LINE | LONG_LINE, max_size=60).map("\n".join)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(DOCUMENTS, KINDS, LANGUAGES, LIMITS)
def test_lines_limits_tokens_and_order(text: str, kind: LineKind, language: str, limits: ChunkLimits) -> None:
    tokenizer = WordTokenizer()
    check(text, cut(text, kind, language=language, limits=limits, tokenizer=tokenizer), limits, tokenizer)


class CountsMoreAlone(WordTokenizer):
    """Not sliceable: short texts have up to twice the tokens that their lines have inside a long one."""

    def __init__(self) -> None:
        super().__init__(sliceable=False)
        self._fine = WordTokenizer(letters=3)

    def encode(self, text: str) -> TokenSpans:
        return super().encode(text) if len(text) > 300 else self._fine.encode(text)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(DOCUMENTS, KINDS, LIMITS)
def test_a_tokenizer_that_is_not_sliceable(text: str, kind: LineKind, limits: ChunkLimits) -> None:
    tokenizer = CountsMoreAlone()
    chunks = cut(text, kind, limits=limits, tokenizer=tokenizer)
    check(text, chunks, limits, tokenizer)
    assert all(chunk.token_ids is None for chunk in chunks)


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(DOCUMENTS, KINDS)
def test_token_ids_are_those_of_the_embedded_text(text: str, kind: LineKind) -> None:
    limits = ChunkLimits(60, 80, 12)
    check(text, cut(text, kind, limits=limits, tokenizer=model_tokenizer()), limits, model_tokenizer())


@given(DOCUMENTS, KINDS)
@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_pure(text: str, kind: LineKind) -> None:
    first, again = ([(c.start_line, c.end_line, c.embedded_text) for c in cut(text, kind)] for _ in range(2))
    assert first == again


WORD = st.sampled_from(
    ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu"]
)
SENTENCE = st.lists(WORD, min_size=1, max_size=14).map(" ".join)
BLOCK = st.lists(SENTENCE, min_size=1, max_size=12).map("\n".join)
BLOCKS = st.lists(BLOCK, min_size=15, max_size=60)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(BLOCKS, st.sampled_from([LineKind.PROSE, LineKind.CODE, LineKind.CONFIG, LineKind.MARKDOWN]), st.data())
def test_one_edited_line_changes_few_chunks(blocks: list[str], kind: LineKind, data: st.DataObject) -> None:
    lines = "\n\n".join(blocks).split("\n")
    place = data.draw(st.integers(0, len(lines) - 1))
    edited = list(lines)
    match data.draw(st.sampled_from(["change", "insert", "delete"])):
        case "change":
            edited[place] = data.draw(SENTENCE)
        case "insert":
            edited.insert(place, data.draw(SENTENCE))
        case _:
            del edited[place]
    limits = ChunkLimits(80, 110, 10)
    before, after = (cut("\n".join(text), kind, limits=limits) for text in (lines, edited))
    assert new_texts(before, after, context=True) <= 4


@pytest.mark.parametrize("text", ["", "\n", " \n\t\n\x0c"])
@pytest.mark.parametrize("kind", list(LineKind))
def test_nothing_to_index(text: str, kind: LineKind) -> None:
    assert cut(text, kind) == []


def test_pages_come_from_the_document() -> None:
    text = "\n\n".join(f"Paragraph {n} " + "with words " * 12 for n in range(6))
    document = Document(text, LineKind.PROSE, page_starts=(1, 5, 9))
    chunks = TextChunker().chunk(document, WordTokenizer(), ChunkLimits(30, 40, 0))
    assert [(chunk.start_line, chunk.page) for chunk in chunks] == [(1, 1), (3, 1), (5, 2), (7, 2), (9, 3), (11, 3)]


def test_a_huge_line_is_sliced_at_sentences_and_loses_nothing() -> None:
    sentence = "The quick brown fox jumps over the lazy dog number {}."
    line = " ".join(sentence.format(n) for n in range(60))
    chunks = cut(f"before\n{line}\nafter", LineKind.PROSE)
    slices = [chunk for chunk in chunks if chunk.start_line == 2]
    assert "".join(chunk.text for chunk in slices) == line
    assert all(chunk.text.rstrip().endswith(".") for chunk in slices)
    assert [chunk.text for chunk in chunks if chunk.start_line != 2] == ["before", "after"]


def test_an_endless_word_is_bounded_in_characters() -> None:
    chunks = cut("f" * 400_000, LineKind.CODE, tokenizer=model_tokenizer(), limits=ChunkLimits(160, 254, 35))
    assert "".join(chunk.text for chunk in chunks) == "f" * 400_000
    assert max(len(chunk.text) for chunk in chunks) <= 254 * 32


def test_one_character_in_a_one_line_file_changes_few_chunks() -> None:
    line = ";".join(f"function f{n}(a,b){{return a*{n * 7919 % 1000}+b}}" for n in range(2000))
    edited = line.replace("f1000(", "f1000x(")
    limits = ChunkLimits(160, 254, 35)
    before, after = (cut(text, LineKind.CODE, language="javascript", limits=limits) for text in (line, edited))
    assert len(before) > 170
    assert new_texts(before, after, context=True) <= 4


HOSTILE = ["a ", " ", "\t", "(", "((a", "<a>", "a(b) ", "f(a)" + " " * 50, "- ", "* ", "`", "=", "export ", "{", "# "]


@pytest.mark.parametrize("kind", list(LineKind))
@pytest.mark.parametrize("unit", HOSTILE)
def test_no_line_takes_long(kind: LineKind, unit: str) -> None:
    run = unit * (30_000 // len(unit))
    text = f"key{run};\nclass A {run}:\nfoo bar(){run};"
    for language in ("java", "cpp", "rust") if kind is LineKind.CODE else ("", *MARKUP):
        started = time.process_time()
        TextChunker().chunk(Document(text, kind, language), Blind(), ChunkLimits(160, 254, 35))
        assert time.process_time() - started < 1
