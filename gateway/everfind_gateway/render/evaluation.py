"""What an evaluation found, as a person reads it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from everfind_gateway.render.numbers import by_reason, count, duration

if TYPE_CHECKING:
    from everfind_gateway.evaluation import EvalReport, Measured

_COLUMNS = ("nDCG@10", "MRR@10", "R@1", "R@5", "R@10", "nDCGg@10", "chunk_nDCG@10", "LineHit@5", "stale_first")


def report_text(report: EvalReport) -> str:
    """A line on each matter, then a table with a row for each kind of question."""
    questions = count(report.overall.questions, "question")
    size = f"{count(report.coverage.files, 'file')}, {count(report.coverage.chunks, 'chunk')}"
    skipped = by_reason(report.coverage.skipped)
    lines = [
        f"{report.name}, {report.mode.value}: {questions}, {report.answered:,} answered",
        f"index: {size}, {duration(report.index_seconds)}" + (f"; skipped: {skipped}" if skipped else ""),
        f"search: p50 {report.p50 * 1000:.1f} ms, p95 {report.p95 * 1000:.1f} ms",
    ]
    if report.unanswerable:
        lines.append(f"without an answer: {count(report.unanswerable, 'question')}, {report.silent:,} met with silence")
    return "\n".join([*lines, "", *_table({"all": report.overall} | dict(report.by_kind))])


def _table(rows: Mapping[str, Measured]) -> list[str]:
    columns = [name for name in _COLUMNS if any(name in row.measures for row in rows.values())]
    width = max(map(len, rows))
    lines = [f"{'':{width}}  {'n':>6}  " + "  ".join(f"{name:>8}" for name in columns)]
    for kind, row in rows.items():
        cells = (
            f"{row.measures[name]:{max(8, len(name))}.3f}" if name in row.measures else " " * max(8, len(name))
            for name in columns
        )
        lines.append(f"{kind or '-':{width}}  {row.questions:6,}  " + "  ".join(cells))
    return [line.rstrip() for line in lines]
