"""From the save of a file to the first answer that holds its new word, through a server that follows its folder."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import psutil

from bench.figures import Figure, percentile, run
from bench.freshness import CHUNKS_A_FILE, VOCABULARY
from bench.indexing import environment, everfind
from bench.serving import connect, served_corpus
from everfind_core.model import SearchMode, SearchRequest
from everfind_indexer.watching import Pace
from everfind_rpc.clients.indexer import RemoteIndexer
from everfind_rpc.clients.searcher import RemoteSearcher

PARAGRAPHS = 2_000
"""Of so many different ones all pages are made: each is embedded once, so that a large index is made soon."""
WORDS = 55
SAVES = 44
WARM = 4
"""Saves that are not counted."""
LOOK_SECONDS = 0.02
PATIENCE_SECONDS = 600.0


def measure(*, quick: bool = False) -> Iterator[Figure]:
    """Less what the follower waits for quiet. The packaged model embeds what is saved."""
    for chunks in (1_000,) if quick else (20_000, 100_000):
        with tempfile.TemporaryDirectory() as scratch:
            seconds, cpu = _saves(Path(scratch), chunks // CHUNKS_A_FILE)
        what = f"a save at {chunks:,} chunks: until an answer has it"
        note = (
            f"p95; median {percentile(seconds, 0.5):.3f}, most {max(seconds):.3f}, of {len(seconds)}; the quiet apart"
        )
        yield Figure(what, percentile(seconds, 0.95), "s", 0.5, note=note)
        yield Figure("  of it the server's processor time, median", percentile(cpu, 0.5), "ms CPU")


def _saves(base: Path, files: int) -> tuple[list[float], list[float]]:
    """Of each save the seconds, and the milliseconds of the server's processor time."""
    chance = np.random.default_rng(5)
    corpus, env = base / "pages", environment(base / "home")
    pages = _write(corpus, files, chance)
    run(everfind("add", str(corpus)), env=env)
    run(everfind("index", "--json"), env=env)
    seconds, cpu = [], []
    with served_corpus(env) as (pid, address, token), connect(address, token) as connection:
        _until_followed(RemoteIndexer(connection))
        searcher = RemoteSearcher(connection)
        searcher.search(SearchRequest("w1 w2"))
        server = psutil.Process(pid)
        for number in range(SAVES):
            page = pages[int(chance.integers(files))]
            before = server.cpu_times()
            seconds.append(_until_found(searcher, page, f"saved{number}", _paragraph(chance)))
            after = server.cpu_times()
            cpu.append(1e3 * (after.user + after.system - before.user - before.system))
            time.sleep(chance.random())  # at no fixed moment of the follower's steps
    return seconds[WARM:], cpu[WARM:]


def _until_found(searcher: RemoteSearcher, page: Path, word: str, paragraph: str) -> float:
    """Save a page with a new paragraph that has ``word``; the seconds until it is found, less the quiet."""
    text = page.read_text(encoding="ascii")
    quiet = Pace().quiet
    page.write_text(f"{text}{paragraph} {word}\n\n", encoding="ascii")
    start = time.perf_counter()
    time.sleep(quiet)
    question = SearchRequest(word, 1, SearchMode.LEXICAL)
    while not any(word in hit.text for hit in searcher.search(question).hits):
        if time.perf_counter() - start > PATIENCE_SECONDS:
            raise RuntimeError(f"the server does not take in {page}")
        time.sleep(LOOK_SECONDS)
    return time.perf_counter() - start - quiet


def _write(corpus: Path, files: int, chance: np.random.Generator) -> list[Path]:
    paragraphs = [_paragraph(chance) for _ in range(PARAGRAPHS)]
    pages = [corpus / f"d{number % 100:02}" / f"page{number:05}.txt" for number in range(files)]
    for page in pages:
        page.parent.mkdir(parents=True, exist_ok=True)
        chosen = (paragraphs[place] for place in chance.integers(PARAGRAPHS, size=CHUNKS_A_FILE))
        page.write_text("".join(f"{paragraph}\n\n" for paragraph in chosen), encoding="ascii")
    return pages


def _paragraph(chance: np.random.Generator) -> str:
    """A chunk's worth of words."""
    words = (VOCABULARY * chance.random(WORDS) ** 3).astype(int)
    return " ".join(f"w{word}" for word in words)


def _until_followed(indexer: RemoteIndexer) -> None:
    """Until the server has looked at all files once, and hears of changes from then on."""
    ends = time.monotonic() + PATIENCE_SECONDS
    while True:
        status = indexer.status()
        if all(folder.watched for folder in status.folders) and not status.coverage.pending:
            return
        if time.monotonic() > ends:
            raise RuntimeError("the server does not follow its folder")
        time.sleep(0.2)
