from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everfind_core.cancellation import Cancellation
from everfind_core.cpu_quota import cpu_quota
from everfind_core.errors import CancelledError, InvalidRequestError, ModelUnusableError
from everfind_core.model import InputKind, ModelSource, Vectors
from everfind_core.ports import Embedder, TokenIds
from everfind_embedder import EmbedderSettings, open_embedder
from everfind_embedder.encoder import RUN_TOKENS
from everfind_embedder.engine import OnnxEmbedder
from everfind_embedder.loading.loaded import LoadedModel
from everfind_embedder.loading.packaged import GRAPH_REVISION, INT8_ROWS, load_packaged
from everfind_embedder.processor import has_int8_dot_product

DOCUMENT, QUERY = InputKind.DOCUMENT, InputKind.QUERY
FP32 = np.load(Path(__file__).parent / "fp32_reference.npz")["vectors"].astype(np.float32)


def distances(left: Vectors, right: Vectors) -> Vectors:
    cosines: Vectors = (left * right).sum(axis=1) / np.linalg.norm(left, axis=1) / np.linalg.norm(right, axis=1)
    return 1 - cosines


def test_it_is_an_embedder(embedder: OnnxEmbedder) -> None:
    port: Embedder = embedder
    info = port.model()
    assert (info.dimensions, info.max_tokens, info.special_tokens, info.text_budget) == (384, 256, 2, 254)
    assert (info.pooling, info.source) == ("mean", ModelSource.PACKAGE)


def test_fidelity_to_fp32(embedder: OnnxEmbedder, reference_texts: list[str]) -> None:
    vectors = embedder.embed(reference_texts, DOCUMENT)
    cosines = 1 - distances(vectors, FP32)
    assert cosines.mean() >= 0.997
    assert cosines.min() >= 0.98


def test_another_graph_of_the_same_revision_gives_the_same_vectors(
    embedder: OnnxEmbedder, reference_texts: list[str]
) -> None:
    if embedder.model().variant != INT8_ROWS:
        pytest.skip("this CPU has no 8-bit dot product")
    kept = np.load(Path(__file__).parent / "int8_rows_reference.npz")
    assert str(kept["graph_revision"]) == GRAPH_REVISION
    vectors = embedder.embed(reference_texts[: len(kept["vectors"])], DOCUMENT)
    np.testing.assert_allclose(vectors, kept["vectors"], rtol=0, atol=1e-5)


def test_vectors_are_float32_of_unit_length(embedder: OnnxEmbedder, reference_texts: list[str]) -> None:
    vectors = embedder.embed(reference_texts[:10], DOCUMENT)
    assert vectors.dtype == np.float32
    assert vectors.flags.c_contiguous
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_alone_in_a_batch_in_any_order_and_concurrently(embedder: OnnxEmbedder, reference_texts: list[str]) -> None:
    short = [text for text in reference_texts if len(text) < 300]
    texts = short + [f"{word} pads the group" for word in ["one", "two", "three", "four", "five", "six"]]
    together = embedder.embed(texts, DOCUMENT)
    alone = np.concatenate([embedder.embed([text], DOCUMENT) for text in texts])
    order = np.random.default_rng(3).permutation(len(texts))
    shuffled = embedder.embed([texts[i] for i in order], DOCUMENT)
    with ThreadPoolExecutor(4) as callers:
        concurrent = list(callers.map(lambda _: embedder.embed(texts[::2], DOCUMENT), range(4)))
    assert distances(together, alone).max() <= 1e-5
    assert distances(together[order], shuffled).max() <= 1e-5
    for vectors in concurrent:
        assert distances(together[::2], vectors).max() <= 1e-5


