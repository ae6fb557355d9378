"""The engine over real stores that change, and are exchanged, between and under its queries."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from everfind_core.errors import FileNotIndexableError, IndexDamagedError, IndexMissingError
from everfind_core.index.directory import (
    GENERATIONS_PER_INDEX,
    FolderCoverage,
    IndexCoverage,
    IndexLocation,
    create_index,
    make_current,
)
from everfind_core.index.manifest import Manifest, Recipe
from everfind_core.model import (
    Coverage,
    FileRef,
    FileText,
    Folder,
    GatherRequest,
    InputKind,
    ReadFileRequest,
    SearchAnswer,
    SearchMode,
    SearchRequest,
)
from everfind_core.ports import ChunkReader, FileChunks, StoredChunk
from everfind_core.text.lexical import REVISION as LEXICAL_REVISION
from everfind_core.text.lexical import document_terms
from everfind_core.text.secrets import REVISION as SECRETS_REVISION
from everfind_indexer.store import open_writer
from everfind_searcher.engine import SearchEngine
from everfind_searcher.settings import SearcherSettings
from everfind_searcher.store import open_reader
from tests.support.fakes import DIMENSIONS, MODEL, FakeEmbedder

RECIPE = Recipe(MODEL.identity, "1", LEXICAL_REVISION, "1", SECRETS_REVISION)
ROOT = "/home/x/notes"


def put(location: IndexLocation, texts: Mapping[str, str]) -> None:
    """Replace files of one chunk each in an index."""
    writer = open_writer(location.directory, DIMENSIONS)
    files = [FileRef("notes", path) for path in texts]
    vectors = FakeEmbedder().embed(list(texts.values()), InputKind.DOCUMENT)
    writer.replace(
        [
            FileChunks(ref, (StoredChunk(ref.path, ref, 0, 3, 4, text, terms, text, text, 5, vector=vector),))
            for ref, text, vector in zip(files, texts.values(), vectors, strict=True)
            for terms in [document_terms(text, path=ref.path)]
        ]
    )
    writer.close()


def publish(directory: Path, texts: Mapping[str, str]) -> IndexLocation:
    """A new index of these files that answers from now on."""
    location = create_index(directory, Manifest(RECIPE, MODEL, created=0.0, everfind_version="0"))
    location.write_coverage(IndexCoverage((FolderCoverage(Folder("notes", ROOT), Coverage(files=len(texts))),)))
    put(location, texts)
    make_current(directory, location)
    return location


@dataclass
class Source:
    """A source reader that gives ``answer``, or refuses where there is none."""

    answer: FileText | None = None
    asked: list[ReadFileRequest] = field(default_factory=list)

    def read_file(self, request: ReadFileRequest) -> FileText:
        self.asked.append(request)
        if self.answer is None:
            raise FileNotIndexableError("gone")
        return self.answer


Start = Callable[..., SearchEngine]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Opens engines over ``tmp_path``, and closes them."""
    opened: list[SearchEngine] = []

    def engine(source: Source | None = None, opener: Callable[[Path], ChunkReader] = open_reader) -> SearchEngine:
        opened.append(SearchEngine(SearcherSettings(tmp_path), FakeEmbedder(), source or Source(), opener))
        return opened[-1]

    yield engine
    for one in opened:
        one.close()


def paths(answer: SearchAnswer) -> list[str]:
    return [hit.path for hit in answer.hits]


def test_an_index_that_takes_over_answers_the_next_query(tmp_path: Path, start: Start) -> None:
    old = publish(tmp_path, {"a.md": "apple tree"})
    engine = start()
    before = engine.search(SearchRequest("apple"))
    assert paths(before) == ["a.md"]
    new = publish(tmp_path, {"b.md": "apple pie", "c.md": "apple juice"})
    after = engine.search(SearchRequest("apple"))
    assert sorted(paths(after)) == ["b.md", "c.md"]
    assert before.generation < GENERATIONS_PER_INDEX <= after.generation  # nobody said what it follows
    assert (before.coverage.files, after.coverage.files) == (1, 2)
    assert new.directory != old.directory


def test_a_quoted_phrase_is_found_wherever_it_stands(tmp_path: Path, start: Start) -> None:
    """Also where hundreds of chunks have its words, and more often."""
    common = {f"{n:03}.md": f"window window token token refresh window refresh token {n}" for n in range(450)}
    rare = {f"z{n}.md": f"{'long and dull ' * 20}, a refresh token window {n}" for n in range(3)}
    publish(tmp_path, {**common, **rare})
    engine = start()
    for quoted, first in (("a refresh token window", [*rare]), ("refresh token 7", ["007.md"])):
        hits = engine.search(SearchRequest(f'"{quoted}" window', limit=len(first))).hits
        assert sorted(hit.path for hit in hits) == first
        assert all(hit.provenance.exact for hit in hits)
    by_words = SearchRequest('"a refresh token window"', mode=SearchMode.LEXICAL, limit=100)
    pages = [engine.search(by_words)]
    while cursor := pages[-1].next_cursor:
        pages.append(engine.search(replace(by_words, cursor=cursor)))
    assert rare.keys() <= {hit.path for page in pages for hit in page.hits}


