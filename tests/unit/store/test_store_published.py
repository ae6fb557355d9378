"""An index published on an object store: searchers there answer what it answers, generation by generation."""

from __future__ import annotations

import contextlib
import errno
import json
import shutil
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from everfind_core.answers.json_form import search_json
from everfind_core.chunking import TextChunker
from everfind_core.errors import (
    ConfigError,
    IndexDamagedError,
    IndexIncompatibleError,
    IndexMissingError,
    StorageError,
    StorageFullError,
)
from everfind_core.index.names import MANIFEST
from everfind_core.index.object_place import ObjectPlace
from everfind_core.index.published import PUBLISHED
from everfind_core.index.store_backends import StoreChoice
from everfind_core.index.vector_types import VectorType
from everfind_core.model import Folder, IndexRequest, SearchMode, SearchRequest
from everfind_core.ports import ChunkReader
from everfind_indexer.engine import IndexEngine
from everfind_indexer.index import publishing
from everfind_indexer.settings import IndexerSettings
from everfind_indexer.store import open_writer
from everfind_rpc.objects import Objects
from everfind_searcher.engine import SearchEngine
from everfind_searcher.published import PublishedIndex
from everfind_searcher.settings import SearcherSettings
from everfind_searcher.status import index_status
from everfind_searcher.store import open_reader
from tests.support.fakes import FakeEmbedder
from tests.support.object_store import BUCKET, ENVIRONMENT, object_store
from tests.support.real_index import QUESTIONS, write_notes

pytestmark = pytest.mark.slow

NEVER = 1e6
"""Seconds between two looks at the place: tests look themselves."""


@pytest.fixture(scope="module")
def store() -> Iterator[Any]:
    with pytest.MonkeyPatch.context() as patch, object_store(patch) as client:
        yield client


@dataclass(eq=False)
class Publishing:
    """An index in ``base`` that is published at a place of its own."""

    base: Path
    client: Any
    place: ObjectPlace
    vector_type: VectorType = VectorType.HALF

    def engine(self) -> IndexEngine:
        folder = Folder("notes", str(self.base / "notes"))
        settings = IndexerSettings(self.base / "index", (folder,), publish=self.place, vector_type=self.vector_type)
        return IndexEngine(settings, FakeEmbedder(), TextChunker(), open_writer)

    def index(self, request: IndexRequest | None = None) -> int:
        return self.engine().index(request or IndexRequest(), lambda _event: None).generation

    def write(self, name: str, text: str) -> None:
        (self.base / "notes" / name).write_text(text, encoding="utf-8")

    def names(self) -> set[str]:
        found = self.client.list_objects_v2(Bucket=self.place.bucket, Prefix=f"{self.place.prefix}/")
        return {one["Key"].removeprefix(f"{self.place.prefix}/") for one in found.get("Contents", ())}

    def pointer(self) -> dict[str, Any]:
        got = self.client.get_object(Bucket=self.place.bucket, Key=self.place.key(PUBLISHED))
        return dict(json.loads(got["Body"].read()))

    def put_pointer(self, content: bytes) -> None:
        self.client.put_object(Bucket=self.place.bucket, Key=self.place.key(PUBLISHED), Body=content)

    @contextlib.contextmanager
    def searcher(self, *, local: bool = False, resident_bytes: int = 0) -> Iterator[Searching]:
        with contextlib.closing(PublishedIndex(self.place, NEVER)) as published:
            if local:
                settings = SearcherSettings(self.base / "index")
            else:
                settings = SearcherSettings(published.directory, published=published)
            opened: list[Path] = []

            def opener(directory: Path) -> ChunkReader:
                opened.append(directory)
                return open_reader(directory, resident_bytes)

            engine = SearchEngine(settings, FakeEmbedder(), self.engine(), opener)
            with contextlib.closing(engine):
                yield Searching(engine, published, settings, opened)


@dataclass(frozen=True)
class Searching:
    engine: SearchEngine
    published: PublishedIndex
    settings: SearcherSettings
    opened: list[Path]

    def answers(self) -> list[Any]:
        return [
            search_json(self.engine.search(SearchRequest(text, 50, mode, explain=True, min_score=-1.0)))
            for text in QUESTIONS[:2]
            for mode in SearchMode
        ]

    def paths(self, text: str) -> list[str]:
        answer = self.engine.search(SearchRequest(text, mode=SearchMode.LEXICAL))
        return [hit.path for hit in answer.hits]