@pytest.mark.parametrize("length", [4, 30, 100])
def test_a_vector_is_the_same_in_half_precision_whatever_shares_its_run(embedder: OnnxEmbedder, length: int) -> None:
    """Numbers of a vector are below one half, where half precision has steps of 1e-4 or less."""
    chance = np.random.default_rng(length)
    sequences = [chance.integers(1_000, 29_000, length) for _ in range(max(2, RUN_TOKENS // length))]
    alone = np.concatenate([embedder.embed_tokens([one]) for one in sequences])
    np.testing.assert_allclose(embedder.embed_tokens(sequences), alone, rtol=0, atol=1e-5)


def test_tokens_and_text_give_the_same_vector(embedder: OnnxEmbedder, reference_texts: list[str]) -> None:
    texts = [text for text in reference_texts if len(embedder.tokenizer().encode(text)) <= 254][:20]
    ids = [embedder.tokenizer().encode(text).ids for text in texts]
    assert distances(embedder.embed_tokens(ids), embedder.embed(texts, DOCUMENT)).max() <= 1e-6


def test_a_text_is_cut_at_the_window(embedder: OnnxEmbedder) -> None:
    full, longer = embedder.embed(["word " * 254, "word " * 255 + "and another end"], QUERY)
    np.testing.assert_allclose(full, longer, atol=1e-6)


def test_a_sequence_beyond_the_budget_is_refused(embedder: OnnxEmbedder) -> None:
    embedder.embed_tokens([np.full(254, 7592, np.int64)])
    with pytest.raises(InvalidRequestError, match=r"sequences\[1\]: 255 tokens, but the model takes 254"):
        embedder.embed_tokens([np.array([7592]), np.full(255, 7592, np.int64)])


def test_no_texts(embedder: OnnxEmbedder) -> None:
    assert embedder.embed([], QUERY).shape == (0, 384)
    assert embedder.embed_tokens([]).shape == (0, 384)


@pytest.mark.parametrize("text", ["", " \n\t", "\0", "😀🚀", "中文查询", "\u0301", "a" * 5_000, "\ud800"])
def test_odd_texts_have_a_vector(embedder: OnnxEmbedder, text: str) -> None:
    assert np.isfinite(embedder.embed([text], QUERY)).all()


def test_nul_characters_change_nothing(embedder: OnnxEmbedder) -> None:
    plain, nul = embedder.embed(["open the file", "open\0 the\0 file"], DOCUMENT)
    np.testing.assert_allclose(plain, nul, atol=1e-6)


def test_a_cancelled_call_begins_no_further_run() -> None:
    cancel, lengths = Cancellation(), list[int]()

    class Cancelling:
        def run(self, ids: TokenIds) -> Vectors:
            cancel.cancel()
            lengths.append(ids.size)
            return np.zeros((len(ids), 384), np.float32)

    engine = OnnxEmbedder(lambda: replace(load_packaged(), encoder=Cancelling()), threads=2)
    with pytest.raises(CancelledError):
        engine.embed_tokens([np.full(250, 7592, np.int64)] * 5_000, cancel=cancel)
    engine.close()
    assert 1 <= len(lengths) <= 2, "one a thread, each some hundredths of a second"
    assert max(lengths) <= RUN_TOKENS


def test_a_query_does_not_wait_for_a_bulk_batch(embedder: OnnxEmbedder) -> None:
    cancel = Cancellation()

    def bulk() -> None:
        with pytest.raises(CancelledError):
            embedder.embed_tokens([np.full(250, 7592, np.int64)] * 5_000, cancel=cancel)

    thread = threading.Thread(target=bulk)
    thread.start()
    time.sleep(0.1)
    embedder.embed(["how do I open a file"], QUERY)
    goes_on = thread.is_alive()  # all of it takes minutes
    cancel.cancel()
    thread.join()
    assert goes_on


def test_the_model_loads_once_for_many_threads() -> None:
    loads: list[LoadedModel] = []

    def load() -> LoadedModel:
        time.sleep(0.02)
        loads.append(load_packaged())
        return loads[-1]

    engine = OnnxEmbedder(load, 1)
    with ThreadPoolExecutor(4) as callers:
        infos = list(callers.map(lambda _: engine.model(), range(8)))
    engine.close()
    assert len(loads) == 1
    assert set(infos) == {loads[0].info}


def test_a_failed_load_is_tried_again() -> None:
    failures = [ModelUnusableError("gone")]

    def load() -> LoadedModel:
        if failures:
            raise failures.pop()
        return load_packaged()

    engine = OnnxEmbedder(load, 1)
    with pytest.raises(ModelUnusableError, match="gone"):
        engine.embed(["x"], QUERY)
    assert engine.embed(["x"], QUERY).shape == (1, 384)
    engine.close()


def test_threads_follow_the_quota_unless_set() -> None:
    by_quota, by_hand = open_embedder(EmbedderSettings()), open_embedder(EmbedderSettings(threads=3))
    assert isinstance(by_quota, OnnxEmbedder)
    assert isinstance(by_hand, OnnxEmbedder)
    assert (by_quota.threads, by_hand.threads) == (cpu_quota(), 3)


def test_this_machine_runs_the_fast_variant(embedder: OnnxEmbedder) -> None:
    if not has_int8_dot_product():
        pytest.skip("this CPU has no 8-bit dot product")
    assert embedder.model().variant == INT8_ROWS


TEXTS = st.lists(st.lists(st.sampled_from(["open", "the", "file", "token", "session"]), max_size=8), max_size=6)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.tuples(TEXTS, st.sampled_from(InputKind)), min_size=2, max_size=8))
def test_calls_of_others_change_no_vector(
    embedder: OnnxEmbedder, calls: list[tuple[list[list[str]], InputKind]]
) -> None:
    asked = [([" ".join(words) for words in texts], kind) for texts, kind in calls]
    start = threading.Barrier(len(asked))

    def call(one: tuple[list[str], InputKind]) -> Vectors:
        start.wait(30)
        return embedder.embed(*one)

    with ThreadPoolExecutor(len(asked)) as callers:
        found = list(callers.map(call, asked))
    for (texts, kind), vectors in zip(asked, found, strict=True):
        alone = [embedder.embed([text], kind)[0] for text in texts]
        np.testing.assert_array_equal(vectors, np.reshape(alone, vectors.shape))
