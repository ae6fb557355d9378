"""Whether a run's memory depends on what it indexes: two corpora, one several times the other. Embedding costs nothing.

``python -m bench.steady_memory CORPUS INDEX`` is one such run, in a process of its own.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from bench import corpora
from bench.figures import Cost, Figure, own_peak_mib, run
from bench.free_model import FreeModel
from everfind_core.model import Folder, IndexRequest
from everfind_embedder import EmbedderSettings, open_embedder
from everfind_indexer.engine import IndexEngine
from everfind_indexer.settings import IndexerSettings
from everfind_indexer.store import open_writer
from everfind_indexer.syntax import SyntaxChunker

TIMES = 4
GROWTH = 1.25
"""A small run does not fill the caches, whose size is bounded."""


def measure(*, quick: bool = False) -> Iterator[Figure]:
    """Peak memory of a cold run over code, to that over a quarter of it."""
    step = 20 if quick else 2
    with tempfile.TemporaryDirectory() as scratch:
        base = Path(scratch)
        small, large = (_peak(base, step * times) for times in (TIMES, 1))
        note = (
            f"{large[0] / small[0]:.1f} × the chunks ({small[0]:,}, {large[0]:,}): {small[1]:.0f}, {large[1]:.0f} MiB"
        )
        yield Figure("peak memory of a run, to that over a quarter", large[1] / small[1], "ratio", GROWTH, note=note)


def _peak(base: Path, every: int) -> tuple[int, float]:
    """Chunks of the corpus, and peak memory of a run over it in MiB."""
    corpus = corpora.stdlib(base / f"code{every}", every=every)
    command = [sys.executable, "-m", "bench.steady_memory", str(corpus), str(base / f"index{every}")]
    cost: Cost = run(command, env=dict(os.environ))
    chunks, peak = json.loads(cost.stdout)
    return chunks, peak


def _run(corpus: str, index: Path) -> None:
    with closing(open_embedder(EmbedderSettings())) as real:
        engine = IndexEngine(
            IndexerSettings(index, (Folder("code", corpus),)), FreeModel(real), SyntaxChunker(), open_writer
        )
        report = engine.index(IndexRequest(), lambda _event: None)
    sys.stdout.write(json.dumps([report.chunks_written, own_peak_mib()]))


if __name__ == "__main__":
    _run(sys.argv[1], Path(sys.argv[2]))
