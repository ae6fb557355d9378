"""Export and import: a consistent copy beside a writer, folders elsewhere, and archives that are not to be trusted."""

from __future__ import annotations

import hashlib
import io
import json
import random
import shutil
import tarfile
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from everfind_core.errors import (
    ArchiveUnusableError,
    EverfindError,
    FolderNotFoundError,
    IndexIncompatibleError,
    IndexMissingError,
    InvalidRequestError,
    StorageError,
)
from everfind_core.index.archive import HEADER, open_archive
from everfind_core.model import Folder
from everfind_indexer.engine import IndexEngine
from everfind_indexer.settings import IndexerSettings
from tests.support.fakes import FakeEmbedder
from tests.support.real_index import RealIndex, write_notes

NOTES = 8


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> RealIndex:
    base = tmp_path_factory.mktemp("made")
    write_notes(base / "corpus", NOTES)
    index = RealIndex(base, base / "corpus")
    index.index()
    note = base / "corpus" / "note03.md"
    note.write_text(f"{note.read_text()}\n## Later\n\nA zebra.\n")
    index.index()
    return index


@pytest.fixture(scope="module")
def archive(made: RealIndex) -> Path:
    return made.export()


@pytest.fixture
def other(made: RealIndex, tmp_path: Path) -> RealIndex:
    """Another machine, where the folder lies elsewhere."""
    shutil.copytree(made.corpus, tmp_path / "elsewhere")
    return RealIndex(tmp_path, tmp_path / "elsewhere")


def test_an_imported_index_answers_at_once_and_embeds_nothing(made: RealIndex, archive: Path, other: RealIndex) -> None:
    other.import_archive(archive)
    assert other.content() == made.content()
    assert [[hit[1:] for hit in hits] for hits in other.found()] == [[hit[1:] for hit in hits] for hits in made.found()]
    roots = {hit["absolute_path"].rpartition("/")[0] for one in other.answers() for hit in one["hits"]}
    assert roots == {str(other.corpus)}
    theirs, ours = other.engine().status(), made.engine().status()
    assert replace(theirs.coverage, skipped={}) == replace(ours.coverage, skipped={})
    assert theirs.indexed_at == ours.indexed_at
    sizes = [(f.ref, f.size, f.chunks, f.tokens) for f in made.engine().indexed_files()]
    assert [(f.ref, f.size, f.chunks, f.tokens) for f in other.engine().indexed_files()] == sizes
    assert all(size == (other.corpus / ref.path).stat().st_size for ref, size, _, _ in sizes)
    report = other.index()
    assert (report.indexed, report.unchanged, report.chunks_embedded) == (0, NOTES, 0)
    assert other.content() == made.content()
    assert not list((other.directory / "indexes").glob("export-*"))


def test_only_what_differs_is_indexed_after_an_import(archive: Path, other: RealIndex) -> None:
    (other.corpus / "note01.md").write_text("# Another\n\nPlatypus.\n")
    (other.corpus / "note02.md").unlink()
    other.import_archive(archive)
    report = other.index()
    assert (report.indexed, report.deleted, report.unchanged) == (1, 1, NOTES - 2)


def test_an_index_is_not_replaced_unasked(made: RealIndex, archive: Path, other: RealIndex) -> None:
    (other.corpus / "note01.md").write_text("# Another\n\nPlatypus.\n")
    other.index()
    before = other.content()
    with pytest.raises(InvalidRequestError, match="there is an index") as caught:
        other.import_archive(archive)
    assert "--overwrite" in caught.value.hint
    assert other.content() == before
    generation = other.engine().status().generation
    other.import_archive(archive, overwrite=True)
    assert other.content() == made.content()
    assert generation < other.engine().status().generation < generation + 100


def test_a_folder_that_is_not_here_is_named(archive: Path, other: RealIndex) -> None:
    settings_ = IndexerSettings(other.directory, (Folder("others", str(other.corpus)),))
    engine = IndexEngine(settings_, other.embedder, other.chunker, lambda *_: pytest.fail("nothing is opened"))
    with pytest.raises(FolderNotFoundError, match="'notes'") as caught:
        engine.import_archive(archive, overwrite=False)
    assert "everfind add --name notes DIR" in caught.value.hint


def test_another_model_is_refused(archive: Path, other: RealIndex) -> None:
    other.embedder = FakeEmbedder(info=replace(other.embedder.info, id="another"))
    with pytest.raises(IndexIncompatibleError, match=r"'fake@1'.*'another@1'"):
        other.import_archive(archive)


def test_nothing_to_export(other: RealIndex) -> None:
    with pytest.raises(IndexMissingError):
        other.export()


