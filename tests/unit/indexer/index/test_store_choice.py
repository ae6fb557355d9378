"""Which library keeps an index: asked for, or what there is; and an index that stays with what it has."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from everfind_core.errors import ConfigError, EverfindError, IndexIncompatibleError
from everfind_core.index import store_backends
from everfind_core.index.directory import current_index
from everfind_core.index.sqlite_schema import DATABASE
from everfind_core.index.store_backends import StoreBackend, StoreChoice, load_problem
from everfind_core.index.store_schema import TABLE_DIRECTORY
from everfind_core.model import IndexRequest
from tests.support.real_index import RealIndex, write_notes

NOTES = 6
REASON = "ImportError: version `GLIBC_2.35' not found"


@pytest.fixture
def index(tmp_path: Path) -> RealIndex:
    write_notes(tmp_path / "corpus", NOTES)
    return RealIndex(tmp_path, tmp_path / "corpus", tmp_path / "kept")


def kept_in(index: RealIndex, store: StoreChoice) -> RealIndex:
    return dataclasses.replace(index, store=store)


@pytest.fixture
def without_lance(monkeypatch: pytest.MonkeyPatch) -> None:
    for service in ("indexer", "searcher"):
        monkeypatch.setattr(f"everfind_{service}.store.load_problem", lambda _load: REASON)


def store_of(index: RealIndex) -> StoreBackend:
    location = current_index(index.directory)
    made = {TABLE_DIRECTORY: StoreBackend.LANCEDB, DATABASE: StoreBackend.SQLITE}
    found = [kind for name, kind in made.items() if (location.directory / name).exists()]
    assert found == [location.manifest.store]
    return location.manifest.store


def told(index: RealIndex) -> list[str]:
    return [warning for warning in index.index().warnings if "LanceDB" in warning]


def stores_told(index: RealIndex) -> list[str]:
    return [finding.message for finding in index.engine().status().findings if finding.check == "store"]


def test_lancedb_keeps_an_index_unless_another_is_asked_for(index: RealIndex) -> None:
    assert told(index) == []
    assert stores_told(index) == []
    assert store_of(index) is StoreBackend.LANCEDB


@pytest.mark.usefixtures("without_lance")
def test_where_lancedb_cannot_be_loaded_sqlite_keeps_it_and_that_is_said_once(index: RealIndex) -> None:
    [notice] = told(index)
    assert REASON in notice
    assert "kept in SQLite" in notice
    assert store_of(index) is StoreBackend.SQLITE
    assert told(index) == []
    assert stores_told(index) == ["chunks are kept in SQLite"]
    assert len(index.found()[0]) > 0
    assert told(kept_in(index, StoreChoice.SQLITE)) == []


def test_an_index_in_sqlite_stays_so_where_lancedb_can_be_loaded(index: RealIndex) -> None:
    kept_in(index, StoreChoice.SQLITE).index()
    before = index.found()
    assert index.index().unchanged == NOTES
    assert store_of(index) is StoreBackend.SQLITE
    report = index.index(IndexRequest(rebuild=True))
    assert (report.indexed, report.chunks_embedded) == (NOTES, 0)
    assert store_of(index) is StoreBackend.LANCEDB
    assert index.found() == before


def test_another_store_than_asked_for_is_refused_until_a_rebuild(index: RealIndex) -> None:
    index.index()
    other = kept_in(index, StoreChoice.SQLITE)
    with pytest.raises(IndexIncompatibleError, match="is kept in lancedb, store_backend asks for sqlite") as caught:
        other.index()
    assert "everfind index --rebuild" in caught.value.hint
    assert other.found() == index.found()
    other.index(IndexRequest(rebuild=True))
    assert store_of(other) is StoreBackend.SQLITE


@pytest.mark.usefixtures("without_lance")
def test_lancedb_that_is_asked_for_and_cannot_be_loaded_is_refused(index: RealIndex) -> None:
    with pytest.raises(ConfigError, match="store_backend is lancedb, which cannot be loaded here") as caught:
        kept_in(index, StoreChoice.LANCEDB).index()
    assert REASON in caught.value.message
    assert not (index.directory / "current.json").exists()


def test_an_index_of_a_library_that_cannot_be_loaded_any_more_says_the_way_out(
    index: RealIndex, request: pytest.FixtureRequest
) -> None:
    index.index()
    archive = index.export()
    before = index.found()
    request.getfixturevalue("without_lance")
    for ask in (index.index, index.found, index.export, index.repair):
        with pytest.raises(IndexIncompatibleError, match="kept in LanceDB, which cannot be loaded here") as caught:
            ask()
        assert "everfind index --rebuild" in caught.value.hint
    with pytest.raises(IndexIncompatibleError, match="holds an index that is kept in LanceDB"):
        index.import_archive(archive, overwrite=True)
    report = index.index(IndexRequest(rebuild=True))
    assert report.chunks_embedded == 0
    assert store_of(index) is StoreBackend.SQLITE
    assert index.found() == before


def test_an_archive_of_an_index_in_sqlite_is_imported_as_one(index: RealIndex, tmp_path: Path) -> None:
    one = kept_in(index, StoreChoice.SQLITE)
    one.index()
    archive = one.export()
    other = RealIndex(tmp_path / "other", index.corpus)
    with pytest.raises(IndexIncompatibleError, match="store_backend asks for lancedb"):
        kept_in(other, StoreChoice.LANCEDB).import_archive(archive)
    other.import_archive(archive)
    assert store_of(other) is StoreBackend.SQLITE
    assert other.content() == one.content()
    assert other.found() == one.found()
    report = other.index()
    assert (report.indexed, report.unchanged, report.chunks_embedded) == (0, NOTES, 0)


def test_a_manifest_of_before_is_of_lancedb_and_one_of_an_unknown_store_is_damage(index: RealIndex) -> None:
    index.index()
    manifest = current_index(index.directory).directory / "manifest.json"
    told = json.loads(manifest.read_text())
    assert told.pop("store") == "lancedb"
    manifest.write_text(json.dumps(told))
    assert store_of(index) is StoreBackend.LANCEDB
    manifest.write_text(json.dumps(told | {"store": "papyrus"}))
    with pytest.raises(EverfindError):
        current_index(index.directory)


# --- can it be loaded? ------------------------------------------------------------------------------------------------


def test_what_loading_raises_is_told_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise AttributeError("module 'pyarrow' has no attribute 'x'\nand more")

    monkeypatch.setattr(store_backends, "_lacking", lambda: "")
    assert load_problem(fail) == "AttributeError: module 'pyarrow' has no attribute 'x'"
    assert load_problem(lambda: None) == ""


@pytest.mark.parametrize(
    ("machine", "flags", "lacking"),
    [
        ("x86_64", "fpu sse4_2 avx f16c", "AVX2"),
        ("x86_64", "fpu avx avx2 fma f16c bmi1 bmi2 movbe", "ABM"),
        ("x86_64", "fpu avx avx2 fma f16c bmi1 bmi2 abm movbe avx512f", ""),
        ("aarch64", "fp asimd", ""),
    ],
)
def test_a_library_is_not_loaded_where_it_would_kill_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, machine: str, flags: str, lacking: str
) -> None:
    processors = tmp_path / "cpuinfo"
    processors.write_text(f"processor\t: 0\nvendor_id\t: Some\nflags\t\t: {flags}\n\nprocessor\t: 1\n")
    monkeypatch.setattr(store_backends, "_PROCESSORS", processors)
    monkeypatch.setattr("platform.machine", lambda: machine)
    loaded: list[bool] = []
    expected = f"the processor has no {lacking}" if lacking else ""
    assert load_problem(lambda: loaded.append(True)) == expected
    assert loaded == ([] if lacking else [True])
    monkeypatch.setattr(store_backends, "_PROCESSORS", tmp_path / "absent")
    assert load_problem(lambda: None) == ""
