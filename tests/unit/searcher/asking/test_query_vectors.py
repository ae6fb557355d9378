from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from everfind_core.cancellation import Cancellation
from everfind_core.model import InputKind
from everfind_searcher.asking import query_vectors
from everfind_searcher.asking.query_vectors import QueryVectors
from tests.support.fakes import MODEL, FakeEmbedder


def test_a_query_is_embedded_once() -> None:
    embedder = FakeEmbedder()
    vectors = QueryVectors(embedder)
    for _ in range(3):
        for text in ("one two", "two three"):
            expected = FakeEmbedder().embed([text], InputKind.QUERY)[0]
            np.testing.assert_array_equal(vectors.of(text, Cancellation()), expected)
    assert embedder.embedded == 2


def test_another_model_embeds_anew() -> None:
    embedder = FakeEmbedder()
    vectors = QueryVectors(embedder)
    vectors.of("one", Cancellation())
    embedder.info = replace(MODEL, revision="2", dimensions=8)
    assert vectors.of("one", Cancellation()).shape == (8,)
    assert embedder.embedded == 2


def test_the_query_asked_longest_ago_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query_vectors, "REMEMBERED", 2)
    embedder = FakeEmbedder()
    vectors = QueryVectors(embedder)
    for text in ("a", "b", "a", "c", "a"):
        vectors.of(text, Cancellation())
    assert embedder.embedded == 3
    vectors.of("b", Cancellation())
    assert embedder.embedded == 4


def test_an_english_model_gets_the_english_words_of_chinese_ones() -> None:
    english = FakeEmbedder(info=replace(MODEL, id="sentence-transformers/all-MiniLM-L6-v2"))
    other = FakeEmbedder(info=replace(MODEL, id="intfloat/multilingual-e5-small"))
    as_written, in_english, unknown = FakeEmbedder().embed(
        ["刷新令牌 in main", "refresh flush token in main", "茉莉"], InputKind.QUERY
    )
    np.testing.assert_array_equal(QueryVectors(english).of("刷新令牌 in main", Cancellation()), in_english)
    np.testing.assert_array_equal(QueryVectors(english).of("茉莉", Cancellation()), unknown)
    np.testing.assert_array_equal(QueryVectors(other).of("刷新令牌 in main", Cancellation()), as_written)
