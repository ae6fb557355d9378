from __future__ import annotations

import re
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everfind_core.text.function_words import FUNCTION_WORDS
from everfind_core.text.glossary import Glossed, glossed

LINES = (files("everfind_core.text") / "glossary.txt").read_text(encoding="utf-8").splitlines()


def test_each_line_is_a_chinese_word_and_english_ones_and_each_word_stands_once() -> None:
    assert [line for line in LINES if not re.fullmatch(r"[\u3400-\u9fff]+( [a-z]+(-[a-z]+)*)+", line)] == []
    words = [line.partition(" ")[0] for line in LINES]
    assert words == sorted(set(words))


@pytest.mark.parametrize(
    ("text", "english", "known"),
    [
        ("删除分支", "delete remove branch", 1),
        ("删除茉莉", "delete remove", 0.5),
        ("茉莉", "", 0),
        ("如何烤蛋糕", "", 0),
        ("如何删除分支", "how delete remove branch", 1),
        ("如何烤 cake", "cake", 0),
        ("正则表达式", "regular expression", 1),
        ("把 HEAD 推送到远程仓库。", "HEAD push to remote repository", 7 / 8),
        ("how to  merge", "how to  merge", 0),
        ("merge " * 1_000, "merge " * 1_000, 0),
        ("merge " * 1_000 + "删除分支", "merge " * 1_000 + "delete remove branch", 1),
        ("ファイルを削除", "ファイルを削除", 0),
        ("", "", 0),
    ],
)
def test_words_are_given_in_english_the_longest_first(text: str, english: str, known: float) -> None:
    found = glossed(text)
    assert found.english == english
    assert found.known == pytest.approx(known)


@given(st.text(max_size=200))
def test_any_text_is_read(text: str) -> None:
    found = glossed(text)
    assert 0 <= found.known <= 1
    if not re.search("[\u3400-\u9fff]", text):
        assert found == Glossed(text, 0.0)


TELLING = [line.partition(" ")[0] for line in LINES if not FUNCTION_WORDS.issuperset(line.split()[1:])]


@given(st.lists(st.sampled_from(TELLING), min_size=1, max_size=5))
def test_known_words_apart_are_known_whole(words: list[str]) -> None:
    assert glossed(" ".join(words)).known == 1
