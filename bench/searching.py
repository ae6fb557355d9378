"""Warm searches in one process, embedding included, at several sizes, against what their parts cost bare."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

import lance
import numpy as np
import numpy.typing as npt
from lance.query import MatchQuery

from bench import corpora
from bench.figures import Figure, own_peak_mib, percentile, rest
from bench.growth import grow
from everfind_core.index.directory import current_index
from everfind_core.index.store_schema import KIND, METRIC, PROBES, TABLE_DIRECTORY, TERMS, VECTOR
from everfind_core.model import Filters, Folder, IndexRequest, InputKind, SearchRequest
from everfind_core.ports import ChunkReader, Embedder
from everfind_core.text.lexical import query_terms
from everfind_embedder import EmbedderSettings, open_embedder
from everfind_indexer.engine import IndexEngine
from everfind_indexer.settings import IndexerSettings
from everfind_indexer.store import open_writer
from everfind_indexer.syntax import SyntaxChunker
from everfind_searcher.engine import SearchEngine
from everfind_searcher.ordering.finding import CANDIDATES
from everfind_searcher.settings import SearcherSettings
from everfind_searcher.store import RESIDENT_BYTES, open_reader
from everfind_searcher.store.rows import vectors

FILES = 100
SIZES = (5_000, 20_000, 100_000)
WARM_SECONDS = 10.0
MILLION = 1_000_000
ROW_BYTES = 2_600
"""More than a row takes in memory."""

BARS = {20_000: {"p50": 15.0, "p95": 30.0}, 100_000: {"p50": 8.0, "p99": 40.0}, MILLION: {"p50": 25.0}}
FILTERS = {"by kind": Filters(kinds=("function",)), "by path": Filters(exclude=("test*", "[a-c]*.py"))}
MOST_FOR_A_FILTER = 4.0
SHARES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}

SUBJECTS = (
    "removing a temporary directory",
    "command line arguments",
    "reading a zip archive",
    "thread pool executor shutdown",
    "HTTPResponse readline",
    "json decoder error position",
    "timezone aware datetime arithmetic",
    "the context manager protocol",
    "socket timeouts",
    "compiling a regular expression",
    "rotating log files",
    "random choice with weights",
    "base64 encoded bytes",
    "walking a directory tree",
    "registering abstract base classes",
    "formatting a traceback",
    "sniffing a csv dialect",
    "locale aware string collation",
    "cancelling an asyncio task",
    "a patched mock object",
)
FRAMES = (
    "{}",
    "where is {} implemented",
    "{} fails with an error",
    "the default for {}",
    "how does {} work",
    "tests of {}",
    "{} on windows",
    "who calls {}",
    "{} without blocking",
    "documentation about {}",
)
QUESTIONS = tuple(frame.format(subject) for frame in FRAMES for subject in SUBJECTS)
"""Each is asked once, so that none is answered from what was kept of another."""


@dataclass(frozen=True, slots=True)
class Case:
    """An index, what is asked of it, how much of it a searcher may have in memory, and the bars in milliseconds."""

    directory: Path
    note: str
    bars: Mapping[str, float]
    questions: Sequence[str] = QUESTIONS
    resident_bytes: int = RESIDENT_BYTES


def measure(*, quick: bool = False) -> Iterator[Figure]:
    """Percentiles over the standard library's first files; beyond that, over mixtures of their chunks."""
    with _indexed(files=20 if quick else FILES) as (directory, indexer, embedder):
        for size in SIZES[:1] if quick else SIZES:
            rows = grow(current_index(directory).directory, size)
            yield from _figures(Case(directory, f"{rows:,} chunks", BARS.get(size, {})), indexer, embedder)


def million(*, quick: bool = False) -> Iterator[Figure]:
    """The same at a million chunks: with what memory a searcher has by default, then with all of them in memory.

    It takes some 20 minutes, 8 GB of memory and 6 GB of disk.
    """
    with _indexed(files=20 if quick else FILES) as (directory, indexer, embedder):
        rows = grow(current_index(directory).directory, SIZES[0] if quick else MILLION)
        for note, resident_bytes in (("default memory", RESIDENT_BYTES), ("all in memory", rows * ROW_BYTES)):
            case = Case(directory, f"{rows:,} chunks, {note}", BARS[MILLION], QUESTIONS[::4], resident_bytes)
            yield from _figures(case, indexer, embedder)


@contextmanager
def _indexed(files: int) -> Iterator[tuple[Path, IndexEngine, Embedder]]:
    """The index directory of so many files of the standard library, and the engines over it."""
    with tempfile.TemporaryDirectory() as scratch:
        base = Path(scratch)
        corpus = corpora.stdlib(base / "code", files=files)
        embedder = open_embedder(EmbedderSettings())
        settings = IndexerSettings(base / "index", (Folder("code", str(corpus)),))
        indexer = IndexEngine(settings, embedder, SyntaxChunker(), open_writer)
        indexer.index(IndexRequest(), lambda _event: None)
        yield base / "index", indexer, embedder
        embedder.close()


def _figures(case: Case, indexer: IndexEngine, embedder: Embedder) -> Iterator[Figure]:
    bare = BareQueries(current_index(case.directory).directory)
    times = _asked(case, bare, indexer, embedder)
    for name, share in SHARES.items():
        yield Figure(f"search {name}", percentile(times.search, share), "ms", case.bars.get(name), note=case.note)
    yield Figure("  CPU time of a search, all threads, mean", fmean(times.cpu), "ms", note=case.note)
    for name, filtered in times.filtered.items():
        ratio = percentile(filtered, 0.5) / percentile(times.search, 0.5)
        yield Figure(f"  filtered {name} / unfiltered, p50", ratio, "×", MOST_FOR_A_FILTER, note=case.note)
    for name, part in times.parts().items():
        yield Figure(f"  {name}, p50", percentile(part, 0.5), "ms", note=case.note)
    yield from _recalls(case, bare, embedder)
    yield Figure("  peak memory of this process, indexing included", own_peak_mib(), "MiB", note=case.note)


