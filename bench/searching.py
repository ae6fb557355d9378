"""Warm searches in one process, embedding included, at several sizes, against what their parts cost bare."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import lance
import numpy as np
import numpy.typing as npt
from lance.query import MatchQuery

from bench import corpora
from bench.figures import Figure, own_peak_mib, percentile
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
BARS = {("p50", 20_000): 15.0, ("p95", 20_000): 30.0, ("p50", 100_000): 8.0, ("p99", 100_000): 40.0}
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


def measure(*, quick: bool = False) -> Iterator[Figure]:
    """Percentiles over the standard library's first files; beyond that, over mixtures of their chunks."""
    with tempfile.TemporaryDirectory() as scratch:
        base = Path(scratch)
        corpus = corpora.stdlib(base / "code", files=20 if quick else FILES)
        embedder = open_embedder(EmbedderSettings())
        settings = IndexerSettings(base / "index", (Folder("code", str(corpus)),))
        indexer = IndexEngine(settings, embedder, SyntaxChunker(), open_writer)
        indexer.index(IndexRequest(), lambda _event: None)
        for size in SIZES[:1] if quick else SIZES:
            rows = grow(current_index(base / "index").directory, size)
            searcher = SearchEngine(SearcherSettings(base / "index"), embedder, indexer, open_reader)
            yield from _at_size(base / "index", searcher, embedder, size, f"{rows:,} chunks")
            searcher.close()
        embedder.close()


def _at_size(index: Path, searcher: SearchEngine, embedder: Embedder, size: int, note: str) -> Iterator[Figure]:
    directory = current_index(index).directory
    bare = BareQueries(directory)
    warm_up(searcher)
    times = Times([], {name: [] for name in FILTERS}, [], [], [], [])
    for question in QUESTIONS:
        times.search.append(_milliseconds(searcher.search, SearchRequest(question)))
        for n, (name, where) in enumerate(FILTERS.items(), start=1):
            again = SearchRequest(question + n * "?", filters=where)  # other texts, so that each is embedded
            times.filtered[name].append(_milliseconds(searcher.search, again))
        times.embed.append(_milliseconds(lambda text: embedder.embed([text], InputKind.QUERY), question))
        vector = embedder.embed([question], InputKind.QUERY)[0]
        times.semantic.append(_milliseconds(bare.semantic, vector))
        times.lexical.append(_milliseconds(bare.lexical, question))
        times.exact.append(_milliseconds(bare.exact, vector))
    for name, share in SHARES.items():
        bar = BARS.get((name, size))
        yield Figure(f"search {name}", percentile(times.search, share), "ms", bar, note=note)
    for name, filtered in times.filtered.items():
        ratio = percentile(filtered, 0.5) / percentile(times.search, 0.5)
        yield Figure(f"  filtered {name} / unfiltered, p50", ratio, "×", MOST_FOR_A_FILTER, note=note)
    for name, part in times.parts().items():
        yield Figure(f"  {name}, p50", percentile(part, 0.5), "ms", note=note)
    for name, resident_bytes in (("in memory", RESIDENT_BYTES), ("by the store's index", 0)):
        for said, where in (("", Filters()), (", filtered", FILTERS["by kind"])):
            recall = _recall(bare, _open(directory, resident_bytes), embedder, where)
            yield Figure(f"  recall@10 of the semantic arm {name}{said}", recall, "", 0.99, at_most=False, note=note)
    yield Figure("  peak memory of this process, indexing included", own_peak_mib(), "MiB", note=note)


@dataclass(frozen=True, slots=True)
class Times:
    """Milliseconds of each question, whole and of its parts alone."""

    search: list[float]
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
    """Ask until rows are in memory, with questions that do not count."""
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
    end = time.monotonic() + WARM_SECONDS
    while resident_bytes and time.monotonic() < end:
        reader.lexical(["self"], 10, Filters())
    return reader


def _recall(bare: BareQueries, reader: ChunkReader, embedder: Embedder, where: Filters) -> float:
    """The share of the ten nearest chunks that the arm finds; one as near as the tenth is as good."""
    shares = []
    for question in QUESTIONS:
        vector = embedder.embed([question], InputKind.QUERY)[0]
        tenth = bare.exact(vector, where.kinds)[0] - 1e-3  # the arm compares in float16
        shares.append(sum(found.score >= tenth for found in reader.semantic(vector, 10, where)) / 10)
    return float(np.mean(shares))
