"""What an evaluation found."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from everfind_core.model import Coverage, SearchMode
from everfind_gateway.evaluation.asking import AnsweredQuestion
from everfind_gateway.evaluation.labelled import EvaluationSet
from everfind_gateway.evaluation.measures import mean


@dataclass(frozen=True, slots=True)
class Means:
    """Means over so many questions; each measure over those to which it applies."""

    questions: int
    measures: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Measures:
    """What all questions and those of each kind measured."""

    overall: Means
    by_kind: Mapping[str, Means]

    def as_json(self) -> dict[str, Any]:
        """As an object; measures have four decimals."""
        return {
            "measures": _rounded(self.overall.measures),
            "by_kind": {k: {"questions": m.questions} | _rounded(m.measures) for k, m in self.by_kind.items()},
        }


@dataclass(frozen=True, slots=True)
class Share:
    """So many of so many questions."""

    count: int
    questions: int

    @classmethod
    def total(cls, shares: Iterable[Share]) -> Share:
        """All of them together."""
        together = tuple(shares)
        return cls(sum(one.count for one in together), sum(one.questions for one in together))


@dataclass(frozen=True, slots=True)
class EvalReport:
    """What an evaluation found.

    ``answered`` questions had hits; ``floor_off`` are the same measures where every hit may answer. ``kept`` counts by
    kind, of the questions with a relevant file among the first ten without a floor, those that still have it;
    ``silent`` counts by kind, of the questions without an answer, those that were met with silence. ``p50`` and ``p95``
    are seconds of one search for 100 hits with model and index warm; ``index_seconds`` is what indexing took.
    ``by_question`` has each question's measures, by its id.
    """

    name: str
    mode: SearchMode
    answered: int
    measured: Measures
    p50: float
    p95: float
    coverage: Coverage
    index_seconds: float
    floor_off: Measures
    kept: Mapping[str, Share]
    silent: Mapping[str, Share]
    by_question: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    @property
    def unanswerable(self) -> Share:
        """Of all questions without an answer, those that were met with silence."""
        return Share.total(self.silent.values())

    def as_json(self) -> dict[str, Any]:
        """The report as one object; measures have four decimals."""
        return {
            "set": self.name,
            "mode": self.mode.value,
            "questions": self.measured.overall.questions,
            "answered": self.answered,
            **self.measured.as_json(),
            "floor_off": self.floor_off.as_json(),
            "milliseconds": {"p50": round(self.p50 * 1000, 1), "p95": round(self.p95 * 1000, 1)},
            "index": {
                "files": self.coverage.files,
                "chunks": self.coverage.chunks,
                "skipped": dict(self.coverage.skipped),
                "seconds": round(self.index_seconds, 1),
            },
            "kept": {kind: {"found": one.questions, "kept": one.count} for kind, one in self.kept.items()},
            "unanswerable": {"questions": self.unanswerable.questions, "silent": self.unanswerable.count}
            | {"by_kind": {k: {"questions": s.questions, "silent": s.count} for k, s in self.silent.items()}},
        }


def make_report(
    labelled: EvaluationSet,
    mode: SearchMode,
    asked: Sequence[AnsweredQuestion],
    unlimited: Sequence[AnsweredQuestion],
    others: Sequence[AnsweredQuestion],
    *,
    coverage: Coverage,
    index_seconds: float,
) -> EvalReport:
    """The report on a set's questions as they were asked: with the floor, without, and those without an answer."""
    times = sorted(one.seconds for one in asked)
    still = [
        (one.question.kind, _found_early(one)) for one, free in zip(asked, unlimited, strict=True) if _found_early(free)
    ]
    return EvalReport(
        name=labelled.name,
        mode=mode,
        answered=sum(bool(one.ranking) for one in asked),
        measured=_means(asked),
        p50=_percentile(times, 0.5),
        p95=_percentile(times, 0.95),
        coverage=coverage,
        index_seconds=index_seconds,
        floor_off=_means(unlimited),
        kept=_shares(still),
        silent=_shares((one.question.kind, not one.ranking) for one in others),
        by_question={one.question.id: one.measures for one in asked},
    )


def _means(asked: Sequence[AnsweredQuestion]) -> Measures:
    by_kind: dict[str, list[Mapping[str, float]]] = {}
    for one in asked:
        by_kind.setdefault(one.question.kind, []).append(one.measures)
    return Measures(
        Means(len(asked), mean(m for measured in by_kind.values() for m in measured)),
        {kind: Means(len(measured), mean(measured)) for kind, measured in sorted(by_kind.items())},
    )


def _found_early(one: AnsweredQuestion) -> bool:
    """Whether a relevant file is among the first ten."""
    return one.measures.get("Hit@10", 0.0) > 0


def _shares(counted: Iterable[tuple[str, bool]]) -> Mapping[str, Share]:
    """By kind, how many are true."""
    by_kind: dict[str, list[bool]] = {}
    for kind, true in counted:
        by_kind.setdefault(kind, []).append(true)
    return {kind: Share(sum(found), len(found)) for kind, found in sorted(by_kind.items())}


def _percentile(ordered: Sequence[float], share: float) -> float:
    """The nearest-rank percentile of values in ascending order; 0 of none."""
    if not ordered:
        return 0.0
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def _rounded(measures: Mapping[str, float]) -> dict[str, float]:
    return {name: round(value, 4) for name, value in measures.items()}