def test_a_place_that_cannot_be_written(made: RealIndex, tmp_path: Path) -> None:
    for target in (tmp_path / "absent" / "index.tar", tmp_path):
        with pytest.raises(StorageError, match=f"cannot write {target}: ") as caught:
            made.engine().export(target)
        assert "Name a new file" in caught.value.hint
    assert not list(tmp_path.parent.glob(f".{tmp_path.name}.*"))


def test_an_archive_is_for_its_user_only(archive: Path) -> None:
    assert archive.stat().st_mode & 0o777 == 0o600


@pytest.mark.slow
def test_a_copy_beside_a_writer_is_of_one_generation(made: RealIndex, tmp_path: Path) -> None:
    """Two files change together in each run, which is one commit: in each copy both are of the same turn."""
    corpus = tmp_path / "corpus"
    shutil.copytree(made.corpus, corpus)
    index = RealIndex(tmp_path, corpus)
    index.index()
    over = threading.Event()

    def write() -> None:
        turn = 0
        while not over.is_set():
            turn += 1
            for name in ("note01.md", "note02.md"):
                (corpus / name).write_text(f"# Turn\n\nTurn number {turn} of both.\n")
            index.index()

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for number in range(5):
            base = tmp_path / str(number)
            base.mkdir()
            copy = RealIndex(base, corpus)
            archive = base / "index.tar"
            index.engine().export(archive)
            copy.import_archive(archive)
            both = {row[1]: row[5] for row in copy.content() if row[1] in ("note01.md", "note02.md")}
            assert len(both) == 2
            assert len({text for text in both.values() if "of both" in text}) <= 1
            assert len(copy.content()) >= NOTES
    finally:
        over.set()
        writer.join()


# --- archives that are not what they seem -----------------------------------------------------------------------------


def rewritten(archive: Path, target: Path, edit: Callable[[dict[str, Any], dict[str, bytes]], None]) -> Path:
    """The archive with another list and other members."""
    with tarfile.open(archive) as source:
        members = {m.name: file.read() for m in source.getmembers() if (file := source.extractfile(m)) is not None}
    header = json.loads(members.pop(HEADER))
    edit(header, members)
    with tarfile.open(target, "w") as copy:
        for name, content in {HEADER: json.dumps(header).encode(), **members}.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            copy.addfile(entry, io.BytesIO(content))
    return target


def renamed(name: str) -> Callable[[dict[str, Any], dict[str, bytes]], None]:
    """The last member, listed and stored under another name."""

    def edit(header: dict[str, Any], members: dict[str, bytes]) -> None:
        last = header["files"][-1]["name"]
        header["files"][-1]["name"] = name
        members[name] = members.pop(last)

    return edit


def more(header: dict[str, Any], members: dict[str, bytes]) -> None:
    members["chunks.lance/data/more.lance"] = b"x"


def other_bytes(header: dict[str, Any], members: dict[str, bytes]) -> None:
    name = header["files"][0]["name"]
    members[name] = bytes(len(members[name]))


def newer_archive(header: dict[str, Any], members: dict[str, bytes]) -> None:
    header["format"] = 9


def newer_index(header: dict[str, Any], members: dict[str, bytes]) -> None:
    header["manifest"]["format"] = 9


def newer_everfind(header: dict[str, Any], members: dict[str, bytes]) -> None:
    header["manifest"]["everfind_version"] = "9.0"
    header["manifest"]["recipe"]["lexical"] = "9"


def other_dimensions(header: dict[str, Any], members: dict[str, bytes]) -> None:
    header["manifest"]["model"]["dimensions"] = 8


def endless(header: dict[str, Any], members: dict[str, bytes]) -> None:
    header["generation"] = float("inf")


def huge(header: dict[str, Any], members: dict[str, bytes]) -> None:
    header["files"][0]["size"] = 1 << 60


def told(name: str, content: bytes) -> Callable[[dict[str, Any], dict[str, bytes]], None]:
    """The member ``name`` with other content, listed as such."""

    def edit(header: dict[str, Any], members: dict[str, bytes]) -> None:
        listed = [one for one in header["files"] if one["name"] != name]
        digest = hashlib.blake2b(content, digest_size=16).hexdigest()
        header["files"] = [*listed, {"name": name, "size": len(content), "digest": digest}]
        members.pop(name, None)
        members[name] = content

    return edit


