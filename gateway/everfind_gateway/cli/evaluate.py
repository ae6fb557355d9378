"""`eval`: measure retrieval on a labelled set, or with a user's own questions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from everfind_core.errors import EXIT_CODES, ErrorKind, InvalidRequestError
from everfind_gateway.cli import runtime
from everfind_gateway.cli.options import Json, ModeOption, given_path
from everfind_gateway.render.streams import emit, emit_json, note

if TYPE_CHECKING:
    from everfind_gateway.config.settings import Settings
    from everfind_gateway.evaluation.comparison import Comparison
    from everfind_gateway.evaluation.report import EvalReport

Questions: TypeAlias = Annotated[
    Path,
    typer.Argument(
        metavar="DIR|FILE.jsonl", help="A set (corpus/ and queries.jsonl), or questions about your own folders."
    ),
]
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
Save: TypeAlias = Annotated[
    Path | None,
    typer.Option("--save", metavar="RUN.json", help="Keep this run, for --compare later.", parser=given_path),
]
Compare: TypeAlias = Annotated[
    Path | None,
    typer.Option("--compare", metavar="RUN.json", help="Show what changed since that run.", parser=given_path),
]
AtLeast: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--at-least", metavar="MEASURE=VALUE", help="End with 5 if a measure is lower, such as nDCG@10=0.8. Repeatable."
    ),
]


def evaluate(
    context: typer.Context,
    questions: Questions,
    *,
    results: Results = None,
    unanswerable: Unanswerable = None,
    index_dir: IndexDir = None,
    save: Save = None,
    compare: Compare = None,
    at_least: AtLeast = None,
    mode: ModeOption = None,
    as_json: Json = False,
) -> None:
    """Measure search.

    A set is indexed into a throw-away index. Questions in a file are asked of your own index as it is; docs/eval.md has
    their form.
    """
    from everfind_gateway.evaluation import comparison

    settings = runtime.runtime_of(context).settings(mode=mode)
    bars = comparison.parse_bars(at_least or ())
    if questions.is_dir():
        runtime.refuse_remote(settings, "`eval` indexes a set on this machine")
        report = _measured(questions, settings, results=results, unanswerable=unanswerable, index_dir=index_dir)
    else:
        _refuse_with_own_index(unanswerable=unanswerable, index_dir=index_dir)
        report = _asked(questions, settings, results)
    compared = comparison.compare(report, compare) if compare is not None else None
    missed = comparison.missed(report, bars)
    if save is not None:
        comparison.save(report, save)
    _show(report, compared, as_json=as_json)
    for name, bar, value in missed:
        note(f"everfind: {name} is {value:.4f}, and should be at least {bar:g}")
    if missed:
        raise typer.Exit(EXIT_CODES[ErrorKind.DATA])


def _show(report: EvalReport, compared: Comparison | None, *, as_json: bool) -> None:
    from everfind_gateway.render.evaluation import comparison_text, report_text

    if as_json:
        emit_json(report.as_json() | ({} if compared is None else {"compared": compared.as_json()}))
    else:
        emit(report_text(report) + ("" if compared is None else f"\n\n{comparison_text(compared)}"))


def _refuse_with_own_index(**options: Path | None) -> None:
    for name, value in options.items():
        if value is not None:
            raise InvalidRequestError.of(name, "it is for sets only; these questions are asked of your own index")


def _asked(file: Path, settings: Settings, results: Path | None) -> EvalReport:
    from everfind_core.model import SearchMode
    from everfind_gateway.evaluation.running import run_golden

    with runtime.cancelled_by_signals() as cancel:
        return run_golden(
            file,
            settings=settings,
            mode=SearchMode(settings.mode),
            results=results,
            open_workspace=runtime.open_workspace,
            cancel=cancel,
        )


def _measured(
    directory: Path, settings: Settings, *, results: Path | None, unanswerable: Path | None, index_dir: Path | None
) -> EvalReport:
    from everfind_core.model import SearchMode
    from everfind_gateway.evaluation.running import run_eval
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
