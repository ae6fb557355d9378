from __future__ import annotations

import numpy as np
import pytest

from everfind_core.cancellation import Cancellation
from everfind_core.errors import CancelledError
from everfind_core.model import FileRef, FileState, InputKind
from everfind_core.ports import StoredChunk
from everfind_indexer.running import pipeline
from everfind_indexer.running.pipeline import Clock, Committed, Pipeline
from everfind_indexer.running.preparing import PreparedFile, embedding_key
from tests.support.fakes import FakeEmbedder, FakeTokenizer, MemoryStore


def prepared(path: str, texts: list[str], *, tokens: int = 10) -> PreparedFile:
    ref = FileRef("f", path)
    rows = tuple(
        StoredChunk(f"{path}-{n}", ref, n, n + 1, n + 1, text, text, embedding_key(text), "hash", tokens)
        for n, text in enumerate(texts)
    )
    return PreparedFile(
        FileState(ref, 1, 1, 1, 1, 1, "hash", len(rows)),
        rows,
        tuple(FakeTokenizer().encode(text).ids for text in texts),
        tuple(texts),
        tuple(2 for _ in texts),
    )


class Bench:
    def __init__(self, store: MemoryStore | None = None, embedder: FakeEmbedder | None = None) -> None:
        self.store = store or MemoryStore()
        self.embedder = embedder or FakeEmbedder()
        self.committed: list[Committed] = []
        self.cancel = Cancellation()

    def pipeline(self, *, reuse: bool = True, concurrency: int = 2) -> Pipeline:
        return Pipeline(
            self.store,
            self.embedder,
            on_commit=self.committed.extend,
            cancel=self.cancel,
            clock=Clock(),
            reuse=reuse,
            concurrency=concurrency,
        )

    def run(self, *groups: list[PreparedFile], reuse: bool = True) -> list[Committed]:
        self.committed.clear()
        with self.pipeline(reuse=reuse) as line:
            for group in groups:
                line.add(group)
            line.finish()
        return self.committed


def test_files_are_committed_whole_in_order_with_their_vectors() -> None:
    bench = Bench()
    done = bench.run([prepared("a", ["one", "two"]), prepared("b", ["three"])], [prepared("c", ["four"])])
    assert [c.file.state.ref.path for c in done] == ["a", "b", "c"]
    assert [(c.embedded, c.reused, c.tokens, c.context_tokens) for c in done] == [
        (2, 0, 16, 4),
        (1, 0, 8, 2),
        (1, 0, 8, 2),
    ]
    (expected,) = bench.embedder.embed_tokens([FakeTokenizer().encode("two").ids])
    vector = bench.store.rows[FileRef("f", "a")][1].vector
    assert vector is not None
    np.testing.assert_array_equal(vector, expected)


def test_what_the_store_has_is_not_embedded_again() -> None:
    bench = Bench()
    bench.run([prepared("a", ["one", "two", "three"])])
    done = bench.run([prepared("moved", ["one", "two", "new"])])
    assert (done[0].embedded, done[0].reused) == (1, 2)
    assert bench.embedder.embedded == 4


def test_equal_texts_are_embedded_once_within_a_batch_and_across_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench()
    assert [c.embedded for c in bench.run([prepared("a", ["same", "same"]), prepared("b", ["same"])])] == [1, 0]
    monkeypatch.setattr(pipeline, "BATCH_FILES", 1)
    fresh = Bench()
    with fresh.pipeline(reuse=False, concurrency=1) as line:
        line.add([prepared(name, ["same", f"own {name}"]) for name in "abcd"])
        line.add([prepared(name, ["same", f"own {name}"]) for name in "efgh"])
        line.finish()
    assert fresh.embedder.embedded == 9
    assert [(c.embedded, c.reused) for c in fresh.committed] == [(2, 0)] + 7 * [(1, 1)]
    for rows in fresh.store.rows.values():
        for row in rows:
            assert row.vector is not None
            assert row.vector.tolist() == fresh.embedder.embed([row.text], InputKind.DOCUMENT)[0].tolist()


def test_a_forced_run_embeds_all_again_and_looks_nothing_up() -> None:
    bench = Bench()
    bench.run([prepared("a", ["one"])])
    bench.store.lookups = 0
    assert bench.run([prepared("a", ["one"])], reuse=False)[0].embedded == 1
    assert bench.store.lookups == 0


def test_a_file_that_lost_its_text_is_removed() -> None:
    bench = Bench()
    bench.run([prepared("a", ["one"])])
    bench.run([prepared("a", [])])
    assert bench.store.rows == {}


def test_batches_stay_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "BATCH_TOKENS", 100)
    bench = Bench()
    bench.run([prepared(f"{n:03d}", [f"text {n}"], tokens=30) for n in range(20)])
    assert [len(commit) for commit in bench.store.commits] == [4, 4, 4, 4, 4]


def test_batches_grow_with_the_run_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("BATCH_TOKENS", 100), ("MOST_TOKENS", 200)):
        monkeypatch.setattr(pipeline, name, value)
    bench = Bench()
    bench.run([prepared(f"{n:03d}", [f"text {n}"], tokens=50) for n in range(30)])
    assert [len(commit) for commit in bench.store.commits] == [2, 2, 2, 2, 2, 3, 4, 4, 4, 4, 1]


def test_the_first_texts_of_a_run_are_embedded_before_the_batch_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "FIRST_TOKENS", 30)
    bench = Bench()
    with bench.pipeline() as line:
        line.add([prepared("a", ["one"], tokens=20)])
        assert not line._batch.parts
        line.add([prepared("b", ["one", "two"], tokens=20)])
        (part,) = line._batch.parts
        assert len(part.result()) == 2
        line.add([prepared("c", ["three", "two"], tokens=40)])
        assert len(line._batch.parts) == 1
        assert not bench.store.commits
        line.finish()
    assert [len(commit) for commit in bench.store.commits] == [3]
    assert bench.embedder.calls == 2
    for rows in bench.store.rows.values():
        for row in rows:
            assert row.vector is not None
            assert row.vector.tolist() == bench.embedder.embed([row.text], InputKind.DOCUMENT)[0].tolist()


def test_a_cancelled_run_keeps_what_is_committed_and_commits_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "BATCH_FILES", 1)
    bench = Bench()
    with pytest.raises(CancelledError), bench.pipeline(concurrency=1) as line:
        for n in range(10):
            line.add([prepared(f"{n}", [f"text {n}"])])
            if n == 5:
                bench.cancel.cancel()
    assert 0 < len(bench.store.commits) <= 5


def test_a_broken_embedder_ends_the_run_with_its_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "BATCH_FILES", 1)
    bench = Bench(embedder=FakeEmbedder(fail_after=3))
    with pytest.raises(RuntimeError, match="broke"), bench.pipeline(concurrency=1) as line:
        for n in range(10):
            line.add([prepared(f"{n}", [f"text {n}"])])
        line.finish()
    assert len(bench.store.commits) == 3
