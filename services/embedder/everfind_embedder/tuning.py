"""Measures how this machine embeds fastest: how many threads, and how many tokens a run."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from everfind_core.cancellation import Cancellation
from everfind_core.ports import TokenIds
from everfind_embedder.encoder import RUN_TOKENS
from everfind_embedder.engine import OnnxEmbedder
from everfind_embedder.loading.loaded import LoadedModel

RUNS = (128, 256, 512, 1024)
SECONDS = 16.0
"""For all ways together, loading aside."""

_ROUNDS = 3
_FEWEST = 16
_GAIN = 1.05
"""What is faster by less than this may be so by chance: then the defaults stay."""

_STEADY = 0.85
"""The slowest round of the default way, of its fastest; below that others want the processor, and nothing is told."""

_SAMPLE = "def read(path: str) -> bytes: # the words of code and of prose, cut into pieces of any length\n"


@dataclass(frozen=True, slots=True)
class Way:
    """So many threads, and about so many tokens a run."""

    threads: int
    run_tokens: int


@dataclass(frozen=True, slots=True)
class Tuned:
    """Tokens a second of the best way and of the default one, which is the best if the machine was not ``steady``."""

    best: Way
    speed: float
    default_speed: float
    steady: bool


def ways(cpus: int, model: LoadedModel) -> list[Way]:
    """What is tried, the default first; a model whose runs hold one text each has no choice of runs."""
    threads = sorted({cpus, max(1, cpus // 2)}, reverse=True)
    runs = RUNS if model.run_tokens > 1 else (model.run_tokens,)
    default = Way(cpus, min(model.run_tokens, RUN_TOKENS))
    return [default, *(way for t in threads for r in runs if (way := Way(t, r)) != default)]


def measure(
    model: LoadedModel,
    cpus: int,
    *,
    seconds: float | None = None,
    cancel: Cancellation | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> Tuned:
    """Try all ways in turn, several times, so that a machine that is busy for a while wrongs none of them."""
    tried = ways(cpus, model)
    sample = _sample(model, _FEWEST)
    embedders = [OnnxEmbedder(_runs(model, way), way.threads) for way in tried]
    try:
        _speed(embedders[0], sample, cancel, clock)  # the first run pays for what is made once
        speed = _speed(embedders[0], sample, cancel, clock)
        tokens = speed * (SECONDS if seconds is None else seconds) / (_ROUNDS * len(tried))
        sample = _sample(model, max(_FEWEST, int(_FEWEST * tokens / _tokens(sample))))
        speeds = np.array([[_speed(e, sample, cancel, clock) for e in embedders] for _ in range(_ROUNDS)])
    finally:
        for embedder in embedders:
            embedder.close()
    return _chosen(tried, speeds)


def _chosen(tried: Sequence[Way], speeds: npt.NDArray[np.float64]) -> Tuned:
    """The fastest way by ``speeds`` of shape (rounds, ways); the default, which is the first, unless clearly slower."""
    best = speeds.max(axis=0)
    steady = bool(speeds[:, 0].min() >= _STEADY * best[0])
    first = int(np.argmax(best))
    chosen = first if steady and best[first] >= _GAIN * best[0] else 0
    return Tuned(tried[chosen], float(best[chosen]), float(best[0]), steady)


def _runs(model: LoadedModel, way: Way) -> Callable[[], LoadedModel]:
    return lambda: replace(model, run_tokens=way.run_tokens)


def _speed(
    embedder: OnnxEmbedder, sample: Sequence[TokenIds], cancel: Cancellation | None, clock: Callable[[], float]
) -> float:
    start = clock()
    embedder.embed_tokens(sample, cancel=cancel)
    return _tokens(sample) / max(clock() - start, 1e-9)


def _tokens(sample: Sequence[TokenIds]) -> int:
    return sum(map(len, sample))


def _sample(model: LoadedModel, count: int) -> list[TokenIds]:
    """Texts as chunks are: some short, most of middle length, some that fill the window."""
    longest = min(model.info.text_budget, 254)
    words = model.tokenizer.encode_ids(_SAMPLE)
    line = np.tile(words, longest // max(1, len(words)) + 1)
    lengths = np.random.default_rng(1).triangular(1, longest * 0.6, longest + 1, count).astype(int)
    return [line[: max(1, min(longest, int(length)))] for length in lengths]
