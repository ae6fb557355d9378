"""What was embedded once is not embedded again, wherever its text is; and nothing of it stays when it must not."""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np
import pytest

from everfind_core.index.names import POINTER
from everfind_core.model import FileRef, Folder, IndexRequest
from everfind_indexer.index.vectors import FILE
from everfind_indexer.settings import IndexerSettings, KeptVectors
from tests.support.indexing import Workspace

TEXTS = {f"{n}.txt": f"text of file {n}\n" for n in range(6)}


@pytest.fixture
def kept(tmp_path: Path) -> KeptVectors:
    return KeptVectors(tmp_path / "vectors")


@pytest.fixture
def workspace(tmp_path: Path, kept: KeptVectors) -> Workspace:
    made = Workspace(tmp_path / "one", kept=kept)
    for name, text in TEXTS.items():
        (made.root / name).write_text(text)
    return made


def test_another_index_of_the_same_texts_embeds_nothing(
    workspace: Workspace, tmp_path: Path, kept: KeptVectors
) -> None:
    assert workspace.index().chunks_embedded == 6
    fork = Workspace(tmp_path / "fork", kept=kept)
    for name, text in TEXTS.items():
        (fork.root / f"moved-{name}").write_text(text)
    report = fork.index()
    assert (report.indexed, report.chunks_embedded, report.chunks_reused, report.tokens) == (6, 0, 6, 0)
    for name in TEXTS:
        ours, theirs = workspace.store.rows[FileRef("f", name)][0], fork.store.rows[FileRef("f", f"moved-{name}")][0]
        assert ours.vector is not None
        assert theirs.vector is not None
        np.testing.assert_array_equal(ours.vector.astype(np.float16), theirs.vector)


def test_a_rebuild_embeds_nothing_and_force_embeds_all(workspace: Workspace) -> None:
    workspace.index()
    workspace.store.rows.clear()
    assert workspace.index(rebuild=True).chunks_embedded == 0
    assert workspace.index(force=True).chunks_embedded == 6


def test_generations_count_on_over_rebuilds(workspace: Workspace) -> None:
    before = workspace.index().generation
    for _ in range(2):
        after = workspace.index(rebuild=True).generation
        assert before < after < before + 100
        assert workspace.engine().status().generation == after
        before = after
    (workspace.settings.index_directory / POINTER).write_text("{")
    repaired = workspace.engine().index(IndexRequest(repair=True), lambda _event: None).generation
    assert before < repaired < before + 100


def test_a_folder_that_is_added_again_embeds_nothing(workspace: Workspace) -> None:
    workspace.index()
    workspace.engine().forget_folder("f")
    assert workspace.content() == {}
    assert workspace.index().chunks_embedded == 0


def test_a_purged_folder_leaves_no_vector(workspace: Workspace, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "a.txt").write_text("only here\n")
    folders = (*workspace.settings.folders, Folder("g", str(other)))
    workspace.settings = IndexerSettings(tmp_path / "index", folders, kept_vectors=workspace.settings.kept_vectors)
    workspace.index()
    workspace.engine().forget_folder("f", purge=True)
    assert workspace.index().chunks_embedded == 6
    workspace.engine().forget_folder("g")
    assert workspace.index().chunks_embedded == 0


def test_switching_back_and_forth_embeds_each_text_once(workspace: Workspace) -> None:
    workspace.index()
    for branch in ("b", "a", "b"):
        for name, text in TEXTS.items():
            (workspace.root / name).write_text(text if branch == "a" else f"branch {text}")
        workspace.index()
    assert workspace.embedder.embedded == 12


def test_a_live_text_outlasts_the_retention(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace.index()
    started = time.time()
    for days in range(1, 40):
        monkeypatch.setattr(time, "time", lambda now=started + days * 86_400: now)
        workspace.index()
    workspace.engine().forget_folder("f")
    monkeypatch.setattr(time, "time", lambda: started + (39 + 14) * 86_400)
    assert workspace.index().chunks_embedded == 0


def test_a_removed_text_does_not_outlast_it_by_much(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    (workspace.root / "kept.txt").write_text("stays\n")
    workspace.index()
    for name in TEXTS:
        (workspace.root / name).unlink()
    workspace.index()
    started = time.time()
    for days in (4, 8, 12, 16, 20):
        monkeypatch.setattr(time, "time", lambda now=started + days * 86_400: now)
        workspace.index()
    for name, text in TEXTS.items():
        (workspace.root / name).write_text(text)
    os.rename(workspace.root / "kept.txt", workspace.root / "moved.txt")  # noqa: PTH104 - as a user's shell would
    assert workspace.index().chunks_embedded == 6


def test_a_damaged_cache_is_said_and_ends_no_run(workspace: Workspace, kept: KeptVectors) -> None:
    workspace.index()
    for path in kept.directory.iterdir():
        path.unlink()
    (kept.directory / FILE).write_text("damaged " * 1_000)
    workspace.engine().forget_folder("f")
    report = workspace.index()
    assert report.chunks_embedded == 6
    assert any("were damaged and are dropped" in warning for warning in report.warnings)
    workspace.engine().forget_folder("f")
    report = workspace.index()
    assert (report.chunks_embedded, report.warnings) == (0, ())
