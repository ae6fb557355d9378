"""Indexes of older and newer everfinds: made anew with their vectors, or refused with both versions named."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from everfind_core import __version__
from everfind_core.chunking import TextChunker
from everfind_core.errors import IndexIncompatibleError
from everfind_core.index.manifest import Manifest, Recipe, is_upgrade
from everfind_core.model import IndexRequest
from everfind_indexer.running.writing import UPGRADED
from tests.support.fakes import MODEL
from tests.support.real_index import RealIndex, write_notes

NOTES = 4


class NewerChunker(TextChunker):
    """Cuts as before; its revision says that it might not."""

    revision = "lines-999"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> RealIndex:
    base = tmp_path_factory.mktemp("made")
    write_notes(base / "corpus", NOTES)
    index = RealIndex(base, base / "corpus")
    index.index()
    return index


@pytest.fixture
def index(made: RealIndex, tmp_path: Path) -> RealIndex:
    return made.copied(tmp_path)


def doctor(index: RealIndex, edit: Callable[[dict[str, Any]], object]) -> None:
    """Change the manifest of the index."""
    (path,) = index.directory.glob("indexes/*/manifest.json")
    found = json.loads(path.read_text())
    edit(found)
    path.write_text(json.dumps(found))


def test_an_older_chunker_is_upgraded_with_the_vectors_of_the_index(index: RealIndex) -> None:
    before, content = index.found(), index.content()
    index.chunker = NewerChunker()
    assert index.found() == before, "searches keep answering"
    generation = index.engine().status().generation
    report = index.index()
    assert (report.indexed, report.chunks_embedded, report.warnings) == (NOTES, 0, (UPGRADED,))
    assert report.generation > generation
    assert (index.found(), index.content()) == (before, content)
    assert (index.index().unchanged, index.index().warnings) == (NOTES, ())


def test_a_run_over_one_file_upgrades_all(index: RealIndex) -> None:
    index.chunker = NewerChunker()
    report = index.index(IndexRequest(folders=("notes",), paths=("note01.md",)))
    assert report.indexed == NOTES


def test_an_upgrade_that_is_interrupted_leaves_the_old_index_and_goes_on(index: RealIndex) -> None:
    shutil.copytree(index.corpus, index.base / "corpus", copy_function=shutil.copy2)
    index.corpus = index.base / "corpus"
    before = [[hit[1:] for hit in hits] for hits in index.found()]
    index.chunker = NewerChunker()
    note = index.corpus / "note01.md"
    note.write_text(f"{note.read_text()}\nSomething new.\n")
    index.embedder.fail_after = 0
    with pytest.raises(RuntimeError, match="the embedder broke"):
        index.index()
    index.embedder.fail_after = None
    assert [[hit[1:] for hit in hits] for hits in index.found()] == before
    assert index.index().indexed == NOTES
    assert len(list((index.directory / "indexes").iterdir())) == 1


def test_an_index_with_a_folder_that_is_gone_is_not_made_anew_unasked(index: RealIndex) -> None:
    index.chunker = NewerChunker()
    shutil.copytree(index.corpus, index.base / "corpus")
    index.corpus = index.base / "corpus"
    shutil.rmtree(index.corpus)
    with pytest.raises(IndexIncompatibleError, match="chunker") as caught:
        index.index()
    assert "everfind index --rebuild" in caught.value.hint


def test_a_newer_format_is_refused_with_both_versions(index: RealIndex) -> None:
    doctor(index, lambda found: found.update(format=7, everfind_version="9.1.0"))
    for look in (index.answers, index.index, index.repair, index.engine().status):
        with pytest.raises(IndexIncompatibleError, match=rf"9\.1\.0 in format 7; this is {__version__}"):
            look()


def test_what_a_newer_everfind_does_otherwise_is_not_undone(index: RealIndex) -> None:
    def newer(found: dict[str, Any]) -> None:
        found["everfind_version"] = "9.1.0"
        found["recipe"]["chunker"] = found["recipe"]["chunker"].replace("lines-", "lines-1")

    doctor(index, newer)
    with pytest.raises(IndexIncompatibleError, match=rf"by everfind 9\.1\.0, this is {__version__}") as caught:
        index.index()
    assert "newer" in caught.value.hint
    assert index.found(), "what both understand is still searched"


def test_an_older_format_is_upgraded(index: RealIndex) -> None:
    doctor(index, lambda found: found.update(format=0))
    assert index.index().warnings == (UPGRADED,)


@pytest.mark.parametrize(
    ("field", "value", "upgrade"),
    [
        ("chunker", "lines-1 prose=200", True),
        ("chunker", "lines-2 prose=100", False),
        ("lexical", "0", True),
        ("extraction", "1 lifecycle-0 words", True),
        ("extraction", "2 lifecycle-1 other", False),
        ("model", "another", False),
        ("secrets", "off", False),
    ],
)
def test_only_what_the_code_decides_is_upgraded_unasked(field: str, value: str, upgrade: bool) -> None:
    wanted = Recipe("model", "lines-2 prose=200", "1", "2 lifecycle-1 words", "on")
    found = Recipe(**{**{name: getattr(wanted, name) for name in Recipe.__slots__}, field: value})
    assert is_upgrade(Manifest(found, MODEL, 0.0, "0.0.9"), wanted, Path("x")) is upgrade