@pytest.fixture
def publishing_(store: Any, tmp_path: Path, request: pytest.FixtureRequest) -> Publishing:
    write_notes(tmp_path / "notes", 8)
    return Publishing(tmp_path, store, ObjectPlace(BUCKET, f"team/{abs(hash(request.node.name))}"))


def recorded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the objects that are sent from now on."""
    sent: list[str] = []
    upload = Objects.upload

    def recording(self: Objects, name: str, file: Path) -> None:
        sent.append(name)
        upload(self, name, file)

    monkeypatch.setattr(Objects, "upload", recording)
    return sent


@pytest.mark.parametrize("resident_bytes", [0, 1 << 28])
@pytest.mark.parametrize("vector_type", VectorType)
def test_a_searcher_of_the_published_index_answers_what_one_of_the_index_answers(
    publishing_: Publishing, vector_type: VectorType, resident_bytes: int
) -> None:
    publishing_ = replace(publishing_, vector_type=vector_type)
    publishing_.index()
    assert publishing_.pointer()["sidecars"][MANIFEST]["recipe"]["vector_type"] == vector_type
    with (
        publishing_.searcher(local=True) as local,
        publishing_.searcher(resident_bytes=resident_bytes) as one,
        publishing_.searcher() as another,
    ):
        expected = local.answers()
        assert one.answers() == expected
        assert one.answers() == expected  # rows are in memory by now, where they may be
        assert another.answers() == expected
        here, there = (index_status(each.settings, open_reader) for each in (local, one))
        assert replace(there, index_directory="") == replace(here, index_directory="")
        assert there.index_directory == str(publishing_.place)


def test_a_new_generation_is_seen_whole_and_only_what_is_new_is_sent(
    publishing_: Publishing, monkeypatch: pytest.MonkeyPatch
) -> None:
    publishing_.index()
    sent = recorded(monkeypatch)
    with publishing_.searcher() as searching:
        assert not searching.paths("quagga")
        before = publishing_.names()
        publishing_.write("note01.md", "# A quagga\n\nIt is no zebra.\n")
        generation = publishing_.index()
        assert not searching.paths("quagga")
        searching.published.refresh()
        assert searching.paths("quagga") == ["note01.md"]
        assert searching.engine.search(SearchRequest("quagga")).generation == generation
        assert len(searching.opened) == 1  # what is in memory stays there
        assert before <= publishing_.names()  # what the old one needs stays for its readers
        assert not before & set(sent)


def test_an_index_that_was_put_back_from_a_copy_is_published_as_it_is_now(publishing_: Publishing) -> None:
    publishing_.index()
    directory, copy = publishing_.base / "index", publishing_.base / "copy"
    shutil.copytree(directory, copy)
    publishing_.write("note01.md", "# Quagga\n\nA quagga of some kind.\n")
    version = publishing_.index()
    shutil.rmtree(directory)
    copy.rename(directory)
    publishing_.write("note01.md", "# Okapii\n\nA okapii of some kind.\n")
    assert publishing_.index() == version
    with publishing_.searcher() as there, publishing_.searcher(local=True) as here:
        assert there.paths("okapii") == ["note01.md"]
        assert there.answers() == here.answers()


def test_what_a_generation_does_without_goes_when_no_reader_can_be_at_it(
    publishing_: Publishing, monkeypatch: pytest.MonkeyPatch
) -> None:
    publishing_.index()
    before = publishing_.names()
    publishing_.client.put_object(Bucket=BUCKET, Key=publishing_.place.key("indexes/of somebody else"), Body=b"x")
    publishing_.index(IndexRequest(rebuild=True))
    assert before <= publishing_.names()
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 601)
    publishing_.index()
    gone = before - publishing_.names()
    assert gone == {key for key in before if "-000001/" in key}
    assert "indexes/of somebody else" in publishing_.names()
    with publishing_.searcher(local=True) as local, publishing_.searcher() as there:
        assert there.answers() == local.answers()


def test_a_purged_folder_is_gone_at_once_and_readers_go_on(publishing_: Publishing) -> None:
    publishing_.index()
    with publishing_.searcher() as searching:
        assert searching.paths("note number")
        publishing_.engine().forget_folder("notes", purge=True)
        assert not publishing_.pointer()["unused"]
        assert not searching.paths("note number")


def test_a_run_that_changes_nothing_sends_no_file(publishing_: Publishing, monkeypatch: pytest.MonkeyPatch) -> None:
    publishing_.index()
    sent = recorded(monkeypatch)
    before = publishing_.pointer()
    publishing_.index()
    after = publishing_.pointer()
    assert not sent
    assert (after["index"], after["version"]) == (before["index"], before["version"])
    assert after["sidecars"]["coverage.json"]["indexed_at"] > before["sidecars"]["coverage.json"]["indexed_at"]


def test_another_index_directory_is_refused_before_it_embeds_anything(publishing_: Publishing, tmp_path: Path) -> None:
    publishing_.index()
    write_notes(tmp_path / "other" / "notes", 2)
    other = replace(publishing_, base=tmp_path / "other")
    with pytest.raises(StorageError, match="another index is published at s3://") as refused:
        other.index()
    assert "published.json" in refused.value.hint
    assert not (tmp_path / "other" / "index" / "current.json").exists()


def test_of_two_that_publish_at_once_one_is_refused(publishing_: Publishing, monkeypatch: pytest.MonkeyPatch) -> None:
    publishing_.index()
    publishing_.write("note01.md", "# Okapi\n")
    send = publishing.Publisher._send

    def overtaken(self: publishing.Publisher, *arguments: Any) -> None:
        send(self, *arguments)
        publishing_.put_pointer(json.dumps(publishing_.pointer() | {"at": 1.0}).encode())

    monkeypatch.setattr(publishing.Publisher, "_send", overtaken)
    with pytest.raises(StorageError, match="another process publishes at"):
        publishing_.index()
    monkeypatch.undo()
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    publishing_.index()
    with publishing_.searcher() as searching:
        assert searching.paths("okapi") == ["note01.md"]


def test_searchers_go_on_while_generations_come(publishing_: Publishing) -> None:
    publishing_.index()
    ended = threading.Event()
    seen: list[list[int]] = [[], []]
    wrong: list[object] = []

    def ask(own: list[int]) -> None:
        with publishing_.searcher(resident_bytes=1 << 28) as searching:
            while not ended.is_set() or not own:
                searching.published.refresh() if own else searching.published.check()
                answer = searching.engine.search(SearchRequest("kudu", mode=SearchMode.LEXICAL, min_score=-1.0))
                own.append(answer.generation)
                wrong.extend(hit.text for hit in answer.hits if hit.text.count("kudu") != 2)

    threads = [threading.Thread(target=ask, args=(own,)) for own in seen]
    for thread in threads:
        thread.start()
    last = 0
    for turn in range(3):
        publishing_.write("herd.md", f"# A kudu of turn {turn}\n\nThe kudu.\n")
        last = publishing_.index()
    with publishing_.searcher() as searching:
        assert searching.engine.search(SearchRequest("kudu")).generation == last
    ended.set()
    for thread in threads:
        thread.join()
    assert not wrong
    assert all(own == sorted(own) and own for own in seen)


def test_an_index_in_sqlite_is_not_published(publishing_: Publishing) -> None:
    kept = IndexerSettings(
        publishing_.base / "index",
        (Folder("notes", str(publishing_.base / "notes")),),
        publish=publishing_.place,
        store=StoreChoice.SQLITE,
    )
    engine = IndexEngine(kept, FakeEmbedder(), TextChunker(), open_writer)
    with pytest.raises(StorageError, match="kept in SQLite, and only one in LanceDB can be published"):
        engine.index(IndexRequest(), lambda _event: None)
    assert not publishing_.names()
    publishing_.index(IndexRequest(rebuild=True))
    with publishing_.searcher() as searching:
        assert searching.paths("note number")


def test_nothing_published_is_told_and_then_found(publishing_: Publishing) -> None:
    with publishing_.searcher() as searching:
        with pytest.raises(IndexMissingError, match="no index is published at s3://"):
            searching.engine.search(SearchRequest("x"))
        publishing_.index()
        assert searching.paths("note number")


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (b"{", IndexDamagedError),
        (b"[]", IndexDamagedError),
        (b'{"format":1,"publisher":"../x","index":"1","version":1,"sidecars":{}}', IndexDamagedError),
        (b'{"format":2}', IndexIncompatibleError),
    ],
)  # fmt: skip
def test_a_pointer_that_cannot_be_read_is_damage(
    publishing_: Publishing, content: bytes, error: type[Exception]
) -> None:
    publishing_.put_pointer(content)
    with publishing_.searcher() as searching, pytest.raises(error, match="s3://"):
        searching.engine.search(SearchRequest("x"))
    with pytest.raises(error, match="s3://"):
        publishing_.index()


class Killed(BaseException):
    """The end of a process, as far as one can play it in this one."""


@pytest.mark.parametrize("step", ["upload", "write", "remove"])
def test_a_publisher_that_is_killed_leaves_the_generation_before_and_the_next_run_ends_it(
    publishing_: Publishing, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    publishing_.index()
    with publishing_.searcher() as searching, publishing_.searcher(local=True) as local:
        before = searching.answers()
        publishing_.write("note01.md", "# Quagga\n\nA quagga of some kind.\n")
        killed = 0
        for after in range(50):  # each place in the middle, until there is none left
            calls, real = iter(range(after)), getattr(Objects, step)

            def dying(self: Objects, *arguments: Any, calls: Any = calls, real: Any = real, **more: Any) -> Any:
                if next(calls, None) is None:
                    raise Killed
                return real(self, *arguments, **more)

            with monkeypatch.context() as patch:
                patch.setattr(Objects, step, dying)
                try:
                    publishing_.index()
                except Killed:
                    killed += 1
                else:
                    break
            searching.published.refresh()
            if step != "remove":
                assert searching.answers() == before
        assert killed
        publishing_.index()
        searching.published.refresh()
        assert searching.paths("quagga") == ["note01.md"]
        assert searching.answers() == local.answers()


def test_a_searcher_that_may_not_read_any_more_says_so_and_not_that_there_is_damage(
    publishing_: Publishing, monkeypatch: pytest.MonkeyPatch
) -> None:
    publishing_.index()
    question = SearchRequest("note number", mode=SearchMode.LEXICAL)
    with publishing_.searcher() as searching:
        assert searching.engine.search(question).hits
        with monkeypatch.context() as patch:
            patch.setattr("moto.settings.INITIAL_NO_AUTH_ACTION_COUNT", 0.0)
            with pytest.raises(ConfigError, match="the credentials are refused for s3://a-team"):
                searching.engine.search(replace(question, query="word7 that is in no cache"))
        assert searching.engine.search(question).hits


def test_a_full_scratch_disk_is_told_and_the_next_look_goes_on(
    publishing_: Publishing, monkeypatch: pytest.MonkeyPatch
) -> None:
    publishing_.index()

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with publishing_.searcher() as searching:
        with monkeypatch.context() as patch:
            patch.setattr(Path, "mkdir", full)
            with pytest.raises(StorageFullError, match="no space left"):
                searching.engine.search(SearchRequest("x"))
        assert searching.paths("note number")


def test_a_file_of_the_table_that_is_gone_is_told_as_such(publishing_: Publishing) -> None:
    publishing_.index()
    for key in publishing_.names():
        if "/data/" in key:
            publishing_.client.delete_object(Bucket=BUCKET, Key=publishing_.place.key(key))
    with publishing_.searcher() as searching, pytest.raises(IndexDamagedError, match="published index cannot be read"):
        searching.engine.search(SearchRequest("word7", mode=SearchMode.SEMANTIC, min_score=-1.0))


def test_a_place_that_cannot_be_used_ends_a_run_before_it_begins(publishing_: Publishing) -> None:
    lost = replace(publishing_, place=ObjectPlace("no-such-bucket", "x"))
    with pytest.raises(ConfigError, match="there is no bucket 'no-such-bucket'"):
        lost.index()
    assert not (publishing_.base / "index" / "current.json").exists()