def _asked(case: Case, bare: BareQueries, indexer: IndexEngine, embedder: Embedder) -> Times:
    searcher = SearchEngine(
        SearcherSettings(case.directory), embedder, indexer, partial(open_reader, resident_bytes=case.resident_bytes)
    )
    warm_up(searcher)
    times = Times([], [], {name: [] for name in FILTERS}, [], [], [], [])
    for question in case.questions:
        before = time.process_time()
        times.search.append(_milliseconds(searcher.search, SearchRequest(question)))
        times.cpu.append(1e3 * (time.process_time() - before))
        for n, (name, where) in enumerate(FILTERS.items(), start=1):
            again = SearchRequest(question + n * "?", filters=where)  # other texts, so that each is embedded
            times.filtered[name].append(_milliseconds(searcher.search, again))
        times.embed.append(_milliseconds(lambda text: embedder.embed([text], InputKind.QUERY), question))
        vector = embedder.embed([question], InputKind.QUERY)[0]
        times.semantic.append(_milliseconds(bare.semantic, vector))
        times.lexical.append(_milliseconds(bare.lexical, question))
        times.exact.append(_milliseconds(bare.exact, vector))
    searcher.close()
    return times


def _recalls(case: Case, bare: BareQueries, embedder: Embedder) -> Iterator[Figure]:
    for name, resident_bytes in (("as it is asked", case.resident_bytes), ("by the store's index", 0)):
        reader = _open(current_index(case.directory).directory, resident_bytes)
        for said, where in (("", Filters()), (", filtered", FILTERS["by kind"])):
            recall = _recall(bare, reader, embedder, where, case.questions)
            claim = f"  recall@10 of the semantic arm {name}{said}"
            yield Figure(claim, recall, "", 0.99, at_most=False, note=case.note)


@dataclass(frozen=True, slots=True)
class Times:
    """Milliseconds of each question, whole and of its parts alone; ``cpu`` are those of all threads."""

    search: list[float]
    cpu: list[float]
    filtered: dict[str, list[float]]
    embed: list[float]
    semantic: list[float]
    lexical: list[float]
    exact: list[float]

    def parts(self) -> dict[str, list[float]]:
        """The parts by what they are."""
        return {
            "embedding the query alone": self.embed,
            "bare store, nearest rows": self.semantic,
            "bare store, rows by terms": self.lexical,
            "exact scan of all vectors (numpy, float32)": self.exact,
        }


class BareQueries:
    """What the store and numpy take to find rows, and nothing else."""

    def __init__(self, directory: Path) -> None:
        self._table = lance.dataset(str(directory / TABLE_DIRECTORY))
        rows = self._table.scanner(columns=[VECTOR, KIND]).to_table()
        found = vectors(rows).astype(np.float32)
        self._matrix = found / np.linalg.norm(found, axis=1, keepdims=True)
        self._kinds = np.array(rows[KIND].to_pylist())

    def semantic(self, vector: npt.NDArray[np.float32]) -> None:
        """The nearest rows by the store's own index."""
        nearest = {"column": VECTOR, "q": vector, "k": CANDIDATES, "metric": METRIC, "nprobes": PROBES}
        self._rows(columns=["_distance"], nearest=nearest)

    def lexical(self, question: str) -> None:
        """The best rows by terms."""
        query = MatchQuery(" ".join(dict.fromkeys(query_terms(question))), TERMS)
        self._rows(columns=["_score"], full_text_query=query, limit=CANDIDATES)

    def exact(self, vector: npt.NDArray[np.float32], kinds: Sequence[str] = ()) -> npt.NDArray[np.float32]:
        """The ten highest cosines, lowest first; of chunks of some kinds only, where they are named."""
        cosines: npt.NDArray[np.float32] = self._matrix @ vector
        if kinds:
            cosines = cosines[np.isin(self._kinds, kinds)]
        return np.sort(np.partition(cosines, len(cosines) - 10)[-10:])

    def _rows(self, **options: Any) -> None:
        self._table.scanner(with_row_address=True, **options).to_table()


def warm_up(searcher: SearchEngine) -> None:
    """Ask until rows are in memory, as far as they fit, with questions that do not count."""
    for n in range(2):  # from the second question on
        searcher.search(SearchRequest(f"warming up {n}"))
    rest()
    end = time.monotonic() + WARM_SECONDS
    while time.monotonic() < end:
        for subject in SUBJECTS:
            searcher.search(SearchRequest(f"warming up with {subject}"))


def _milliseconds(call: Callable[[Any], object], argument: object) -> float:
    start = time.perf_counter()
    call(argument)
    return 1e3 * (time.perf_counter() - start)


def _open(directory: Path, resident_bytes: int) -> ChunkReader:
    """A reader that has its rows in memory, as far as they may be there."""
    reader = open_reader(directory, resident_bytes)
    for _ in range(2):
        reader.lexical(["self"], 10, Filters())
    rest()
    return reader


def _recall(
    bare: BareQueries, reader: ChunkReader, embedder: Embedder, where: Filters, questions: Sequence[str]
) -> float:
    """The share of the ten nearest chunks that the arm finds; one as near as the tenth is as good."""
    shares = []
    for question in questions:
        vector = embedder.embed([question], InputKind.QUERY)[0]
        tenth = bare.exact(vector, where.kinds)[0] - 1e-3  # the arm compares in float16
        shares.append(sum(found.score >= tenth for found in reader.semantic(vector, 10, where)) / 10)
    return float(np.mean(shares))
