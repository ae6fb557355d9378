"""Disks that are full, read-only or damaged: one line that says so, and the way out works."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.processes import Home

pytestmark = pytest.mark.slow
NOTES = 30


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path)
    notes = tmp_path / "notes"
    notes.mkdir()
    for n in range(NOTES):
        words = " ".join(f"word{n * m % 997}" for m in range(1, 200))
        (notes / f"note{n}.md").write_text(f"# Note {n}\n\nWords of note {n}: {words}\n")
    home.run("add", str(notes))
    return home


@contextlib.contextmanager
def mounted(place: Path, size: str) -> Iterator[Path]:
    place.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(place)], check=False)
    if done.returncode:
        pytest.skip("cannot mount a disk here (needs root)")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    with mounted(tmp_path / "small", "400k") as place:
        yield place


@pytest.mark.parametrize("store", ["lancedb", "sqlite"])
def test_a_full_disk_is_one_line_and_space_is_the_way_out(home: Home, small_disk: Path, store: str) -> None:
    env = {"EVERFIND_INDEX_DIR": str(small_disk / "index"), "EVERFIND_STORE_BACKEND": store}
    done = home.run("index", code=7, env=env)
    errors = [line for line in done.stderr.splitlines() if line.startswith("everfind:")]
    assert len(errors) == 1
    assert "no space left" in errors[0]
    subprocess.run(["mount", "-o", "remount,size=64m", str(small_disk)], check=True)
    assert home.json("index", env=env)["errors"] == []
    assert len(home.json("search", "words of note 7", env=env)["hits"]) == 10


@pytest.fixture
def other_disk(tmp_path: Path) -> Iterator[Path]:
    with mounted(tmp_path / "disk", "64m") as place:
        yield place


@pytest.mark.parametrize("store", ["lancedb", "sqlite"])
def test_an_index_on_a_disk_that_became_read_only_answers_and_goes_on_later(
    home: Home, other_disk: Path, tmp_path: Path, store: str
) -> None:
    env = {"EVERFIND_INDEX_DIR": str(other_disk / "index"), "EVERFIND_STORE_BACKEND": store}
    home.run("index", env=env)
    subprocess.run(["mount", "-o", "remount,ro", str(other_disk)], check=True)
    (tmp_path / "notes" / "note7.md").write_text("# Wombats\n\nWombats leave cubes behind.\n")
    done = home.run("index", code=7, env=env)
    errors = [line for line in done.stderr.splitlines() if line.startswith("everfind:")]
    assert len(errors) == 1
    assert "read-only" in errors[0].lower()
    assert len(home.json("search", "words of note 8", env=env)["hits"]) == 10
    subprocess.run(["mount", "-o", "remount,rw", str(other_disk)], check=True)
    assert home.json("index", env=env)["files"]["indexed"] == 1
    assert home.json("search", "wombats cubes", env=env)["hits"][0]["path"] == "note7.md"


def test_an_index_directory_that_is_a_file(home: Home, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = home.run("index", code=7, env={"EVERFIND_INDEX_DIR": str(tmp_path / "file")})
    assert str(tmp_path / "file") in done.stderr


@pytest.mark.parametrize("pattern", ["*.manifest", "*.lance", "current.json", "manifest.json"])
def test_a_truncated_file_is_damage_and_a_repair_the_way_out(home: Home, pattern: str) -> None:
    home.run("index")
    before = home.json("search", "words of note 7")
    for path in home.index_directory.rglob(pattern):
        if path.is_file():
            path.write_bytes(path.read_bytes()[: path.stat().st_size // 3])
    done = home.run("search", "words of note 7", code=5)
    assert "damaged" in done.stderr
    assert "everfind doctor --repair" in done.stderr
    told = home.run("doctor", "--repair", "--verify").stdout
    assert "each byte of the index is as it was written" in told
    after = home.json("search", "words of note 7")
    assert [h["path"] for h in after["hits"]] == [h["path"] for h in before["hits"]]


def test_damage_is_told_by_index_and_doctor_too(home: Home) -> None:
    home.run("index")
    for path in home.index_directory.glob("indexes/*/chunks.lance/data/*.lance"):
        path.write_bytes(path.read_bytes()[:2000])
    for command in ("index", "search x", "doctor"):
        assert "doctor --repair" in "".join(
            home.run(*command.split(), code=5).stdout + home.run(*command.split(), code=5).stderr
        )


def test_a_damaged_catalog_mends_itself(home: Home) -> None:
    home.run("index")
    (catalog,) = home.index_directory.rglob("catalog.sqlite")
    catalog.write_bytes(b"garbage" * 1000)
    report = home.json("index")
    assert report["chunks"]["embedded"] == 0
    assert home.json("status")["coverage"]["files"] == NOTES


def test_another_model_or_size_is_refused_until_a_rebuild(home: Home) -> None:
    home.run("index")
    done = home.run("index", code=5, env={"EVERFIND_CHUNK_TOKENS": "100"})
    assert "chunker" in done.stderr
    assert "--rebuild" in done.stderr
    home.run("index", "--rebuild", env={"EVERFIND_CHUNK_TOKENS": "100"})
    home.run("index", env={"EVERFIND_CHUNK_TOKENS": "100"})


def test_a_model_that_is_none_is_named(home: Home, tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    done = home.run("index", code=8, env={"EVERFIND_MODEL": str(tmp_path / "model")})
    assert str(tmp_path / "model") in done.stderr
