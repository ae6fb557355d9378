"""A first index of many files: found by their words at once, by vectors as these come; in the end as any other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from everfind_core.cancellation import Cancellation
from everfind_core.errors import CancelledError, IndexIncompatibleError
from everfind_core.index.directory import current_index
from everfind_core.index.store_backends import StoreChoice
from everfind_core.model import (
    Coverage,
    Filters,
    Folder,
    FolderFinished,
    IndexPhase,
    IndexProgress,
    IndexReport,
    IndexRequest,
    RunEvent,
    SearchAnswer,
    SearchMode,
    SearchRequest,
    Vectors,
)
from everfind_core.ports import TokenIds
from everfind_indexer.engine import IndexEngine
from everfind_indexer.files.found import FoundFile
from everfind_indexer.running import backlog, bookkeeping, first_pass, pipeline, work
from everfind_indexer.settings import IndexerSettings
from everfind_indexer.store import open_writer
from everfind_indexer.store.kinds import table_damage
from tests.support.fakes import MODEL, FakeEmbedder
from tests.support.real_index import RealIndex, write_notes

NOTES = 24


@pytest.fixture(autouse=True)
def _small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_pass, "FIRST_PASS_FILES", 10)
    monkeypatch.setattr(bookkeeping, "COVERAGE_SECONDS", 0.0)
    monkeypatch.setattr(first_pass, "COMMIT_FILES", 6)
    monkeypatch.setattr(pipeline, "BATCH_FILES", 4)
    monkeypatch.setattr(work, "GROUP_FILES", 4)


@pytest.fixture
def one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is embedded beside the first pass."""
    monkeypatch.setattr(pipeline.Pipeline, "has_room", lambda _self: False)


@pytest.fixture
def index(tmp_path: Path) -> RealIndex:
    write_notes(tmp_path / "corpus", NOTES)
    return RealIndex(tmp_path, tmp_path / "corpus")


@pytest.fixture
def direct(tmp_path: Path) -> Callable[[Path], RealIndex]:
    """Makes an index of the same files in one pass."""

    def made(corpus: Path) -> RealIndex:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(first_pass, "FIRST_PASS_FILES", 10_000)
            other = RealIndex(tmp_path / "direct", corpus)
            other.index()
            return other

    return made


@pytest.mark.parametrize(
    ("files", "size", "twice"), [(9, 100, False), (10, 100, True), (1, 7_999_999, False), (2, 4_000_000, True)]
)
def test_many_files_or_large_ones_are_taken_in_twice(files: int, size: int, twice: bool) -> None:
    assert first_pass.pays([FoundFile(f"n{number}.md", size, 0, 0, 0) for number in range(files)]) is twice


def followed(index: RealIndex, on_event: Callable[[RunEvent], None], cancel: Cancellation | None = None) -> IndexReport:
    return index.engine().index(IndexRequest(), on_event, cancel=cancel)


def test_the_end_equals_an_index_made_in_one_pass(index: RealIndex, direct: Callable[[Path], RealIndex]) -> None:
    report, other = index.index(), direct(index.corpus)
    assert index.content() == other.content()
    assert index.answers() == other.answers()
    again = index.index()
    assert (again.indexed, again.unchanged) == (0, NOTES)
    one_pass = other.index(IndexRequest(force=True))
    assert (report.indexed, report.chunks_written) == (one_pass.indexed, one_pass.chunks_written)
    assert (report.chunks_embedded, report.tokens) == (one_pass.chunks_embedded, one_pass.tokens)
    assert report.corpus_tokens == one_pass.corpus_tokens


def test_the_seconds_of_folders_add_up_to_those_of_the_run(index: RealIndex, tmp_path: Path) -> None:
    folders = [Folder("notes", str(index.corpus))]
    for name in ("second", "third"):
        write_notes(tmp_path / name, 2)
        folders.append(Folder(name, str(tmp_path / name)))
    events: list[RunEvent] = []
    engine = IndexEngine(IndexerSettings(index.directory, tuple(folders)), index.embedder, index.chunker, open_writer)
    report = engine.index(IndexRequest(), events.append)
    assert any(isinstance(event, IndexProgress) and event.phase is IndexPhase.WORDS for event in events)
    seconds = [event.seconds for event in events if isinstance(event, FolderFinished)]
    assert len(seconds) == 3
    assert sum(seconds) <= report.seconds["total"]


