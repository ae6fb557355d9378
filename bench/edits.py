"""What two thousand saved files leave behind, against a table made anew: bytes, segments, answers, time, memory."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import psutil

from bench.figures import Figure, rest
from bench.freshness import CHUNKS_A_FILE, DIMENSIONS, FILES_A_BATCH, VOCABULARY, file_of
from everfind_core.index.store_schema import TABLE_DIRECTORY
from everfind_core.model import Filters
from everfind_core.ports import ChunkReader, FileChunks
from everfind_indexer.store import maintenance, open_writer
from everfind_searcher.store import open_reader

if TYPE_CHECKING:
    import lance

WARM = 200
FOLLOWED = 80
QUESTIONS = 100
ROUNDS = 5


def measure(*, quick: bool = False) -> Iterator[Figure]:
    """Replace one file after the other, each in a commit with its upkeep, as saves do; a searcher follows the last."""
    chunks, edits = (2_000, 300) if quick else (20_000, 2_000)
    with tempfile.TemporaryDirectory() as scratch:
        soaked, fresh = Path(scratch) / "soaked", Path(scratch) / "fresh"
        for directory in (soaked, fresh):
            directory.mkdir()
        saves = Saves(soaked, chunks // CHUNKS_A_FILE)
        growth, cpu = saves.soak(edits - FOLLOWED)
        reader = saves.followed(FOLLOWED)
        _write(fresh, list(saves.files.values()))
        readers = reader, open_reader(fresh)
        saved = _cpu_ratio(*readers)
        _let_old_versions_go(soaked, exact=True)
        segments = max(len(index.segments) for index in _table(soaked).describe_indices())
        ratio = _bytes(soaked) / _bytes(fresh)
        yield Figure(f"{edits:,} saves at {chunks:,} chunks: bytes, to a fresh index", ratio, "ratio", 1.5)
        yield Figure("segments of the search structure with most", segments, "", 8, note=f"a save: CPU {cpu:.0f} ms")
        yield Figure("resident memory of the writer, to that after the first", growth, "ratio", 1.05)
        same = _same_answers(*readers)
        yield Figure(f"of {QUESTIONS} full-text answers, those that are the same", same, "", QUESTIONS, at_most=False)
        yield Figure("CPU of a search by words after the last save, to a fresh index", saved, "ratio", 1.1)
        yield Figure("the same after a look at whole folders", _cpu_ratio(*readers), "ratio", 1.1)


class Saves:
    """A made-up corpus in a table, one file of which is saved after the other. ``files`` are as they are now."""

    def __init__(self, directory: Path, count: int) -> None:
        self._directory = directory
        self._chance = np.random.default_rng(3)
        self.files = {number: file_of(number, self._chance) for number in range(count)}
        _write(directory, list(self.files.values()))
        self._writer = open_writer(directory, DIMENSIONS)
        self._saved = 0

    def soak(self, edits: int) -> tuple[float, float]:
        """How the memory grew after the first saves, and the CPU milliseconds of a save."""
        process, warm, cpus = psutil.Process(), 0.0, []
        for edit in range(edits):
            cpus.append(1e3 * self._save())
            if edit == WARM - 1:
                warm = float(process.memory_info().rss)
        return process.memory_info().rss / warm, statistics.median(cpus)

    def followed(self, edits: int) -> ChunkReader:
        """A searcher that was asked after each of so many saves."""
        reader = open_reader(self._directory)
        for terms in _questions()[:edits]:
            self._save()
            reader.lexical(terms, 50, Filters())
        return reader

    def _save(self) -> float:
        """The processor seconds that it took."""
        number = int(self._chance.integers(len(self.files)))
        self._saved += 1
        self.files[number] = file_of(number, self._chance, mark=f"saved{self._saved}")
        start = time.process_time()
        self._writer.replace([self.files[number]])
        self._writer.maintain(finish=True)
        return time.process_time() - start


def _let_old_versions_go(directory: Path, *, exact: bool) -> None:
    """What a run does ten minutes later; ``exact`` is one over whole folders."""
    kept, maintenance.KEEP_SECONDS = maintenance.KEEP_SECONDS, -1.0  # type: ignore[misc]  # time passes
    try:
        open_writer(directory, DIMENSIONS).maintain(finish=True, exact=exact)
    finally:
        maintenance.KEEP_SECONDS = kept  # type: ignore[misc]


def _write(directory: Path, files: Sequence[FileChunks]) -> None:
    writer = open_writer(directory, DIMENSIONS)
    for start in range(0, len(files), FILES_A_BATCH):
        writer.replace(files[start : start + FILES_A_BATCH])
        writer.maintain(finish=False)
    writer.maintain(finish=True)
    writer.close()
    _let_old_versions_go(directory, exact=True)


def _questions() -> list[list[str]]:
    chance = np.random.default_rng(4)
    words = (VOCABULARY * chance.random((QUESTIONS, 3)) ** 3).astype(int)
    return [[f"w{word}" for word in row] for row in words]


def _same_answers(soaked: ChunkReader, fresh: ChunkReader) -> int:
    """To how many questions both give the same hits, in the same order and with the same scores."""
    return sum(_answer(soaked, terms) == _answer(fresh, terms) for terms in _questions())


def _cpu_ratio(soaked: ChunkReader, fresh: ChunkReader) -> float:
    """What all questions cost, of two searchers that go on: what they read into memory first is not counted."""
    questions = _questions()
    for reader in (soaked, fresh):
        for _ in range(2):
            _seconds(reader, questions)
            rest()
    rounds = [[_seconds(reader, questions) for reader in (soaked, fresh)] for _ in range(ROUNDS)]
    one, other = (float(statistics.median(seconds)) for seconds in zip(*rounds, strict=True))
    return one / other


def _answer(reader: ChunkReader, terms: list[str]) -> list[tuple[str, float]]:
    return [(hit.chunk.chunk_id, round(hit.score, 4)) for hit in reader.lexical(terms, 50, Filters())]


def _seconds(reader: ChunkReader, questions: list[list[str]]) -> float:
    start = time.process_time()
    for terms in questions:
        reader.lexical(terms, 50, Filters())
    return time.process_time() - start


def _table(directory: Path) -> lance.LanceDataset:
    import lance  # after the store's package, which tells it what to log

    return lance.dataset(str(directory / TABLE_DIRECTORY))


def _bytes(directory: Path) -> int:
    return sum(path.stat().st_size for path in directory.rglob("*") if path.is_file())
