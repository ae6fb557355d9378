"""Several index runs made and told as one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from everfind_core.model import IndexReport, IndexRequest

_COUNTS = tuple(one.name for one in fields(IndexReport) if type(one.default) is int and one.name != "generation")


def run_in_turn(requests: Sequence[IndexRequest], run: Callable[[IndexRequest], IndexReport]) -> IndexReport:
    """Make one run after the other, and tell them as one; ``max_files``, the same in all, counts over all of them."""
    limit = requests[0].max_files
    reports: list[IndexReport] = []
    for request in requests:
        left = limit - sum(report.indexed for report in reports)
        if limit and left <= 0:
            break
        reports.append(run(replace(request, max_files=left) if limit else request))
    report = combined(requests[: len(reports)], reports)
    unseen = len(requests) - len(reports)
    if not unseen:
        return report
    told = (
        f"{unseen} of the named paths {'was' if unseen == 1 else 'were'} not looked at: the limit of files is reached"
    )
    return replace(report, warnings=(*report.warnings, told))


def combined(requests: Sequence[IndexRequest], reports: Sequence[IndexReport]) -> IndexReport:
    """One report for runs that followed each other: counts and times add up, ``generation`` is the last one's.

    What was skipped is of whole folders, so of several runs in the same folders the last one counts.
    """
    if len(reports) == 1:
        return reports[0]
    last = {request.folders: report for request, report in zip(requests, reports, strict=True)}
    counts: dict[str, Any] = {name: sum(getattr(report, name) for report in reports) for name in _COUNTS}
    return replace(
        reports[-1],
        **counts,
        skipped={reason: int(number) for reason, number in _added(r.skipped for r in last.values()).items()},
        seconds=_added(r.seconds for r in reports),
        errors=tuple(error for r in reports for error in r.errors),
        generation=max(r.generation for r in reports),
        warnings=tuple(dict.fromkeys(warning for r in reports for warning in r.warnings)),
    )


def _added(parts: Iterable[Mapping[str, float]]) -> dict[str, float]:
    total: dict[str, float] = {}
    for part in parts:
        for key, number in part.items():
            total[key] = total.get(key, 0) + number
    return total
