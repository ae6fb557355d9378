from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everfind_core.text.stemming import stem


@pytest.mark.parametrize(
    "family",
    [
        "route routes routed routing",
        "query queries queried querying",
        "cookie cookies",
        "embed embeds embedded embedding",
        "class classes classed",
        "cache caches cached caching",
        "alias aliases",
        "map maps mapped mapping",
        "add adds added adding",
        "status statuses",
        "process processes processed processing",
        "database databases",
        "size sizes sized sizing",
        "key keys keyed",
        "array arrays",
        "copy copies copied copying",
        "schema schemas",
        "api apis",
        "id ids",
        "box boxes boxed",
        "use uses used using",
        "call calls called calling",
        "tree trees",
        "try tries tried trying",
    ],
)
def test_one_stem_for_the_forms_of_a_word(family: str) -> None:
    assert len({stem(word) for word in family.split()}) == 1


@pytest.mark.parametrize(
    "words",
    ["file fill", "parse parser", "string str", "speed spe", "need ne", "thing th", "code coder", "add ad", "as a"],
)
def test_different_words_stay_apart(words: str) -> None:
    assert len({stem(word) for word in words.split()}) == len(words.split())


@pytest.mark.parametrize("word", ["", "s", "ed", "ing", "css", "dns", "utf8", "sha256", "straßen", "用户", "файлы"])
def test_short_words_digits_and_other_alphabets_stay_as_they_are(word: str) -> None:
    assert stem(word) == word


@given(st.text(st.characters(codec="utf-8"), max_size=30))
@settings(deadline=None)
def test_a_stem_is_never_empty_nor_longer(word: str) -> None:
    assert len(stem(word)) <= len(word)
    assert bool(stem(word)) == bool(word)
