from __future__ import annotations

import errno
import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from everfind_core.errors import (
    IndexDamagedError,
    IndexIncompatibleError,
    IndexMissingError,
    StorageError,
    StorageFullError,
)
from everfind_core.index import manifest as manifest_module
from everfind_core.index.directory import (
    GENERATIONS_PER_INDEX,
    FolderCoverage,
    IndexCoverage,
    check_place,
    check_writable,
    create_index,
    current_index,
    make_current,
)
from everfind_core.index.json_files import storage_error, write_json
from everfind_core.index.manifest import FORMAT, Manifest, Recipe, is_upgrade, needed_format
from everfind_core.index.store_backends import StoreBackend
from everfind_core.index.vector_types import VectorType
from everfind_core.model import Coverage, Folder, ModelInfo

MODEL = ModelInfo("m", "r", 384, 256, "mean")
MANIFEST = Manifest(Recipe("m@r", "lines-1 x", "1", "1", "1"), MODEL, 12.5, "0.1.0")


def test_an_index_answers_once_it_is_made_current(tmp_path: Path) -> None:
    with pytest.raises(IndexMissingError):
        current_index(tmp_path / "absent")
    first = create_index(tmp_path, MANIFEST)
    with pytest.raises(IndexMissingError):
        current_index(tmp_path)
    make_current(tmp_path, first)
    found = current_index(tmp_path)
    assert found.directory == first.directory
    assert found.manifest == MANIFEST


def test_generations_grow_over_rebuilds(tmp_path: Path) -> None:
    first, second = create_index(tmp_path, MANIFEST), create_index(tmp_path, MANIFEST)
    assert first.generation_base == 0
    assert second.generation_base == GENERATIONS_PER_INDEX
    assert second.counting_from(7).generation_base == 7
    make_current(tmp_path, second)
    assert current_index(tmp_path).generation_base == 7


def test_coverage_round_trips_and_sums_up(tmp_path: Path) -> None:
    index = create_index(tmp_path, MANIFEST)
    assert index.read_coverage() == IndexCoverage()
    coverage = IndexCoverage(
        (
            FolderCoverage(Folder("a", "/x/a"), Coverage(3, 9, {"binary": 1, "link": 2}, 1), 4),
            FolderCoverage(Folder("b", "/x/b", ("*.py",)), Coverage(1, 2, {"binary": 5}, 0)),
        ),
        99.5,
    )
    index.write_coverage(coverage)
    assert index.read_coverage() == coverage
    assert coverage.total() == Coverage(4, 11, {"binary": 6, "link": 2}, 1)
    assert coverage.total(("b",)) == Coverage(1, 2, {"binary": 5}, 0)
    assert coverage.roots() == {"a": "/x/a", "b": "/x/b"}


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"format": 1}', '{"index": 7}', '{"index": "../../etc"}', "\x00\xff"]
)
def test_a_damaged_pointer_is_named(tmp_path: Path, content: str) -> None:
    make_current(tmp_path, create_index(tmp_path, MANIFEST))
    (tmp_path / "current.json").write_text(content, encoding="latin-1")
    with pytest.raises(IndexDamagedError, match=r"current\.json|manifest\.json") as caught:
        current_index(tmp_path)
    assert "doctor --repair" in caught.value.hint


@pytest.mark.parametrize("content", ["", "{}", '{"format": 1, "recipe": {}, "model": {}}', "nonsense"])
def test_a_damaged_manifest_is_named(tmp_path: Path, content: str) -> None:
    index = create_index(tmp_path, MANIFEST)
    make_current(tmp_path, index)
    (index.directory / "manifest.json").write_text(content)
    with pytest.raises(IndexDamagedError, match=r"manifest\.json"):
        current_index(tmp_path)


def test_a_newer_format_is_refused_and_not_taken_for_damage(tmp_path: Path) -> None:
    """Whatever else stands in it: kinds that this everfind does not know."""
    index = create_index(tmp_path, MANIFEST)
    make_current(tmp_path, index)
    path = index.directory / "manifest.json"
    found = json.loads(path.read_text())
    found |= {"format": FORMAT + 1, "store": "clay", "recipe": found["recipe"] | {"vector_type": "ternary"}}
    path.write_text(json.dumps(found))
    with pytest.raises(IndexIncompatibleError, match=f"format {FORMAT + 1}") as refused:
        current_index(tmp_path)
    assert "newer" in refused.value.hint


