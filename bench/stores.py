"""Both stores beside each other: what a table costs to write, to keep and to search, and the ratio of the costs."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench.figures import Figure, percentile, rest
from bench.freshness import CHUNKS_A_FILE, FILES_A_BATCH, file_of
from everfind_core.index.store_backends import StoreBackend
from everfind_core.model import Filters
from everfind_core.ports import ChunkReader
from everfind_indexer.store import open_writer
from everfind_searcher.store import RESIDENT_BYTES, open_reader

SIZES = (20_000, 100_000)
DIMENSIONS = 384
QUESTIONS = 60
SAVES = 10
FILTER = Filters(exclude_statuses=("superseded",), exclude=("d1*",))


@dataclass(frozen=True, slots=True)
class Costs:
    """Seconds and bytes of one store; milliseconds of searches by what was asked."""

    building: float
    saving: float
    size: int
    searches: dict[str, float]


def measure(*, quick: bool = False) -> Iterator[Figure]:
    """A made-up corpus of words and vectors by chance, without embedding."""
    for chunks in (2_000,) if quick else SIZES:
        costs = {kind: _costs(kind, chunks) for kind in StoreBackend}
        yield from _figures(costs, f"{chunks:,} chunks")


def _figures(costs: dict[StoreBackend, Costs], note: str) -> Iterator[Figure]:
    lance, sqlite = costs[StoreBackend.LANCEDB], costs[StoreBackend.SQLITE]
    for name, first, second, unit in (
        ("writing all, CPU", lance.building, sqlite.building, "s"),
        ("one saved file", 1e3 * lance.saving, 1e3 * sqlite.saving, "ms"),
        ("on the disk", lance.size / 1e6, sqlite.size / 1e6, "MB"),
        *((name, lance.searches[name], sqlite.searches[name], "ms") for name in lance.searches),
    ):
        yield Figure(f"{name}, LanceDB", first, unit, note=note)
        yield Figure(f"{name}, SQLite", second, unit, note=note)
        yield Figure("  ratio", second / first, "×", note=note)


def _costs(kind: StoreBackend, chunks: int) -> Costs:
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        chance = np.random.default_rng(1)
        files = [file_of(number, chance) for number in range(chunks // CHUNKS_A_FILE)]
        with closing(open_writer(place, DIMENSIONS, kind)) as writer:
            start = time.process_time()
            for first in range(0, len(files), FILES_A_BATCH):
                writer.replace(files[first : first + FILES_A_BATCH])
                writer.maintain(finish=False)
            writer.maintain(finish=True)
            building = time.process_time() - start
            saved = []
            for number in range(SAVES):
                begin = time.perf_counter()
                writer.replace([file_of(number, chance, mark="saved")])
                writer.maintain(finish=True)
                saved.append(time.perf_counter() - begin)
            size = sum(path.stat().st_size for path in place.rglob("*") if path.is_file())
            searches = {}
            for held, limit in (("in memory", RESIDENT_BYTES), ("from the disk", 0)):
                reader = _ready(place, kind, limit)
                for said, where in (("", Filters()), (", filtered", FILTER)):
                    near, words = _times(reader, where)
                    searches[f"nearest 200, {held}{said}, p50"] = near
                    searches[f"200 by words, {held}{said}, p50"] = words
    return Costs(building, percentile(saved, 0.5), size, searches)


def _ready(place: Path, kind: StoreBackend, resident_bytes: int) -> ChunkReader:
    """A reader that has in memory what it will have."""
    reader = open_reader(place, resident_bytes, kind)
    for _ in range(2):  # rows are read into memory behind the second question
        reader.lexical(["w1"], 200, Filters())
    rest()
    return reader


def _times(reader: ChunkReader, where: Filters) -> tuple[float, float]:
    """Milliseconds of the median question, of each arm."""
    chance = np.random.default_rng(7)
    near, words = [], []
    for _ in range(QUESTIONS):
        vector = chance.normal(size=DIMENSIONS).astype(np.float32)
        terms = [f"w{int(20_000 * chance.random() ** 3)}" for _ in range(5)]
        begin = time.perf_counter()
        reader.semantic(vector, 200, where)
        middle = time.perf_counter()
        reader.lexical(terms, 200, where)
        near.append(1e3 * (middle - begin))
        words.append(1e3 * (time.perf_counter() - middle))
    return percentile(near, 0.5), percentile(words, 0.5)
