"""Folders that come and go while an engine works: runs that wait, files that clash, removals that fail."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from everfind_core.cancellation import Cancellation
from everfind_core.errors import CancelledError, ConfigError, FolderNotFoundError, PermissionDeniedError
from everfind_core.index.names import FOLDERS
from everfind_core.model import AddFolderRequest, Folder, IndexReport, IndexRequest, ModelInfo, RemoveFolderRequest
from everfind_indexer.engine import IndexEngine
from everfind_indexer.folder_file import FolderFile
from everfind_indexer.index.lock import writer_lock
from tests.support.fakes import FakeEmbedder
from tests.support.indexing import Workspace


class Asked(FakeEmbedder):
    """Says when it was asked for its model: between the beginning of a run and its wait for the lock."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = threading.Event()

    def model(self) -> ModelInfo:
        self.asked.set()
        return super().model()


def engine_with_two(base: Path) -> tuple[Workspace, IndexEngine]:
    """An engine with the folder ``f`` of its settings and ``g`` of its file, a text in each, indexed."""
    workspace = Workspace(base)
    (workspace.root / "f.txt").write_text("f\n")
    (base / "g").mkdir()
    (base / "g" / "g.txt").write_text("g\n")
    FolderFile(base / "index", workspace.settings.folders).add(str(base / "g"), "", ())
    engine = workspace.engine()
    engine.index(IndexRequest(), lambda _event: None)
    assert sorted(workspace.content()) == ["f.txt", "g.txt"]
    return workspace, engine


@pytest.mark.parametrize("named", [False, True])
def test_a_run_that_waited_does_not_bring_a_removed_folder_back(tmp_path: Path, named: bool) -> None:
    workspace, _ = engine_with_two(tmp_path / "w")
    source = FolderFile(tmp_path / "w" / "index", workspace.settings.folders)
    outcome: list[IndexReport | FolderNotFoundError] = []
    embedder = workspace.embedder = Asked()
    engine = workspace.engine()

    def index() -> None:
        try:
            request = IndexRequest(folders=("f", "g") if named else (), force=True)
            outcome.append(engine.index(request, lambda _event: None))
        except FolderNotFoundError as error:
            outcome.append(error)

    running = threading.Thread(target=index)
    with writer_lock(tmp_path / "w" / "index", wait=False):
        running.start()
        assert embedder.asked.wait(60)  # it knows its folders, and waits for the lock now
        source.remove(Folder("g", ""))
    running.join(60)
    (ended,) = outcome
    if named:
        assert isinstance(ended, FolderNotFoundError)
    else:
        assert isinstance(ended, IndexReport)
        assert ended.indexed == 1


def test_a_removal_that_is_cancelled_leaves_the_folder(tmp_path: Path) -> None:
    workspace, engine = engine_with_two(tmp_path / "w")
    cancel = Cancellation()
    outcome: list[CancelledError] = []
    left = threading.Event()

    def remove() -> None:
        try:
            engine.remove_folder(RemoveFolderRequest("g"), cancel=cancel)
        except CancelledError as error:
            outcome.append(error)
        left.set()

    removing = threading.Thread(target=remove)
    with writer_lock(tmp_path / "w" / "index", wait=False):
        removing.start()
        while len(engine.folders()) > 1:  # nobody follows it from now on
            assert not left.wait(0.01)
        with pytest.raises(FolderNotFoundError):
            engine.remove_folder(RemoveFolderRequest("g"))
        cancel.cancel()
        removing.join(60)
    assert outcome
    assert [folder.name for folder in engine.folders()] == ["f", "g"]
    assert sorted(workspace.content()) == ["f.txt", "g.txt"]


def test_without_roots_nothing_can_be_added(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "w")
    with pytest.raises(PermissionDeniedError, match="may not add folders") as caught:
        workspace.engine().add_folder(AddFolderRequest(str(tmp_path)))
    assert "EVERFIND_FOLDER_ROOTS" in caught.value.hint


def test_the_settings_win_over_the_file(tmp_path: Path) -> None:
    file = FolderFile(tmp_path)
    for name in ("a", "b", "c"):
        (tmp_path / name).mkdir()
        file.add(str(tmp_path / name), "", ())
    settled = (Folder("a", "/elsewhere"), Folder("other", str(tmp_path / "b")))
    beside = FolderFile(tmp_path, settled)
    assert beside.folders() == (*settled, Folder("c", str(tmp_path / "c")))
    assert (tmp_path / FOLDERS).stat().st_mode & 0o777 == 0o644
    (tmp_path / "d").mkdir()
    beside.remove(Folder("c", str(tmp_path / "c")))
    assert beside.add(str(tmp_path / "d"), "", ()).name == "d"
    assert [folder.name for folder in beside.folders()] == ["a", "other", "d"]
    assert [folder.name for folder in file.folders()] == ["a", "b", "d"]


def test_a_list_of_a_later_format_is_not_read_as_this_one(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    FolderFile(tmp_path).add(str(tmp_path / "notes"), "", ())
    later = (tmp_path / FOLDERS).read_text().replace('"format": 1', '"format": 2').replace('"format":1', '"format":2')
    (tmp_path / FOLDERS).write_text(later)
    with pytest.raises(ConfigError, match="not by this version"):
        FolderFile(tmp_path).folders()
    assert (tmp_path / FOLDERS).read_text() == later
