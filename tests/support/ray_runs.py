"""Index runs by workers of a Ray cluster, in a process of its own: what becomes of each, as JSON on the last line.

``python -m tests.support.ray_runs DIRECTORY SCENARIO...``. One cluster of two workers serves all.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from everfind_core.cancellation import Cancellation
from everfind_core.chunking import TextChunker
from everfind_core.errors import CancelledError, EverfindError
from everfind_core.index.directory import current_index
from everfind_core.index.store_schema import CHUNK_ID, TABLE_DIRECTORY, VECTOR
from everfind_core.model import FileProcessed, Folder, IndexReport, IndexRequest, IndexStage
from everfind_core.ports import EventSink
from everfind_indexer.engine import IndexEngine
from everfind_indexer.running import pipeline
from everfind_indexer.running.ray_workers import ray_workers
from everfind_indexer.running.workers import WorkerRecipe, Workers
from everfind_indexer.settings import IndexerSettings
from everfind_indexer.store import open_writer
from tests.support.fakes import FakeEmbedder
from tests.support.index_content import content_of
from tests.support.real_index import write_notes
from tests.support.worker_embedder import open_embedder

NOTES = 40


@dataclass(frozen=True)
class Scene:
    """Notes below ``base``, indexed by ``workers``; ``orders`` is the directory of their orders."""

    base: Path
    orders: Path
    workers: Workers

    @property
    def notes(self) -> Path:
        return self.base / "notes"

    def index(self, *, on_event: EventSink = lambda _: None, cancel: Cancellation | None = None) -> IndexReport:
        return self._run("there", self.workers, on_event, cancel)

    def is_like_one_made_here(self) -> bool:
        """Whether rows and vectors are those of a run in this process."""
        self._run("here", None, lambda _: None, None)
        return held(self.base / "there") == held(self.base / "here")

    def embedded_by(self) -> list[int]:
        return [int(note.name.split()[-1]) for note in self.orders.glob("embedded by *")]

    def _run(self, name: str, workers: Workers | None, on_event: EventSink, cancel: Cancellation | None) -> IndexReport:
        settings = IndexerSettings(self.base / name, (Folder("notes", str(self.notes)),))
        opener = None if workers is None else lambda _settings: contextlib.nullcontext(workers)
        engine = IndexEngine(settings, FakeEmbedder(), TextChunker(), open_writer, open_workers=opener)
        return engine.index(IndexRequest(), on_event, cancel=cancel)


def held(directory: Path) -> tuple[list[tuple[Any, ...]], dict[str, list[float]]]:
    """Rows, and vectors by chunk."""
    import lance

    table = lance.dataset(str(current_index(directory).directory / TABLE_DIRECTORY))
    rows = table.to_table(columns=[CHUNK_ID, VECTOR])
    return content_of(directory), dict(zip(rows[CHUNK_ID].to_pylist(), rows[VECTOR].to_pylist(), strict=True))


def plain(scene: Scene) -> dict[str, Any]:
    report = scene.index()
    return {"indexed": report.indexed, "read": report.seconds[IndexStage.READ]}


def killed(scene: Scene) -> dict[str, Any]:
    (scene.orders / "die once").touch()
    report = scene.index()
    return {"indexed": report.indexed, "died": (scene.orders / "died").exists()}


def failed(order: str, scene: Scene) -> dict[str, Any]:
    (scene.orders / order).touch()
    try:
        scene.index()
        error = None
    except EverfindError as raised:
        error = [type(raised).__name__, raised.message, raised.hint]
    (scene.orders / order).unlink()
    scene.index()
    return {"error": error}


def changed(scene: Scene) -> dict[str, Any]:
    scene.index()
    (scene.notes / "note01.md").write_text("# Another\n\nOf a quagga.\n", encoding="utf-8")
    (scene.notes / "moved.md").write_bytes((scene.notes / "note02.md").read_bytes())
    (scene.notes / "note02.md").unlink()
    report = scene.index()
    return {"counts": [report.indexed, report.deleted, report.chunks_embedded]}


def cancelled(scene: Scene) -> dict[str, Any]:
    cancel = Cancellation()
    with contextlib.suppress(CancelledError):
        scene.index(on_event=lambda e: cancel.cancel() if isinstance(e, FileProcessed) else None, cancel=cancel)
    return {"was": cancel.cancelled, "left": scene.index().indexed}


SCENARIOS: dict[str, Callable[[Scene], dict[str, Any]]] = {
    "plain": plain,
    "killed": killed,
    "refused": partial(failed, "refuse"),
    "lost": partial(failed, "die"),
    "changed": changed,
    "cancelled": cancelled,
}


def main(base: Path, names: list[str]) -> None:
    pipeline.BATCH_TOKENS = 1_000  # so that there are more batches than workers
    orders = base / "orders"
    orders.mkdir()
    recipe = WorkerRecipe(IndexerSettings(base, ()), partial(open_embedder, orders), TextChunker)
    told: dict[str, Any] = {}
    with ray_workers(recipe, address="", cpus=2) as workers:
        for name in names:
            scene = Scene(base / name, orders, workers)
            write_notes(scene.notes, NOTES)
            found = SCENARIOS[name](scene)
            told[name] = found | {"same": scene.is_like_one_made_here(), "embedded by": scene.embedded_by()}
            for order in orders.iterdir():
                order.unlink()
    sys.stdout.write("\n" + json.dumps({"driver": os.getpid(), **told}) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
