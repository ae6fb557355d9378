"""What an evaluation found, as a person reads it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from everfind_core.text.numbers import by_reason, count, duration
from everfind_gateway.evaluation.report import Share

if TYPE_CHECKING:
    from everfind_gateway.evaluation.comparison import Change, Comparison
    from everfind_gateway.evaluation.report import EvalReport, Means, Measures

_COLUMNS = (
    "nDCG@10",
    "MRR@10",
    "R@1",
    "R@5",
    "R@10",
    "nDCGg@10",
    "chunk_nDCG@10",
    "LineHit@5",
    "stale_first",
    "contains@5",
)


def report_text(report: EvalReport) -> str:
    """A line on each matter, then a table with a row for each kind of question, and one without the floor."""
    overall = report.measured.overall
    size = f"{count(report.coverage.files, 'file')}, {count(report.coverage.chunks, 'chunk')}"
    skipped = by_reason(report.coverage.skipped)
    lines = [
        f"{report.name}, {report.mode.value}: {count(overall.questions, 'question')}, {report.answered:,} answered",
        f"index: {size}"
        + (f", {duration(report.index_seconds)}" if report.index_seconds else "")
        + (f"; skipped: {skipped}" if skipped else ""),
        f"search: p50 {report.p50 * 1000:.1f} ms, p95 {report.p95 * 1000:.1f} ms",
    ]
    if report.kept:
        kept = _share(Share.total(report.kept.values()))
        lines.append(f"kept by the floor: {kept} with a relevant file in the top 10 ({_shares(report.kept)})")
    if report.silent:
        lines.append(f"without an answer: {_share(report.unanswerable)} met with silence ({_shares(report.silent)})")
    if overall.questions:
        lines += ["", *_table(_rows(report.measured))]
    if report.floor_off != report.measured:
        lines += ["", "floor off", *_table(_rows(report.floor_off))]
    return "\n".join(lines)


def comparison_text(comparison: Comparison) -> str:
    """The means before and now, and the questions that became worse or better."""
    lines = ["since then", *(_change(change, change.measure) for change in comparison.means)]
    worse = [change for change in comparison.questions if change.now < change.before]
    better = [change for change in comparison.questions if change.now > change.before]
    lines.append(f"{count(len(worse), 'question')} worse, {len(better):,} better")
    lines += [_change(change, f"{change.question} {change.measure}") for change in (*worse, *better)]
    return "\n".join(lines)


def _change(change: Change, name: str) -> str:
    return f"  {name}: {change.before:.4f} → {change.now:.4f} ({change.now - change.before:+.4f})"


def _share(share: Share) -> str:
    return f"{share.count:,} of {share.questions:,}, {share.count / share.questions:.1%}"


def _shares(by_kind: Mapping[str, Share]) -> str:
    return "; ".join(f"{kind or '-'} {_share(share)}" for kind, share in by_kind.items())


def _rows(measures: Measures) -> Mapping[str, Means]:
    return {"all": measures.overall} | dict(measures.by_kind)


def _table(rows: Mapping[str, Means]) -> list[str]:
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
