"""Several index runs told as one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from everfind_core.model import IndexReport, IndexRequest


def combined(requests: Sequence[IndexRequest], reports: Sequence[IndexReport]) -> IndexReport:
    """One report for runs that followed each other: counts and times add up, ``generation`` is the last one's.

    What was skipped is of whole folders, so of several runs in the same folders the last one counts.
    """
    if len(reports) == 1:
        return reports[0]
    last = {request.folders: report for request, report in zip(requests, reports, strict=True)}
    return IndexReport(
        indexed=sum(r.indexed for r in reports),
        unchanged=sum(r.unchanged for r in reports),
        deleted=sum(r.deleted for r in reports),
        skipped={reason: int(number) for reason, number in _added(r.skipped for r in last.values()).items()},
        chunks_written=sum(r.chunks_written for r in reports),
        chunks_embedded=sum(r.chunks_embedded for r in reports),
        chunks_reused=sum(r.chunks_reused for r in reports),
        tokens=sum(r.tokens for r in reports),
        context_tokens=sum(r.context_tokens for r in reports),
        corpus_tokens=sum(r.corpus_tokens for r in reports),
        redactions=sum(r.redactions for r in reports),
        pending=sum(r.pending for r in reports),
        seconds=_added(r.seconds for r in reports),
        errors=tuple(error for r in reports for error in r.errors),
        generation=max((r.generation for r in reports), default=0),
        warnings=tuple(dict.fromkeys(warning for r in reports for warning in r.warnings)),
    )


def _added(parts: Iterable[Mapping[str, float]]) -> dict[str, float]:
    total: dict[str, float] = {}
    for part in parts:
        for key, number in part.items():
            total[key] = total.get(key, 0) + number
    return total
