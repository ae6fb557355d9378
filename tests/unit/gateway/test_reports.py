from __future__ import annotations

from everfind_core.model import IndexReport, IndexRequest
from everfind_gateway.reports import combined, run_in_turn


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


def test_the_limit_of_files_counts_over_all_runs() -> None:
    asked: list[tuple[str, int]] = []

    def run(request: IndexRequest) -> IndexReport:
        asked.append((request.below, request.max_files))
        return IndexReport(indexed=min(request.max_files or 3, 3), generation=len(asked))

    requests = [IndexRequest(("a",), below=below, max_files=5) for below in "xyz"]
    report = run_in_turn(requests, run)
    assert asked == [("x", 5), ("y", 2)]
    assert report.indexed == 5
    assert report.warnings == ("1 of the named paths was not looked at: the limit of files is reached",)

    asked.clear()
    report = run_in_turn([IndexRequest(("a",), below=below) for below in "xyz"], run)
    assert (len(asked), report.indexed, report.warnings) == (3, 9, ())
