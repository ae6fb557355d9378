"""Retrieval measures of one ranking against known answers, and their means.

MRR, recall, hit rate and nDCG as in TREC (linear gain, log2 discount, cut at 10); lists are of files, best first.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

DEPTH = 10
"""Places of a ranking that count."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A file that answers a question, at ``lines`` (first and last, from 1) if known; a higher ``grade`` is better."""

    path: str
    lines: tuple[int, int] | None = None
    grade: float = 1.0


@dataclass(frozen=True, slots=True)
class RankedChunk:
    """A chunk in a ranking: its file, and its lines from 1, both included."""

    path: str
    start_line: int
    end_line: int


def measure(
    ranking: Sequence[RankedChunk],
    answers: Sequence[Answer],
    *,
    ignore: Collection[str] = (),
    stale: Collection[str] = (),
) -> dict[str, float]:
    """Every measure that applies to one question; ``answers`` is not empty.

    ``ignore``: files taken out of the ranking first. ``stale``: superseded files, which should rank below the answers.

    - by file, each at its first chunk: ``MRR@10``, ``R@1``, ``R@5``, ``R@10``, ``Hit@10``, ``nDCG@10``, and
      ``nDCGg@10`` with grades as gain where they differ from 1
    - by chunk: ``chunk_nDCG@10``, each answer at its first chunk; ``LineHit@5``, ``LineMRR@10`` where lines are known
    - ``stale_first``, ``fresh@1`` where there are stale files
    """
    chunks = [found for found in ranking if found.path not in ignore]
    files = list(dict.fromkeys(found.path for found in chunks))[:DEPTH]
    return {
        **_file_measures(files, answers),
        **_line_measures(chunks[:DEPTH], answers),
        "chunk_nDCG@10": _chunk_ndcg(chunks[:DEPTH], answers),
        **(_stale_measures(files, answers, stale) if stale else {}),
    }


def mean(measured: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """The mean of each measure over the questions to which it applies."""
    values: dict[str, list[float]] = {}
    for one in measured:
        for name, value in one.items():
            values.setdefault(name, []).append(value)
    return {name: sum(found) / len(found) for name, found in values.items()}


def dcg(gains: Iterable[float]) -> float:
    """Discounted cumulative gain: Σ gain / log2(rank + 1), ranks from 1."""
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))


def _file_measures(files: Sequence[str], answers: Sequence[Answer]) -> dict[str, float]:
    grades = _grades(answers)
    ranks = [rank for rank, path in enumerate(files, start=1) if path in grades]
    measures = {"MRR@10": 1 / ranks[0] if ranks else 0.0}
    for cut in (1, 5, 10):
        measures[f"R@{cut}"] = sum(rank <= cut for rank in ranks) / len(grades)
    measures["Hit@10"] = float(bool(ranks))
    measures["nDCG@10"] = dcg(float(path in grades) for path in files) / _binary_ideal(len(grades))
    if any(grade != 1 for grade in grades.values()):
        ideal = dcg(sorted(grades.values(), reverse=True)[:DEPTH])
        measures["nDCGg@10"] = dcg(grades.get(path, 0.0) for path in files) / ideal
    return measures


def _line_measures(chunks: Sequence[RankedChunk], answers: Sequence[Answer]) -> dict[str, float]:
    lined = [answer for answer in answers if answer.lines]
    if not lined or not chunks:
        return {}
    ranks = [rank for rank, found in enumerate(chunks, start=1) if any(_covers(found, answer) for answer in lined)]
    first = ranks[0] if ranks else math.inf
    return {"LineHit@5": float(first <= 5), "LineMRR@10": 1 / first}


def _chunk_ndcg(chunks: Sequence[RankedChunk], answers: Sequence[Answer]) -> float:
    places = {next((place for place, found in enumerate(chunks) if _covers(found, answer)), None) for answer in answers}
    return dcg(float(place in places) for place in range(DEPTH)) / _binary_ideal(len(answers))


def _stale_measures(files: Sequence[str], answers: Sequence[Answer], stale: Collection[str]) -> dict[str, float]:
    grades = _grades(answers)
    first_stale = next((place for place, path in enumerate(files) if path in stale), math.inf)
    first_fresh = next((place for place, path in enumerate(files) if path in grades), math.inf)
    return {"stale_first": float(first_stale < first_fresh), "fresh@1": float(first_fresh == 0)}


def _grades(answers: Sequence[Answer]) -> dict[str, float]:
    """The best grade of each answering file."""
    grades: dict[str, float] = {}
    for answer in answers:
        grades[answer.path] = max(grades.get(answer.path, 0.0), answer.grade)
    return grades


def _covers(found: RankedChunk, answer: Answer) -> bool:
    if found.path != answer.path:
        return False
    return answer.lines is None or (found.start_line <= answer.lines[1] and found.end_line >= answer.lines[0])


def _binary_ideal(answers: int) -> float:
    return dcg([1.0] * min(DEPTH, answers))
