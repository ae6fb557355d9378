"""Tokens by words equal those that the library gives for the whole text."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tokenizers import AddedToken, Tokenizer

from everfind_core.model import TokenSpans
from everfind_embedder.loading.packaged import DATA_DIRECTORY
from everfind_rpc.tokenizer import FileTokenizer
from everfind_rpc.word_tokens import MOST_CHARACTERS, ByWords

CONTENT = (DATA_DIRECTORY / "tokenizer.json").read_bytes()
FILE = FileTokenizer(CONTENT, source="tokenizer.json")
LIBRARY = Tokenizer.from_buffer(CONTENT)
LIBRARY.no_truncation()
LIBRARY.no_padding()
LIBRARY.encode_special_tokens = True

PIECES = st.one_of(
    st.text(st.characters(max_codepoint=127), max_size=12),
    st.sampled_from(
        (
            *(
                "def ",
                "getUserName",
                "\n",
                "\r\n",
                "\t",
                "    ",
                "x = a[0]",
                "[SEP]",
                "[CLS]",
                "##s",
                "\x0c",
                "\x00",
                "\x7f",
            ),
            *(
                "\x0b",
                "\x85",
                "\u2028",
                "\u3000",
                "\u200b",
                "\ufeff",
                "é",
                "e\u0301",
                "\u0301",
                "中文",
                "ß",
                "😀",
                "—",
                "İ",
            ),
            "z" * 65,
            "y" * 101,
        )
    ),
)
TEXTS = st.lists(PIECES, max_size=60).map("".join)


def by_library(text: str) -> tuple[list[int], list[int]]:
    encoding = LIBRARY.encode(text, add_special_tokens=False)
    starts = [start for start, _ in encoding.offsets]
    return encoding.ids, np.maximum.accumulate(np.array(starts, np.int64)).tolist()


@given(TEXTS)
@example("a\x0cb " * 60)
@example("word é " * 60)
@example(" \u0301a" * 60)
@example("a\u3000b " * 60)
def test_equal_to_the_librarys(text: str) -> None:
    text = text + " and enough of plain words that they are looked up" * 8
    found = FILE.encode(text)
    ids, starts = by_library(text)
    assert found.ids.tolist() == ids
    assert found.starts.tolist() == starts
    assert found.ids.dtype == found.starts.dtype == np.int64


def one_each(text: str) -> TokenSpans:
    """A token a word: its length."""
    words = list(re.finditer(r"\S+", text))
    return TokenSpans(np.array([len(w[0]) for w in words]), np.array([w.start() for w in words], np.int64))


def one_a_character(text: str) -> TokenSpans:
    """A token a character, but for spaces."""
    places = [place for place, character in enumerate(text) if not character.isspace()]
    return TokenSpans(np.array([ord(text[place]) for place in places]), np.array(places, np.int64))


def test_each_word_is_tokenised_once() -> None:
    asked: list[str] = []

    def encode(text: str) -> TokenSpans:
        asked.append(text)
        return one_each(text)

    words = ByWords(encode)
    for _ in range(2):
        found = words.encode("a bb\ta(bb é)\n")
        assert found is not None
        assert found.ids.tolist() == [1, 2, 1, 1, 2, 2]
        assert found.starts.tolist() == [0, 2, 5, 6, 7, 10]
    assert asked == ["a bb ( é)"]
    plain = words.encode("bb+a ccc+")
    assert plain is not None
    assert plain.ids.tolist() == [2, 1, 1, 3, 1]
    assert plain.starts.tolist() == [0, 2, 3, 5, 8]
    assert asked[1:] == ["+", "ccc"]


def test_words_of_several_tokens_or_none() -> None:
    def without_x(text: str) -> TokenSpans:
        found = one_a_character(text)
        kept = found.ids != ord("x")
        return TokenSpans(found.ids[kept], found.starts[kept])

    found = ByWords(without_x).encode("xx axb x\nba xx")
    assert found is not None
    assert found.ids.tolist() == list(map(ord, "abba"))
    assert found.starts.tolist() == [3, 5, 9, 10]


def test_memory_is_bounded() -> None:
    words = ByWords(one_each)
    words.encode("many words " + "x" * MOST_CHARACTERS)
    assert list(words._known._places) == ["many", "words", "x" * MOST_CHARACTERS]
    words.encode("y z")
    assert list(words._known._places) == ["y", "z"]


def test_threads_share_what_is_known() -> None:
    words = ByWords(one_a_character)
    texts = [" ".join(f"{n * step}" for n in range(3_000)) for step in (1, 2, 3, 5)]
    with ThreadPoolExecutor(4) as threads:
        for text, found in zip(texts * 4, threads.map(words.encode, texts * 4), strict=True):
            assert found is not None
            assert found.ids.tolist() == one_a_character(text).ids.tolist()
            assert found.starts.tolist() == one_a_character(text).starts.tolist()


@pytest.mark.parametrize("text", ["中文 " * 10, "plain é"])
def test_text_of_other_scripts_is_left_to_the_library(text: str) -> None:
    assert ByWords(one_each).encode(text) is None


def test_an_added_word_goes_over_white_space() -> None:
    tokenizer = Tokenizer.from_buffer(CONTENT)
    tokenizer.add_tokens([AddedToken("new york")])
    text = "from new york to new jersey " * 20
    found = FileTokenizer(tokenizer.to_str().encode(), source="x").encode(text)
    tokenizer.no_truncation()
    tokenizer.no_padding()
    assert found.ids.tolist() == tokenizer.encode(text, add_special_tokens=False).ids


def test_no_text_has_no_tokens() -> None:
    found = ByWords(one_each).encode("")
    assert found is not None
    assert not len(found)
