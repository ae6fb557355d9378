"""Workers without a cluster: what a task does, and what is said where there is no engine."""

from __future__ import annotations

import builtins
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from everfind_core.cancellation import Cancellation
from everfind_core.chunking import TextChunker
from everfind_core.errors import CancelledError, ConfigError, UnavailableError
from everfind_core.model import Folder, IndexStage, InputKind
from everfind_indexer.extractors import Extraction
from everfind_indexer.files.found import FoundFile
from everfind_indexer.running.looking import Changed, Looker, Vanished
from everfind_indexer.running.pipeline import Clock
from everfind_indexer.running.ray_workers import ray_workers
from everfind_indexer.running.recipes import preparation
from everfind_indexer.running.workers import InProcess, LookTask, WorkerRecipe, worker_of
from everfind_indexer.settings import IndexerSettings
from tests.support.fakes import FakeEmbedder
from tests.support.real_index import write_notes


@pytest.fixture
def recipe(tmp_path: Path) -> WorkerRecipe:
    write_notes(tmp_path / "notes", 3)
    return WorkerRecipe(IndexerSettings(tmp_path / "index", ()), FakeEmbedder, TextChunker)


def looker(recipe: WorkerRecipe, folder: Folder) -> Looker:
    how = preparation(recipe.settings, FakeEmbedder(), TextChunker(), Extraction())
    return Looker(folder, {}, how, recipe.settings.sizes, False, Clock())


def found(folder: Folder, *names: str) -> tuple[FoundFile, ...]:
    def one(name: str) -> FoundFile:
        path = Path(folder.root) / name
        stat = path.stat() if path.exists() else Path(folder.root).stat()
        return FoundFile(name, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino)

    return tuple(map(one, names))


def test_a_task_says_what_a_look_here_says(recipe: WorkerRecipe, tmp_path: Path) -> None:
    folder = Folder("notes", str(tmp_path / "notes"))
    files = found(folder, "note00.md", "gone.md", "note02.md")
    worker = worker_of(pickle.dumps(recipe))
    outcomes, seconds = worker.look(LookTask(folder, {}, False, files))
    here = list(InProcess().look(looker(recipe, folder), files, Cancellation()))
    assert [type(one) for one in outcomes] == [type(one) for one in here] == [Changed, Vanished, Changed]
    for there, own in zip(outcomes, here, strict=True):
        if isinstance(there, Changed) and isinstance(own, Changed):
            assert there.file.rows == own.file.rows
    assert seconds[IndexStage.READ] > 0
    assert worker_of(pickle.dumps(recipe)) is worker


def test_a_worker_embeds_what_the_model_does(recipe: WorkerRecipe) -> None:
    worker, model = worker_of(pickle.dumps(recipe)), FakeEmbedder()
    ids = [model.tokenizer().encode(text).ids for text in ("a token", "another one")]
    assert np.array_equal(worker.embed(ids), model.embed_tokens(ids))
    assert np.array_equal(worker.embed_texts(["a token"]), model.embed(["a token"], InputKind.DOCUMENT))


def test_looking_here_can_be_cancelled(recipe: WorkerRecipe, tmp_path: Path) -> None:
    folder, cancel = Folder("notes", str(tmp_path / "notes")), Cancellation()
    outcomes = InProcess().look(looker(recipe, folder), found(folder, "note00.md", "note01.md"), cancel)
    assert isinstance(next(outcomes), Changed)
    cancel.cancel()
    with pytest.raises(CancelledError):
        next(outcomes)


def test_an_engine_that_is_not_installed(recipe: WorkerRecipe, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *arguments: Any) -> Any:
        if name == "ray":
            raise ImportError(name)
        return real(name, *arguments)

    monkeypatch.setattr(builtins, "__import__", without)
    with (
        pytest.raises(ConfigError, match="the engine `ray` is not installed") as missing,
        ray_workers(recipe, address="", cpus=1),
    ):
        pass
    assert missing.value.hint == "Install everfind[ray]."


def test_a_cluster_that_does_not_answer(recipe: WorkerRecipe) -> None:
    with (
        pytest.raises(UnavailableError, match=r"no Ray cluster answers at 127\.0\.0\.1:9"),
        ray_workers(recipe, address="127.0.0.1:9", cpus=1),
    ):
        pass