def garbled(part: str) -> Callable[[dict[str, Any], dict[str, bytes]], None]:
    """A member below ``part`` with bytes that say nothing, listed as such: its digest is right."""

    def edit(header: dict[str, Any], members: dict[str, bytes]) -> None:
        name = next(name for name in sorted(members) if part in name)
        told(name, random.Random(1).randbytes(len(members[name])))(header, members)

    return edit


EDITS = {
    "a search structure that is none": garbled("_indices/"),
    "words that are none": garbled("part_0_invert.lance"),
    "vectors that are none": garbled("auxiliary.idx"),
    "rows that are none": garbled("chunks.lance/data/"),
    "a calibration that is none": told("calibration.json", b"[]"),
    "a calibration without end": told("calibration.json", b"[" * 100_000),
    "coverage without end": told("coverage.json", b"[" * 100_000),
    "above": renamed("../../../escaped"),
    "absolute": renamed("/tmp/escaped"),
    "above in a known place": renamed("chunks.lance/data/../../../escaped"),
    "the pointer": renamed("current.json"),
    "a catalog": renamed("catalog.sqlite"),
    "more": more,
    "other bytes": other_bytes,
    "newer archive": newer_archive,
    "newer index": newer_index,
    "newer everfind": newer_everfind,
    "other dimensions": other_dimensions,
    "endless": endless,
    "huge": huge,
}


@pytest.mark.parametrize("name", EDITS)
def test_an_archive_that_says_something_else_is_refused(
    archive: Path, other: RealIndex, tmp_path: Path, name: str
) -> None:
    doctored = rewritten(archive, tmp_path / "doctored.tar", EDITS[name])
    before = sorted(path for path in tmp_path.rglob("*"))
    with pytest.raises((ArchiveUnusableError, IndexIncompatibleError)) as caught:
        other.import_archive(doctored)
    assert caught.value.hint
    left = [path for path in tmp_path.rglob("*") if path not in before and "index" not in path.parts]
    assert left == []
    assert not list((other.directory / "indexes").glob("*"))


def extended(**records: str) -> bytes:
    """A member with an extended header of its own."""
    entry = tarfile.TarInfo(HEADER)
    entry.pax_headers = records
    return entry.tobuf(tarfile.PAX_FORMAT)


NO_TAR = {
    "a map of nothing": extended(**{"GNU.sparse.map": "a,b", "GNU.sparse.size": "3"}),
    "a map that is absent": extended(**{"GNU.sparse.major": "1", "GNU.sparse.minor": "0"}),
    "headers without end": extended(comment="x")[:1024] * 3_000,
}


@pytest.mark.parametrize("name", NO_TAR)
def test_headers_that_no_tar_has_are_refused(other: RealIndex, tmp_path: Path, name: str) -> None:
    (tmp_path / "odd.tar").write_bytes(NO_TAR[name] + bytes(1024))
    with pytest.raises(ArchiveUnusableError, match="no archive of an index"):
        other.import_archive(tmp_path / "odd.tar")


def test_what_fails_beside_the_archive_is_not_its_fault(archive: Path) -> None:
    with pytest.raises(PermissionError), open_archive(archive):
        raise PermissionError(13, "not here")


def test_a_link_in_an_archive_is_refused(archive: Path, other: RealIndex, tmp_path: Path) -> None:
    doctored = tmp_path / "doctored.tar"
    with tarfile.open(archive) as source, tarfile.open(doctored, "w") as copy:
        for member in source.getmembers():
            if member.name == HEADER:
                copy.addfile(member, source.extractfile(member))
                continue
            link = tarfile.TarInfo(member.name)
            link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
            copy.addfile(link)
    with doctored.open("ab") as file:
        file.write(bytes(archive.stat().st_size))
    with pytest.raises(ArchiveUnusableError, match="another than its list says"):
        other.import_archive(doctored)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_damaged_archive_is_refused_or_is_as_good_as_whole(
    made: RealIndex, archive: Path, tmp_path: Path, data: st.DataObject
) -> None:
    content = archive.read_bytes()
    cut = data.draw(st.integers(0, len(content)), label="cut")
    place = data.draw(st.integers(0, max(0, cut - 1)), label="place")
    damaged = bytearray(content[:cut] if data.draw(st.booleans(), label="short") else content)
    if damaged:
        damaged[place] ^= data.draw(st.integers(0, 255), label="mask")
    base = tmp_path / "base"
    shutil.rmtree(base, ignore_errors=True)
    base.mkdir()
    (base / "index.tar").write_bytes(damaged)
    index = RealIndex(base, made.corpus)
    try:
        index.import_archive(base / "index.tar")
    except EverfindError as error:
        assert error.hint  # noqa: PT017 - either outcome is right
        return
    assert index.content() == made.content()