@pytest.mark.usefixtures("one_after_the_other")
def test_a_search_during_the_run_finds_all_files_by_their_words(index: RealIndex) -> None:
    seen: list[tuple[IndexPhase | None, SearchAnswer]] = []
    with index.searcher() as searcher:

        def ask(event: RunEvent) -> None:
            if isinstance(event, IndexProgress):
                seen.append((event.phase, searcher.search(SearchRequest("token may be renewed", 100))))

        followed(index, ask)
        after = searcher.search(SearchRequest("token may be renewed", 100))
    assert (after.coverage.unembedded, after.coverage.pending) == (0, 0)
    words = [answer for phase, answer in seen if phase is IndexPhase.WORDS]
    vectors = [answer for phase, answer in seen if phase is IndexPhase.VECTORS]
    assert [answer.coverage.files for answer in words] == [6, 12, 18, NOTES]
    assert all(answer.coverage.files == NOTES for answer in vectors)
    for answer in (*words, *vectors[:-1]):
        assert answer.coverage.unembedded > 0
        assert answer.staleness.stale
    assert len({hit.path for hit in words[-1].hits}) == NOTES
    waiting = [answer.coverage.unembedded for answer in vectors]
    assert waiting == sorted(waiting, reverse=True)


@pytest.mark.usefixtures("one_after_the_other")
def test_documents_are_hidden_before_their_vectors_come(index: RealIndex) -> None:
    hidden: list[int] = []
    with index.searcher() as searcher:

        def ask(event: RunEvent) -> None:
            if isinstance(event, IndexProgress) and event.phase is IndexPhase.VECTORS:
                hidden.append(searcher.search(SearchRequest("note number", 100)).hidden.count)

        followed(index, ask)
    assert hidden
    assert set(hidden) == {(NOTES - 4) // 5}


@pytest.mark.usefixtures("one_after_the_other")
@pytest.mark.parametrize("commits", [1, 3, 7])
def test_an_interrupted_run_leaves_a_searchable_index_and_goes_on(
    index: RealIndex, direct: Callable[[Path], RealIndex], commits: int
) -> None:
    cancel, left = Cancellation(), iter(range(commits))

    def interrupt(event: RunEvent) -> None:
        if isinstance(event, IndexProgress) and next(left, None) is None:
            cancel.cancel()

    with pytest.raises(CancelledError):
        followed(index, interrupt, cancel)
    status = index.engine().status().coverage
    assert 0 < status.unembedded <= status.chunks
    assert status.unembedded == sum(index.unembedded().values())
    with index.searcher() as searcher:
        everything = Filters(all_statuses=True)
        answer = searcher.search(SearchRequest("token renewed", 100, SearchMode.LEXICAL, everything))
        assert len({hit.path for hit in answer.hits}) == answer.coverage.files == status.files
    index.index()
    other = direct(index.corpus)
    assert index.content() == other.content()
    assert index.answers() == other.answers()
    assert index.engine().status().coverage == other.engine().status().coverage


class OtherModel(FakeEmbedder):
    """Gives other vectors than the fake one, of the same size."""

    def __init__(self) -> None:
        super().__init__(info=replace(MODEL, revision="2"))

    def _vectors(self, sequences: Sequence[TokenIds], cancel: Cancellation | None) -> Vectors:
        return np.roll(super()._vectors(sequences, cancel), 1, axis=1)


@pytest.mark.usefixtures("one_after_the_other")
@pytest.mark.parametrize("store", [StoreChoice.LANCEDB, StoreChoice.SQLITE])
def test_another_model_is_refused_by_a_half_embedded_index_and_a_rebuild_holds_its_vectors_alone(
    tmp_path: Path, index: RealIndex, store: StoreChoice
) -> None:
    index.store, index.kept = store, tmp_path / "kept"
    cancel, left = Cancellation(), iter(range(7))

    def interrupt(event: RunEvent) -> None:
        if isinstance(event, IndexProgress) and next(left, None) is None:
            cancel.cancel()

    with pytest.raises(CancelledError):
        followed(index, interrupt, cancel)
    assert 0 < sum(index.unembedded().values()) < NOTES
    before = index.content()
    other = replace(index, embedder=OtherModel())
    with pytest.raises(IndexIncompatibleError, match="model"):
        other.index()
    with other.searcher() as searcher, pytest.raises(IndexIncompatibleError, match="model"):
        searcher.search(SearchRequest("token"))
    assert index.content() == before
    assert other.index(IndexRequest(rebuild=True)).chunks_embedded == NOTES
    fresh = RealIndex(tmp_path / "fresh", index.corpus, embedder=OtherModel(), store=store)
    fresh.index()
    assert other.content() == fresh.content()
    assert other.answers() == fresh.answers()


@pytest.mark.usefixtures("one_after_the_other")
@pytest.mark.parametrize("store", [StoreChoice.LANCEDB, StoreChoice.SQLITE])
def test_an_index_without_a_vector_yet_is_sound_and_goes_on_elsewhere(
    tmp_path: Path, index: RealIndex, direct: Callable[[Path], RealIndex], store: StoreChoice
) -> None:
    index.store = store
    cancel = Cancellation()
    with pytest.raises(CancelledError):
        followed(index, lambda event: cancel.cancel() if isinstance(event, IndexProgress) else None, cancel)
    waiting = index.engine().status().coverage
    assert waiting.unembedded == waiting.chunks > 0
    location = current_index(index.directory)
    assert table_damage(location.directory, location.manifest.store, None) == []
    other = RealIndex(tmp_path / "other", index.corpus, store=store)
    other.import_archive(index.export())
    assert other.engine().status().coverage.unembedded == waiting.unembedded
    other.index()
    assert other.unembedded() == {}
    assert other.content() == direct(index.corpus).content()


def test_what_does_not_fit_into_memory_is_looked_at_again(
    index: RealIndex, direct: Callable[[Path], RealIndex], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backlog, "REMEMBERED_BYTES", 3_000)
    gone = index.corpus / "note22.md"

    def vanish(event: RunEvent) -> None:
        if isinstance(event, IndexProgress) and event.phase is IndexPhase.VECTORS:
            gone.unlink(missing_ok=True)

    report = followed(index, vanish)
    assert (report.indexed, report.deleted) == (NOTES - 1, 1)
    other = direct(index.corpus)
    assert index.content() == other.content()
    assert index.answers() == other.answers()


def test_vectors_that_are_kept_need_no_second_pass(index: RealIndex, tmp_path: Path) -> None:
    first = RealIndex(tmp_path / "first", index.corpus, tmp_path / "kept")
    first.index()
    second = RealIndex(tmp_path / "second", index.corpus, tmp_path / "kept")
    seen: list[Coverage] = []

    def look(event: RunEvent) -> None:
        if isinstance(event, IndexProgress):
            seen.append(second.engine().status().coverage)

    report = followed(second, look)
    assert (report.chunks_embedded, second.embedder.embedded) == (0, 0)
    assert {coverage.unembedded for coverage in seen} == {0}
    assert second.content() == first.content()


def test_few_files_and_files_that_the_index_has_are_taken_in_once(index: RealIndex) -> None:
    index.index()
    phases: list[IndexPhase | None] = []

    def look(event: RunEvent) -> None:
        if isinstance(event, IndexProgress):
            phases.append(event.phase)

    for note in index.corpus.iterdir():
        note.write_text(note.read_text() + "\nMore.\n")
    followed(index, look)
    assert phases
    assert set(phases) == {None}
