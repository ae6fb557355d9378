"""`eval`: measure retrieval on a labelled set."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from everfind_gateway.cli import runtime
from everfind_gateway.cli.options import Json, ModeOption
from everfind_gateway.render.streams import emit, emit_json


def evaluate(
    context: typer.Context,
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Holds corpus/ and queries.jsonl.")],
    *,
    results: Annotated[
        Path | None,
        typer.Option("--results", metavar="OUT.jsonl", help="Write each question's results here, for a scorer."),
    ] = None,
    unanswerable: Annotated[
        Path | None,
        typer.Option(
            "--unanswerable", metavar="OUT.jsonl", help="Also ask unanswerable.jsonl, and write its results here."
        ),
    ] = None,
    index_dir: Annotated[
        Path | None,
        typer.Option("--index-dir", metavar="DIR", help="Keep the index here, and use what it already holds."),
    ] = None,
    mode: ModeOption = None,
    as_json: Json = False,
) -> None:
    """Measure search on a labelled set.

    Indexes the set into a throw-away index, asks all its questions, and prints the measures.
    """
    from everfind_core.model import SearchMode
    from everfind_gateway.evaluation import run_eval
    from everfind_gateway.render.runs import RunView

    settings = runtime.runtime_of(context).settings(mode=mode)
    view = RunView(verbose=False, quiet=True)
    with runtime.cancelled_by_signals() as cancel:
        try:
            report = run_eval(
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
    if as_json:
        emit_json(report.as_json())
    else:
        emit(report.as_text())
