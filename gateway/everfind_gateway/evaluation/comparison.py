"""Runs kept for later, compared with a new one; and bars that a run must reach."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from everfind_core.causes import cause
from everfind_core.errors import InvalidRequestError, StorageError
from everfind_core.files.parsed_json import parse_json
from everfind_gateway.evaluation.report import EvalReport

FORMAT = 1
TOLD = ("nDCG@10", "contains@5")
"""What a question's own change is told by: the first of them that it has."""
_HINT = "Give a file that `everfind eval --save` wrote."


@dataclass(frozen=True, slots=True)
class Change:
    """A measure before and now; of a question where ``question`` names one."""

    measure: str
    before: float
    now: float
    question: str = ""


@dataclass(frozen=True, slots=True)
class Comparison:
    """The means that both runs have, and the questions that changed, the largest changes first."""

    means: Sequence[Change]
    questions: Sequence[Change]

    def as_json(self) -> dict[str, Any]:
        """The changes as lists of objects."""
        means = [{"measure": c.measure, "before": c.before, "now": c.now} for c in self.means]
        questions = [{"id": c.question, "measure": c.measure, "before": c.before, "now": c.now} for c in self.questions]
        return {"measures": means, "questions": questions}


def save(report: EvalReport, file: Path) -> None:
    """Keep a run.

    Raises:
        StorageError: the file cannot be written.
    """
    content = {"format": FORMAT, **report.as_json(), "questions_measured": report.by_question}
    try:
        file.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    except OSError as error:
        raise StorageError(f"{file} cannot be written: {error.strerror}", hint="Choose another place.") from error


def compare(report: EvalReport, file: Path) -> Comparison:
    """A run against the one that ``file`` keeps.

    Raises:
        InvalidRequestError: the file holds no run.
    """
    saved = _read(file)
    means, questions = saved["measures"], saved["questions_measured"]
    now = report.measured.overall.measures
    changed = [
        Change(name, questions[key][name], measured[name], key)
        for key, measured in report.by_question.items()
        for name in [next((told for told in TOLD if told in measured), "")]
        if name and name in questions.get(key, {}) and abs(questions[key][name] - measured[name]) > 1e-9
    ]
    return Comparison(
        [Change(name, means[name], now[name]) for name in now if name in means],
        sorted(changed, key=lambda change: (change.now - change.before, change.question)),
    )


def missed(report: EvalReport, bars: Mapping[str, float]) -> list[tuple[str, float, float]]:
    """The bars that a run does not reach: measure, bar, and what it is.

    Raises:
        InvalidRequestError: a measure is none of this run.
    """
    now = report.measured.overall.measures
    for name in bars:
        if name not in now:
            raise InvalidRequestError.of(
                "at_least", f"no measure is called {name!r}", hint=f"There are {', '.join(now)}."
            )
    return [(name, bar, now[name]) for name, bar in bars.items() if now[name] < bar]


def parse_bars(given: Sequence[str]) -> dict[str, float]:
    """``MEASURE=VALUE`` each.

    Raises:
        InvalidRequestError: one is not of that form.
    """
    bars = {}
    for text in given:
        name, _, value = text.rpartition("=")
        try:
            bars[name.strip()] = float(value)
        except ValueError:
            name = ""
        if not name.strip():
            raise InvalidRequestError.of("at_least", f"{text!r} is no MEASURE=VALUE", hint="Such as nDCG@10=0.8.")
    return bars


def _read(file: Path) -> Mapping[str, Any]:
    try:
        saved = parse_json(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidRequestError.of("compare", f"{file} cannot be read: {cause(error)}", hint=_HINT) from None
    wanted = isinstance(saved, dict) and saved.get("format") == FORMAT
    if not wanted or not _numbers(saved.get("measures")) or not _tables(saved.get("questions_measured")):
        raise InvalidRequestError.of("compare", f"{file} holds no run", hint=_HINT)
    return dict(saved)


def _numbers(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(number, int | float) for number in value.values())


def _tables(value: object) -> bool:
    return isinstance(value, dict) and all(map(_numbers, value.values()))