@pytest.mark.parametrize("store", StoreBackend)
@pytest.mark.parametrize("vector_type", VectorType)
def test_an_everfind_that_knows_all_of_an_index_reads_it_and_an_older_one_refuses_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, vector_type: VectorType, store: StoreBackend
) -> None:
    recipe = replace(MANIFEST.recipe, vector_type=vector_type)
    made = Manifest.new(recipe, MODEL, store)
    make_current(tmp_path, create_index(tmp_path, made))
    assert made.format == needed_format(recipe, store) == {VectorType.HALF: 1, VectorType.INT8: 2}[vector_type]
    for known in range(FORMAT + 1):
        monkeypatch.setattr(manifest_module, "FORMAT", known)
        if known < made.format:
            with pytest.raises(IndexIncompatibleError, match=f"format {made.format}; .* up to format {known}"):
                current_index(tmp_path)
        else:
            assert current_index(tmp_path).manifest == made


def test_an_index_that_says_less_than_it_needs_is_made_anew() -> None:
    recipe = replace(MANIFEST.recipe, vector_type=VectorType.INT8)
    made = Manifest.new(recipe, MODEL, StoreBackend.LANCEDB)
    assert not is_upgrade(made, recipe, Path("x"))
    assert is_upgrade(replace(made, format=1), recipe, Path("x"))


@pytest.mark.parametrize("content", ['{"folders": [{}], "indexed_at": 0}', "[" * 100_000], ids=["empty", "deep"])
def test_damaged_coverage_is_named(tmp_path: Path, content: str) -> None:
    index = create_index(tmp_path, MANIFEST)
    (index.directory / "coverage.json").write_text(content)
    with pytest.raises(IndexDamagedError, match=r"coverage\.json"):
        index.read_coverage()


def test_a_file_is_replaced_whole_and_leaves_nothing_beside(tmp_path: Path) -> None:
    write_json(tmp_path / "x.json", {"a": 1})
    write_json(tmp_path / "x.json", {"a": 2})
    assert json.loads((tmp_path / "x.json").read_text()) == {"a": 2}
    assert [p.name for p in tmp_path.iterdir()] == ["x.json"]


def test_an_unwritable_place_is_a_storage_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="file"):
        create_index(tmp_path / "file", MANIFEST)


@pytest.mark.parametrize("name", ["line\nend", os.fsdecode(b"caf\xe9")])
def test_a_path_that_the_store_cannot_take_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(StorageError, match="no plain UTF-8"):
        create_index(tmp_path / name, MANIFEST)


def test_no_space_is_told_apart() -> None:
    full = storage_error(OSError(errno.ENOSPC, "No space left on device"), Path("/x"))
    assert isinstance(full, StorageFullError)
    assert type(storage_error(OSError(errno.EROFS, "Read-only file system"), Path("/x"))) is StorageError


def test_an_index_stays_out_of_backups_and_of_the_repository_around_it(tmp_path: Path) -> None:
    create_index(tmp_path, MANIFEST)
    assert (tmp_path / ".gitignore").read_text() == "*\n"
    assert (tmp_path / "CACHEDIR.TAG").read_text().startswith("Signature: 8a477f597d28d172789f06886806bc55")


def test_a_directory_with_something_else_is_refused(tmp_path: Path) -> None:
    check_place(tmp_path / "absent")
    check_place(tmp_path)
    (tmp_path / "mine.txt").write_text("")
    with pytest.raises(StorageError, match=r"mine\.txt"):
        check_place(tmp_path)
    (tmp_path / "current.json").write_text("{}")
    check_place(tmp_path)


def test_a_file_that_may_not_be_read_is_no_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_current(tmp_path, create_index(tmp_path, MANIFEST))

    def denied(*_arguments: object, **_named: object) -> str:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "read_text", denied)
    with pytest.raises(StorageError, match="Permission denied"):
        current_index(tmp_path)


def test_a_directory_that_cannot_be_written_is_told_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_writable(tmp_path / "new" / "index")
    assert (tmp_path / "new" / "index").is_dir()
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="file"):
        check_writable(tmp_path / "file")
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(StorageError, match="belongs to another user") as caught:
        check_writable(tmp_path)
    assert f"chown {os.geteuid()}:" in caught.value.hint
