"""Indexing against its limit: a bare onnxruntime loop over the very same token sequences, in the same run."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bench import corpora
from bench.figures import Cost, Figure, run
from everfind_core.cpu_quota import cpu_quota
from everfind_core.model import FileRef, Folder
from everfind_embedder.engine import OnnxEmbedder
from everfind_embedder.loading.packaged import load_packaged
from everfind_indexer.extractors import Extraction
from everfind_indexer.files.reading import read_file
from everfind_indexer.running.looking import file_state
from everfind_indexer.running.preparing import Preparation, prepare
from everfind_indexer.settings import IndexerSettings
from everfind_indexer.sources import Sources
from everfind_indexer.syntax import SyntaxChunker

Ids = npt.NDArray[np.int64]

CORES = 2
CORE_ROUNDS = 5

CODE_STEP = 3
"""One file in so many of the standard library: 1.5 M tokens, under a minute of two quiet cores."""


def measure(*, quick: bool = False) -> Iterator[Figure]:
    """Efficiency, token overhead and memory of a cold index of code and of pages."""
    with tempfile.TemporaryDirectory() as scratch:
        base = Path(scratch)
        code = corpora.stdlib(base / "code", files=30 if quick else None, every=CODE_STEP)
        pages = corpora.pages(base / "pages", minimum=500)
        yield from _corpus("code", code, base)
        yield from _corpus("pages", pages, base)


def sixty_files(*, quick: bool = False) -> Iterator[Figure]:
    """CPU seconds for a corpus of 60 Python files that cost a reference system 556 CPU-s."""
    with tempfile.TemporaryDirectory() as scratch:
        base = Path(scratch)
        cost, _ = _index(corpora.sixty_files(base / "sixty", 10 if quick else 60), base / "home")
        size = sum(p.stat().st_size for p in (base / "sixty").rglob("*.py")) / 1e6
        yield Figure("cold index of 60 Python files: CPU", cost.cpu, "s", 70, note=f"{size:.2f} MB")


def environment(home: Path) -> dict[str, str]:
    """A user of one's own: settings, index and caches below ``home``."""
    return {
        **os.environ,
        **{f"XDG_{kind}_HOME": str(home / kind.lower()) for kind in ("CONFIG", "DATA", "CACHE", "STATE")},
        "ORT_DISABLE_TELEMETRY": "1",
    }


def everfind(*arguments: str) -> list[str]:
    """The command line of the everfind beside this Python."""
    return [str(Path(sys.executable).with_name("everfind")), *arguments]


def _corpus(name: str, corpus: Path, base: Path) -> Iterator[Figure]:
    sequences = _sequences(corpus)
    before = _bare_loop(sequences)
    cost, report = _index(corpus, base / f"home-{name}")
    start = run(everfind("index"), env=environment(base / f"home-{name}")).cpu  # nothing changed: what any run costs
    after = _bare_loop(sequences)
    bare = Bare((before.wall + after.wall) / 2, (before.cpu + after.cpu) / 2)
    files, tokens = report["files"]["indexed"], sum(map(len, sequences))
    note = f"{files} files, {tokens:,} tokens; bare {before.wall:.1f} s, {after.wall:.1f} s, index {cost.wall:.1f} s"
    yield Figure(
        f"{name}: pipeline efficiency (bare loop / whole index)",
        bare.wall / cost.wall,
        "ratio",
        0.92,
        at_most=False,
        note=note,
    )
    yield Figure(
        f"{name}: all but embedding / whole index, CPU",
        (cost.cpu - start - bare.cpu) / cost.cpu,
        "ratio",
        0.08,
        note=f"bare {bare.cpu:.1f} s, index {cost.cpu:.1f} s, of which {start:.1f} s start the process",
    )
    yield Figure(
        f"{name}: tokens embedded / tokens of the corpus", report["tokens"] / report["corpus_tokens"], "ratio", 1.3
    )
    yield Figure(f"{name}: peak resident memory", cost.peak_mib, "MiB", 600)


def _index(corpus: Path, home: Path) -> tuple[Cost, dict[str, Any]]:
    env = environment(home)
    run(everfind("add", str(corpus)), env=env)
    cost = run(everfind("index", "--json"), env=env)
    return cost, json.loads(cost.stdout)