def test_an_index_is_opened_once_while_it_answers(tmp_path: Path, start: Start) -> None:
    publish(tmp_path, {"a.md": "apple tree"})
    opened: list[Path] = []

    def opener(directory: Path) -> ChunkReader:
        opened.append(directory)
        return open_reader(directory)

    engine = start(opener=opener)
    for _ in range(3):
        engine.search(SearchRequest("apple"))
    new = publish(tmp_path, {"b.md": "apple pie"})
    for _ in range(3):
        engine.search(SearchRequest("apple"))
    assert [directory.name for directory in opened] == ["000001", new.directory.name]


def test_an_index_that_is_put_in_the_place_of_another_under_its_name_is_opened(tmp_path: Path, start: Start) -> None:
    publish(tmp_path, {"a.md": "apple tree"})
    shutil.copytree(tmp_path / "indexes", tmp_path / "copy")
    opened: list[Path] = []

    def opener(directory: Path) -> ChunkReader:
        opened.append(directory)
        return open_reader(directory)

    engine = start(opener=opener)
    engine.search(SearchRequest("apple"))
    (tmp_path / "indexes").rename(tmp_path / "before")
    (tmp_path / "copy").rename(tmp_path / "indexes")
    assert paths(engine.search(SearchRequest("apple"))) == ["a.md"]
    assert len(opened) == 2


@pytest.mark.parametrize("mode", SearchMode)
def test_a_query_whose_index_goes_away_under_it_is_asked_of_the_next(
    tmp_path: Path, start: Start, mode: SearchMode
) -> None:
    old = publish(tmp_path, {"a.md": "apple tree"})
    asked: list[Path] = []

    def opener(directory: Path) -> ChunkReader:
        reader = open_reader(directory)
        if not asked:  # a rebuild ends, and the indexer removes the old index, before the query reads a row
            publish(tmp_path, {"b.md": "apple pie"})
            shutil.rmtree(old.directory)
        asked.append(directory)
        return reader

    assert paths(start(opener=opener).search(SearchRequest("apple", mode=mode))) == ["b.md"]
    assert [directory.name for directory in asked] == ["000001", "000002"]


def test_an_index_that_stays_damaged_is_said_to_be(tmp_path: Path, start: Start) -> None:
    location = publish(tmp_path, {"a.md": "apple tree"})
    engine = start()
    for data in location.directory.rglob("*.lance"):
        if data.is_file():
            data.unlink()
    with pytest.raises(IndexDamagedError, match="damaged"):
        engine.search(SearchRequest("apple"))


def test_without_an_index_there_is_none(start: Start) -> None:
    with pytest.raises(IndexMissingError):
        start().search(SearchRequest("apple"))


def test_a_page_after_the_index_changed_says_so(tmp_path: Path, start: Start) -> None:
    location = publish(tmp_path, {f"{n}.md": f"apple number {n}" for n in range(4)})
    engine = start()
    first = engine.search(SearchRequest("apple", limit=2))
    same = engine.search(SearchRequest("apple", limit=2, cursor=first.next_cursor))
    assert same.warnings == ()
    put(location, {"5.md": "apple number 5"})
    moved = engine.search(SearchRequest("apple", limit=2, cursor=first.next_cursor))
    assert moved.warnings == ("the index changed since the page before: hits may repeat or be missing",)
    assert moved.generation > first.generation
    publish(tmp_path, {f"{n}.md": f"apple number {n}" for n in range(4)})
    again = engine.search(SearchRequest("apple", limit=2, cursor=first.next_cursor))
    assert again.warnings == moved.warnings


def test_gather_shows_what_was_indexed_of_a_file_that_changed(tmp_path: Path, start: Start) -> None:
    publish(tmp_path, {"a.md": "apple\ntree"})
    changed = FileText(FileRef("notes", "a.md"), f"{ROOT}/a.md", 1, 6, 6, "other\nlines", indexed=False)
    for source in (Source(), Source(changed)):
        gathered = start(source).gather(GatherRequest(SearchRequest("apple"), context_lines=2))
        [passage] = gathered.passages
        assert (passage.text, passage.start_line, passage.end_line) == ("apple\ntree", 3, 4)
        assert passage.changed
        assert "changed since it was indexed\n```\napple\ntree\n```" in gathered.markdown
        assert source.asked == [ReadFileRequest("notes", "a.md", 1, 6)]


def test_gather_reads_around_a_hit_of_a_file_that_is_as_indexed(tmp_path: Path, start: Start) -> None:
    publish(tmp_path, {"a.md": "apple\ntree"})
    around = FileText(FileRef("notes", "a.md"), f"{ROOT}/a.md", 2, 5, 9, "one\napple\ntree\ntwo")
    [passage] = start(Source(around)).gather(GatherRequest(SearchRequest("apple"), context_lines=1)).passages
    assert (passage.text, passage.start_line, passage.end_line) == ("one\napple\ntree\ntwo", 2, 5)
    assert not passage.changed
    source = Source()
    [passage] = start(source).gather(GatherRequest(SearchRequest("apple"))).passages
    assert (passage.text, source.asked) == ("apple\ntree", [])
