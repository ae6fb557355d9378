from __future__ import annotations

from everfind_core.model import IndexReport, IndexRequest
from everfind_gateway.reports import combined


def test_runs_add_up_but_what_a_folder_skips_counts_once() -> None:
    requests = [IndexRequest(("a",), below="x"), IndexRequest(("a",), below="y"), IndexRequest(("b",))]
    reports = [
        IndexReport(indexed=1, skipped={"binary": 2}, generation=4),
        IndexReport(indexed=2, skipped={"binary": 3}, generation=5),
        IndexReport(indexed=4, skipped={"binary": 1, "link": 1}, generation=6),
    ]
    report = combined(requests, reports)
    assert (report.indexed, dict(report.skipped), report.generation) == (7, {"binary": 4, "link": 1}, 6)
    assert report.calibration is reports[-1].calibration
