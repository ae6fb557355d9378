"""An answer with nothing pending is one of a settled index: its scores are those of an index made in peace."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from everfind_core.chunking import TextChunker
from everfind_core.index.vector_codec import VectorCodec
from everfind_core.index.vector_types import VectorType
from everfind_core.model import (
    Folder,
    FolderFinished,
    FolderStarted,
    IndexReport,
    IndexRequest,
    RunEvent,
    SearchAnswer,
    SearchRequest,
)
from everfind_core.ports import FileChunks
from everfind_indexer.engine import IndexEngine
from everfind_indexer.settings import IndexerSettings
from everfind_indexer.store.writer import LanceChunkWriter
from everfind_searcher.engine import SearchEngine
from everfind_searcher.settings import SearcherSettings
from everfind_searcher.store import open_reader
from tests.support.fakes import FakeEmbedder

FILES = 40
QUERIES = ("word3 word5", "word1 of word7", "word9")
Places = list[tuple[str, int, float]]


class KilledError(Exception):
    """Stands for kill -9 at a commit."""


class Killable(LanceChunkWriter):
    """The real store, that dies after so many commits."""

    left = 10**9

    def replace(self, files: Sequence[FileChunks]) -> None:
        super().replace(files)
        Killable.left -= 1
        if Killable.left == 0:
            raise KilledError


def killable(directory: Path, dimensions: int) -> Killable:
    return Killable(directory, VectorCodec(VectorType.HALF, dimensions))


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("everfind_indexer.running.pipeline.BATCH_FILES", 4)
    monkeypatch.setattr("everfind_indexer.running.work.GROUP_FILES", 4)
    monkeypatch.setattr("everfind_indexer.running.bookkeeping.COVERAGE_SECONDS", 0.0)
    monkeypatch.setattr(Killable, "left", 10**9)
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    for number in range(FILES):
        write(corpus, number, number)
    return corpus


def write(corpus: Path, number: int, seed: int) -> None:
    words = random.Random(seed).choices([f"word{n}" for n in range(12)], weights=range(1, 13), k=8 + seed % 30)
    (corpus / f"{number}.txt").write_text(" ".join(words) + "\n")


def indexer(corpus: Path, directory: Path) -> IndexEngine:
    settings = IndexerSettings(directory, (Folder("f", str(corpus)),))
    return IndexEngine(settings, FakeEmbedder(), TextChunker(), killable)


def run(
    corpus: Path, directory: Path, on_event: Callable[[RunEvent], None] = lambda _: None, **how: object
) -> IndexReport:
    return indexer(corpus, directory).index(IndexRequest(**how), on_event)  # type: ignore[arg-type]


def places(answer: SearchAnswer) -> Places:
    return [(hit.path, hit.start_line, hit.score) for hit in answer.hits]


def answers(corpus: Path, directory: Path) -> dict[str, Places]:
    source = indexer(corpus, directory)
    with closing(SearchEngine(SearcherSettings(directory), FakeEmbedder(), source, open_reader)) as searcher:
        return {query: places(searcher.search(SearchRequest(query))) for query in QUERIES}


def equal(one: Places, two: Places) -> bool:
    return [p[:2] for p in one] == [p[:2] for p in two] and all(
        abs(a[2] - b[2]) <= 1e-4 for a, b in zip(one, two, strict=True)
    )


def test_answers_during_a_disturbed_run_say_that_they_are_not_settled(corpus: Path, tmp_path: Path) -> None:
    directory = tmp_path / "index"
    run(corpus, tmp_path / "fresh")
    truth = answers(corpus, tmp_path / "fresh")
    run(corpus, directory, paths=tuple(f"{n}.txt" for n in range(6)), folders=("f",))
    Killable.left = 3
    with pytest.raises(KilledError):
        run(corpus, directory)
    seen: list[tuple[bool, bool]] = []
    source = indexer(corpus, directory)
    with closing(SearchEngine(SearcherSettings(directory), FakeEmbedder(), source, open_reader)) as searcher:

        def ask(_event: RunEvent) -> None:
            for query in QUERIES:
                answer = searcher.search(SearchRequest(query))
                if answer.coverage.files == FILES:
                    seen.append((answer.coverage.pending == 0, equal(places(answer), truth[query])))

        run(corpus, directory, ask)
        for query in QUERIES:
            answer = searcher.search(SearchRequest(query))
            assert answer.coverage.pending == 0
            assert equal(places(answer), truth[query])
    assert (False, False) in seen, "before the upkeep BM25 knows the numbers of words but nearly"
    assert (True, False) not in seen


def test_a_run_that_was_killed_before_its_end_is_settled_by_the_next(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = tmp_path / "index"
    run(corpus, tmp_path / "fresh")
    truth = answers(corpus, tmp_path / "fresh")
    run(corpus, directory, max_files=6)

    def die(*_: object) -> None:
        raise KilledError

    with monkeypatch.context() as killed, pytest.raises(KilledError):
        killed.setattr("everfind_indexer.running.run.settle_documents", die)
        run(corpus, directory)
    pending: list[int] = []
    with closing(
        SearchEngine(SearcherSettings(directory), FakeEmbedder(), indexer(corpus, directory), open_reader)
    ) as s:

        def ask(event: RunEvent) -> None:
            if isinstance(event, FolderStarted | FolderFinished):
                pending.append(s.search(SearchRequest(QUERIES[0])).coverage.pending)

        run(corpus, directory, ask)
    assert all(pending)
    assert all(equal(found, truth[query]) for query, found in answers(corpus, directory).items())


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_after_any_history_scores_are_those_of_a_fresh_index(corpus: Path, tmp_path: Path, seed: int) -> None:
    directory, choose = tmp_path / "index", random.Random(seed)
    for turn in range(6):
        changed = [choose.randrange(FILES) for _ in range(choose.choice([1, 2, 9]))]
        for number in changed:
            if choose.random() < 0.2:
                (corpus / f"{number}.txt").unlink(missing_ok=True)
            else:
                write(corpus, number, 100 * turn + number)
        limited = choose.random() < 0.5
        run(corpus, directory, folders=("f",), paths=tuple(f"{n}.txt" for n in set(changed)) if limited else ())
    run(corpus, directory)
    run(corpus, tmp_path / "fresh")
    found, wanted = answers(corpus, directory), answers(corpus, tmp_path / "fresh")
    assert all(wanted.values())
    assert all(equal(found[query], wanted[query]) for query in QUERIES)
