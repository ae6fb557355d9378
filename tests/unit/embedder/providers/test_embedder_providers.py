"""Embedding and reranking at a provider, against a stand-in that speaks its API."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from everfind_core.cancellation import Cancellation
from everfind_core.errors import CancelledError, ConfigError, InvalidRequestError, ModelUnusableError, UnavailableError
from everfind_core.model import InputKind, ModelSource, RerankRequest
from everfind_core.ports import Embedder
from everfind_embedder import EmbedderSettings, open_embedder
from everfind_embedder.settings import RerankerSettings, open_reranker
from everfind_rpc import json_api
from everfind_rpc.tokenizer import EstimateTokenizer
from tests.support.providers import Answer, StandIn, serve


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_api, "FIRST_PAUSE", 0.01)


def vector(text: str) -> list[int]:
    return [len(text) % 100 + 1, 3, -4]


def voyage(_path: str, body: Any) -> Answer:
    rows = [{"index": index, "embedding": vector(text)} for index, text in enumerate(body["input"])]
    return 200, {"data": rows[::-1], "model": body["model"]}, {}


def ollama(_path: str, body: Any) -> Answer:
    return 200, {"embeddings": [[0.5 * value for value in vector(text)] for text in body["input"]]}, {}


ANSWERS = {"voyage": voyage, "openai": voyage, "ollama": ollama}


@contextmanager
def opened(provider: str, **settings: Any) -> Iterator[tuple[Embedder, StandIn]]:
    with serve(ANSWERS[provider]) as stand_in:
        embedder = open_embedder(EmbedderSettings(f"{provider}:m", endpoint=stand_in.url, key="k", **settings))
        try:
            yield embedder, stand_in
        finally:
            embedder.close()


@pytest.mark.parametrize("provider", ANSWERS)
def test_vectors_come_in_order_and_at_unit_length(provider: str) -> None:
    texts = [f"text {'x' * index}" for index in range(300)]
    with opened(provider) as (embedder, stand_in):
        vectors = embedder.embed(texts, InputKind.DOCUMENT)
        info = embedder.model()
    expected = np.array([vector(text) for text in texts], np.float32)
    np.testing.assert_allclose(vectors, expected / np.linalg.norm(expected, axis=1, keepdims=True), rtol=1e-6)
    assert vectors.dtype == np.float32
    assert (info.id, info.dimensions, info.source, info.endpoint) == (
        f"{provider}:m",
        3,
        ModelSource.REMOTE,
        stand_in.url,
    )
    assert set(stand_in.keys) == {"Bearer k"}
    assert len(stand_in.bodies) == 1 + math.ceil(300 / (32 if provider == "ollama" else 128))


def test_what_voyage_is_asked() -> None:
    with opened("voyage") as (embedder, stand_in):
        embedder.embed(["q"], InputKind.QUERY)
        embedder.embed(["d", ""], InputKind.DOCUMENT)
    assert stand_in.paths == ["/embeddings"] * 3
    assert stand_in.bodies[1:] == [
        {"model": "m", "input": ["q"], "input_type": "query", "output_dtype": "int8"},
        {"model": "m", "input": ["d", " "], "input_type": "document", "output_dtype": "int8"},
    ]


def test_texts_are_cut_at_the_window_and_calls_at_their_size() -> None:
    with opened("openai", window=300) as (embedder, stand_in):
        budget = embedder.model().text_budget
        embedder.embed(["é" * 1_000], InputKind.DOCUMENT)
    assert budget == 100
    assert stand_in.bodies[1]["input"] == ["é" * 150]
    with opened("voyage") as (embedder, stand_in):
        embedder.embed(["x" * 31_000] * 4, InputKind.DOCUMENT)
    assert sorted(len(body["input"]) for body in stand_in.bodies[1:]) == [1, 3]


@pytest.mark.parametrize(
    "answer",
    [
        {"data": []},
        {"data": [{"index": 0, "embedding": [1, 2]}, {"index": 1, "embedding": [1]}]},
        {"data": [{"index": 0, "embedding": ["a", "b", "c"]}, {"index": 1, "embedding": [1, 2, 3]}]},
        {"data": [{"index": 0, "embedding": [0, 0, 0]}, {"index": 1, "embedding": [1, 2, 3]}]},
        {"error": "x"},
        {"data": 3},
    ],
)
def test_an_odd_answer_is_an_error(answer: Any) -> None:
    with opened("voyage") as (embedder, stand_in):
        embedder.model()
        stand_in.answer = lambda _path, _body: (200, answer, {})
        with pytest.raises(UnavailableError, match="does not answer as voyage does"):
            embedder.embed(["a", "b"], InputKind.DOCUMENT)


def test_its_tokens_are_estimates_and_cannot_be_embedded() -> None:
    with opened("voyage") as (embedder, _):
        assert not embedder.tokenizer().sliceable
        with pytest.raises(InvalidRequestError, match="takes texts"):
            embedder.embed_tokens([np.zeros(3, np.int64)])


def test_a_cancelled_call_ends() -> None:
    cancel = Cancellation()
    with opened("voyage") as (embedder, _):
        embedder.model()
        cancel.cancel()
        with pytest.raises(CancelledError):
            embedder.embed(["a"], InputKind.DOCUMENT, cancel=cancel)


def test_the_revision_follows_what_changes_vectors() -> None:
    with opened("voyage") as (one, _), opened("voyage") as (two, _), opened("openai") as (other, _):
        assert one.model().identity == two.model().identity
        assert one.model().revision != other.model().revision


def test_unknown_providers_are_named() -> None:
    with pytest.raises(ConfigError, match="no provider is called 'acme'"):
        open_embedder(EmbedderSettings("acme:x"))
    with pytest.raises(ConfigError, match="model_endpoint"):
        open_embedder(EmbedderSettings("openai:x", endpoint="http://far.example", key="k"))
    with pytest.raises(ConfigError, match="no provider is called 'ollama'"):
        open_reranker(RerankerSettings("ollama:x"))


@given(st.text(), st.floats(1, 8))
def test_an_estimate_covers_all_bytes_and_starts_at_characters(text: str, size: float) -> None:
    spans = EstimateTokenizer(size).encode(text)
    raw = len(text.encode("utf-8", "surrogatepass"))
    assert len(spans) == math.ceil(raw / size)
    assert (np.diff(spans.starts) >= 0).all()
    for position, start in enumerate(spans.starts.tolist()):
        before = len(text[:start].encode("utf-8", "surrogatepass"))
        after = len(text[: start + 1].encode("utf-8", "surrogatepass"))
        assert before <= math.floor(position * size) < after


def rerank(answer: Any, provider: str = "voyage", **settings: Any) -> tuple[Any, StandIn]:
    with serve(lambda _path, _body: answer) as stand_in:
        reranker = open_reranker(RerankerSettings(f"{provider}:m", endpoint=stand_in.url, key="k", **settings))
        assert reranker is not None
        assert (reranker.identity, reranker.endpoint) == (f"{provider}:m", stand_in.url)
        try:
            return reranker.rerank(RerankRequest("q", ("a", "b"))), stand_in
        finally:
            reranker.close()


@pytest.mark.parametrize(("provider", "key"), [("voyage", "data"), ("cohere", "results")])
def test_scores_come_in_the_order_of_the_texts(provider: str, key: str) -> None:
    rows = [{"index": 1, "relevance_score": 0.9}, {"index": 0, "relevance_score": 0.1}]
    scores, stand_in = rerank((200, {key: rows}, {}), provider)
    assert scores == [0.1, 0.9]
    assert stand_in.paths == ["/rerank"]
    assert stand_in.bodies == [{"model": "m", "query": "q", "documents": ["a", "b"]}]


def test_a_provider_that_fails_is_said() -> None:
    with pytest.raises(UnavailableError, match="score for each text"):
        rerank((200, {"data": [{"index": 0, "relevance_score": 1}]}, {}))
    with pytest.raises(ModelUnusableError, match="refuses the key"):
        rerank((401, "", {}))
    with pytest.raises(UnavailableError):
        rerank((429, "", {"Retry-After": "30"}), budget=0.3)


def test_no_reranker_is_none() -> None:
    assert open_reranker(RerankerSettings()) is None
