"""`eval`: measure retrieval on a labelled set."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from everfind_gateway.cli import runtime
from everfind_gateway.cli.options import Json, ModeOption, given_path
from everfind_gateway.render.streams import emit, emit_json

if TYPE_CHECKING:
    from everfind_gateway.evaluation import EvalReport
    from everfind_gateway.settings import Settings

Results: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--results", metavar="OUT.jsonl", help="Write each question's results here, for a scorer.", parser=given_path
    ),
]
Unanswerable: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--unanswerable",
        metavar="OUT.jsonl",
        help="Also ask unanswerable.jsonl, and write its results here.",
        parser=given_path,
    ),
]
IndexDir: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--index-dir", metavar="DIR", help="Keep the index here, and use what it already holds.", parser=given_path
    ),
]


def evaluate(
    context: typer.Context,
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="Holds corpus/ and queries.jsonl.", parser=given_path)
    ],
    *,
    results: Results = None,
    unanswerable: Unanswerable = None,
    index_dir: IndexDir = None,
    mode: ModeOption = None,
    as_json: Json = False,
) -> None:
    """Measure search on a labelled set.

    Indexes the set into a throw-away index, asks all its questions, and prints the measures.
    """
    from everfind_gateway.render.evaluation import report_text

    settings = runtime.runtime_of(context).settings(mode=mode)
    runtime.refuse_remote(settings, "`eval` indexes and searches on this machine")
    report = _measured(directory, settings, results=results, unanswerable=unanswerable, index_dir=index_dir)
    if as_json:
        emit_json(report.as_json())
    else:
        emit(report_text(report))


def _measured(
    directory: Path, settings: Settings, *, results: Path | None, unanswerable: Path | None, index_dir: Path | None
) -> EvalReport:
    from everfind_core.model import SearchMode
    from everfind_gateway.evaluation import run_eval
    from everfind_gateway.render.runs import RunView

    view = RunView(verbose=False, quiet=True)
    with runtime.cancelled_by_signals() as cancel:
        try:
            return run_eval(
                directory,
                settings=settings,
                mode=SearchMode(settings.mode),
                results=results,
                unanswerable=unanswerable,
                index_dir=index_dir,
                open_workspace=runtime.open_workspace,
                on_event=view.on_event,
                cancel=cancel,
            )
        finally:
            view.close()
