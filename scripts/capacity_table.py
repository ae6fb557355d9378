"""The tables of docs/scaling.md: what N chunks cost, by constants that were measured, and which limit is met first.

``python scripts/capacity_table.py`` prints them as Markdown. The constants are those of docs/benchmarks.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import NormalDist

TOKENS_A_CHUNK = 112
CORE_TOKENS = 12_000
"""Tokens that a core indexes a second, all steps of the pipeline included."""

PROCESS_BYTES = 330e6
SEARCH_CPU = 7.7e-3
CHUNK_CPU = 4.4e-8
"""CPU seconds of a search: those that it takes anyway, and those for each chunk of the index."""

SEARCH_P50 = 6.2e-3
CHUNK_P50 = 3.7e-8
"""Seconds of a search by the clock, half of all, alone on two cores: likewise."""

TAIL = 15.9 / 9.9
"""The time that 99 of 100 searches keep, over that which half of them keep."""

SIZES = (10**5, 10**6, 10**7, 10**8, 10**9)
CLUSTER_CORES = 64


@dataclass(frozen=True, slots=True)
class Space:
    """What a chunk takes with vectors of one type, in bytes: on the ``disk`` once old versions are gone, in ``memory``.

    ``shard`` chunks are what the default ``resident_bytes`` holds of a searcher.
    """

    disk: int
    memory: int
    shard: int


HALF = Space(1_730, 3_130, 175_000)
INT8 = Space(1_113, 2_360, 260_000)


@dataclass(frozen=True, slots=True)
class Cost:
    """What ``chunks`` cost over shards that are full, each of which looks at each question."""

    chunks: float
    space: Space = HALF

    @property
    def shards(self) -> int:
        """Searchers that hold one copy of all."""
        return math.ceil(self.chunks / self.space.shard)

    @property
    def indexing(self) -> float:
        """Core seconds of the first run."""
        return self.chunks * TOKENS_A_CHUNK / CORE_TOKENS

    @property
    def disk(self) -> float:
        """Bytes."""
        return self.chunks * self.space.disk

    @property
    def memory(self) -> float:
        """Bytes of all searchers."""
        return self.shards * PROCESS_BYTES + self.chunks * self.space.memory

    @property
    def cpu(self) -> float:
        """CPU seconds of one question, over all shards."""
        return self.shards * SEARCH_CPU + self.chunks * CHUNK_CPU

    @property
    def latency(self) -> float:
        """Seconds that half of all questions keep: the slowest shard's, where a shard's times are log-normal."""
        one = SEARCH_P50 + CHUNK_P50 * min(self.chunks, self.space.shard)
        spread = math.log(TAIL) / NormalDist().inv_cdf(0.99)
        return one * math.exp(spread * NormalDist().inv_cdf(0.5 ** (1 / self.shards)))


@dataclass(frozen=True, slots=True)
class Limit:
    """Something that ends at a number of chunks: ``need`` grows with them, up to ``most``."""

    what: str
    most: float
    need: str
    unsharded: bool = False

    def met_at(self) -> float:
        """The number of chunks at which it is met, by bisection; within a thousandth."""
        low, high = 1.0, 1e15
        while high / low > 1.001:
            middle = math.sqrt(low * high)
            low, high = (middle, high) if self._needed(middle) <= self.most else (low, middle)
        return low

    def _needed(self, chunks: float) -> float:
        if self.unsharded:
            return {"latency": SEARCH_P50 + CHUNK_P50 * chunks, "memory": PROCESS_BYTES + HALF.memory * chunks}[
                self.need
            ]
        return float(getattr(Cost(chunks), self.need))


LIMITS = (
    Limit("one searcher: half of all answers within 25 ms", 0.025, "latency", unsharded=True),
    Limit("one searcher: a machine with 256 GB of memory", 256e9, "memory", unsharded=True),
    Limit(f"shards: 10 questions a second on {CLUSTER_CORES} cores", CLUSTER_CORES / 10, "cpu"),
    Limit("shards: 16 machines with 256 GB of memory", 16 * 256e9, "memory"),
    Limit(f"first run within a day on {CLUSTER_CORES} cores", CLUSTER_CORES * 86_400, "indexing"),
)


def costs() -> Iterator[Sequence[str]]:
    """A row for each size, below the heads."""
    yield "chunks", "first run, core hours", "disk", "shards", "memory", "CPU a question", "p50", "questions/s a core"
    for size in SIZES:
        cost = Cost(size)
        yield (
            f"{size:,}",
            _number(cost.indexing / 3600),
            _bytes(cost.disk),
            f"{cost.shards:,}",
            _bytes(cost.memory),
            _seconds(cost.cpu),
            _seconds(cost.latency),
            _number(1 / cost.cpu),
        )


def costs_of_int8() -> Iterator[Sequence[str]]:
    """What differs with vectors in eight bits a number."""
    yield "chunks", "disk", "shards", "memory"
    for size in SIZES:
        cost = Cost(size, INT8)
        yield f"{size:,}", _bytes(cost.disk), f"{cost.shards:,}", _bytes(cost.memory)


def limits() -> Iterator[Sequence[str]]:
    """The limits by the number of chunks at which they are met, below the heads."""
    yield "limit", "met at chunks"
    for limit in sorted(LIMITS, key=Limit.met_at):
        yield limit.what, _rounded(limit.met_at())


def table(rows: Iterator[Sequence[str]]) -> str:
    """Rows as Markdown; the first has the heads."""
    head, *rest = rows
    return "\n".join("| " + " | ".join(row) + " |" for row in (head, ["---"] * len(head), *rest)) + "\n"


def tables() -> str:
    """The tables as they stand in the page, one after another."""
    return "\n".join(map(table, (costs(), costs_of_int8(), limits())))


def _number(value: float) -> str:
    """Two digits that count."""
    digits = max(0, 1 - math.floor(math.log10(value)))
    return f"{round(value, digits):,.{digits}f}" if digits else _rounded(value)


def _rounded(value: float) -> str:
    """A count with two digits that count."""
    return f"{int(round(value, 1 - math.floor(math.log10(value)))):,}"


def _bytes(value: float) -> str:
    for unit, size in (("TB", 1e12), ("GB", 1e9)):
        if value >= size:
            return f"{value / size:.1f} {unit}"
    return f"{value / 1e6:.0f} MB"


def _seconds(value: float) -> str:
    return f"{_number(value)} s" if value >= 1 else f"{1e3 * value:.0f} ms"


if __name__ == "__main__":
    print(tables(), end="")