def _sequences(corpus: Path) -> list[Ids]:
    """What the index embeds for ``corpus``, each distinct text once, wrapped as the model takes it."""
    model = load_packaged()
    folder = Folder("bench", str(corpus))
    settings = IndexerSettings(corpus.parent / "unused", (folder,))
    sequences: dict[str, Ids] = {}
    with Extraction() as extraction:
        how = Preparation(extraction.extract, SyntaxChunker(), model.tokenizer, settings.limits(model.info))
        for found in Sources(settings).discover(folder).files:
            raw = read_file(folder.root, found.path, settings.sizes.of(found.path))
            prepared = prepare(file_state(FileRef(folder.name, found.path), found, 0, raw.content_hash), raw.data, how)
            for row, ids in zip(prepared.rows, prepared.token_ids, strict=True):
                if ids is not None:
                    sequences.setdefault(row.embedding_key, model.tokenizer.wrap(ids))
    return list(sequences.values())


def cores(*, quick: bool = False) -> Iterator[Figure]:
    """What the embedder does on two cores as a multiple of what it does on one, in turn, over the same texts.

    Others on the machine lower the ratio of wall times. What two threads take of each other (caches, memory, Python's
    lock around a run) shows in CPU time, too: the second figure is what a quiet machine can reach.
    """
    with tempfile.TemporaryDirectory() as scratch:
        corpus = corpora.stdlib(Path(scratch) / "code", files=3 if quick else 12, every=CODE_STEP)
        wrapped = _sequences(corpus)
    model = load_packaged()
    texts = [ids[1:-1] for ids in wrapped]  # the embedder wraps them itself
    taken: dict[int, list[Bare]] = {1: [], CORES: []}
    for _ in range(CORE_ROUNDS):
        for threads, rounds in taken.items():
            with contextlib.closing(OnnxEmbedder(lambda: model, threads)) as embedder:
                embedder.embed_tokens(texts[:8])
                wall, cpu = time.perf_counter(), time.process_time()
                embedder.embed_tokens(texts)
                rounds.append(Bare(time.perf_counter() - wall, time.process_time() - cpu))
    one, two = ([min(part) for part in zip(*rounds, strict=True)] for rounds in taken.values())
    tokens = f"{sum(map(len, texts)):,} tokens, best of {CORE_ROUNDS}"
    for name, before, after, factor in (
        (f"embedding on {CORES} cores / on one, wall", one[0], two[0], 1),
        ("  the most that CPU time allows", one[1], two[1], CORES),
    ):
        note = f"{tokens}: {before:.2f} s, {after:.2f} s; {cpu_quota()} cores here"
        yield Figure(name, factor * before / after, "×", 0.9 * CORES, at_most=False, note=note)


class Bare(NamedTuple):
    """Seconds that the model alone needs."""

    wall: float
    cpu: float


def _bare_loop(sequences: Sequence[Ids]) -> Bare:
    """What the model alone needs for ``sequences``, with the best session settings, on all cores."""
    model = load_packaged()
    runs = _plan_runs([len(s) for s in sequences], model.run_tokens)

    def one(indices: npt.NDArray[np.intp]) -> None:
        model.encoder.run(np.stack([sequences[i] for i in indices]))

    with ThreadPoolExecutor(cpu_quota()) as threads:
        list(threads.map(one, runs[:16]))
        wall, cpu = time.perf_counter(), time.process_time()
        list(threads.map(one, runs))
        return Bare(time.perf_counter() - wall, time.process_time() - cpu)


def _plan_runs(lengths: Sequence[int], run_tokens: int) -> list[npt.NDArray[np.intp]]:
    """Indices of sequences that go into one run: equal lengths, about ``run_tokens`` tokens, longest first."""
    sizes = np.asarray(lengths, np.intp)
    order = np.argsort(-sizes, kind="stable")
    runs: list[npt.NDArray[np.intp]] = []
    for group in np.split(order, np.flatnonzero(np.diff(sizes[order])) + 1):
        step = max(1, run_tokens // int(sizes[group[0]]))
        runs.extend(group[first : first + step] for first in range(0, len(group), step))
    return runs
