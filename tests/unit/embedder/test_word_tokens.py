"""Tokens by words equal those that the library gives for the whole text."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tokenizers import AddedToken, Tokenizer

from everfind_embedder.loading.packaged import DATA_DIRECTORY
from everfind_rpc.tokenizer import FileTokenizer
from everfind_rpc.word_tokens import LONGEST_WORD, MOST_WORDS, ByWords, WordTokens

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
            "z" * (LONGEST_WORD + 1),
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


def test_each_word_is_tokenised_once() -> None:
    asked: list[str] = []

    def encode(word: str) -> WordTokens:
        asked.append(word)
        return WordTokens((len(word),), (0,))

    words = ByWords(encode)
    for _ in range(2):
        found = words.encode("a bb\ta(bb é)\n")
        assert found is not None
        assert found.ids.tolist() == [1, 2, 1, 1, 2, 2]
        assert found.starts.tolist() == [0, 2, 5, 6, 7, 10]
    assert asked == ["a", "bb", "(", "é)"]


def test_memory_is_bounded() -> None:
    words = ByWords(lambda word: WordTokens((1,), (0,)))
    words.encode(" ".join(map(str, range(MOST_WORDS + 10))))
    assert len(words._known) == 10
    words.encode("x" * (LONGEST_WORD + 1))
    assert len(words._known) == 10


@pytest.mark.parametrize("text", ["中文 " * 10, "plain é"])
def test_text_of_other_scripts_is_left_to_the_library(text: str) -> None:
    assert ByWords(lambda word: WordTokens((1,), (0,))).encode(text) is None


def test_an_added_word_goes_over_white_space() -> None:
    tokenizer = Tokenizer.from_buffer(CONTENT)
    tokenizer.add_tokens([AddedToken("new york")])
    text = "from new york to new jersey " * 20
    found = FileTokenizer(tokenizer.to_str().encode(), source="x").encode(text)
    tokenizer.no_truncation()
    tokenizer.no_padding()
    assert found.ids.tolist() == tokenizer.encode(text, add_special_tokens=False).ids


def test_no_text_has_no_tokens() -> None:
    found = ByWords(lambda word: WordTokens((1,), (0,))).encode("")
    assert found is not None
    assert not len(found)
