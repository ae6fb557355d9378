"""`status`, `doctor` and `version`: what is there, and whether it is well."""

from __future__ import annotations

import platform
import time
from typing import TYPE_CHECKING, Annotated

import typer

from everfind_core import __version__
from everfind_core.errors import EXIT_CODES, ErrorKind, InvalidRequestError
from everfind_gateway.cli import runtime
from everfind_gateway.cli.options import Json
from everfind_gateway.render.streams import emit, emit_json

if TYPE_CHECKING:
    from everfind_gateway.config.settings import Settings


def status(
    context: typer.Context,
    skipped: Annotated[bool, typer.Option("--skipped", help="List each thing that is left out, and why.")] = False,
    as_json: Json = False,
) -> None:
    """Show what is indexed, and what is left out.

    By folder, with the reasons, sizes, the model, and what needs attention.
    """
    from everfind_core.answers.json_form import status_json
    from everfind_gateway.doctor import check_outgoing
    from everfind_gateway.render.status import status_text
    from everfind_gateway.server.server_health import server_line

    settings = runtime.runtime_of(context).settings()
    with runtime.open_workspace(settings) as workspace:
        found = workspace.indexer.status(skipped_files=skipped)
    if as_json:
        emit_json(status_json(found, skipped_files=skipped))
    else:
        outgoing = check_outgoing(settings.server, found).message
        server = "" if settings.server else server_line(settings.index_dir)
        emit(status_text(found, name=settings.display_name, outgoing=outgoing, server=server, skipped_files=skipped))


def calibrate(context: typer.Context, as_json: Json = False) -> None:
    """Measure the model's noise on what is indexed.

    Off-topic probe questions are asked of the index. What they find is noise, and a floor follows. It is kept with the
    index; `index` measures again when the corpus has changed much. A `min_score` in the settings always wins.
    """
    from everfind_core.answers.json_form import calibration_json
    from everfind_gateway.render.calibration import calibration_lines

    settings = runtime.runtime_of(context).settings()
    with runtime.open_workspace(settings) as workspace, runtime.cancelled_by_signals() as cancel:
        found = workspace.indexer.calibrate(cancel=cancel)
    if as_json:
        emit_json(calibration_json(found))
    else:
        emit("\n".join(calibration_lines(found)))


def doctor(
    context: typer.Context,
    *,
    verify: Annotated[
        bool, typer.Option("--verify", help="Read each byte of the index, and say what is not as it was written.")
    ] = False,
    repair: Annotated[
        bool, typer.Option("--repair", help="Index again what is damaged, and keep the rest; then check.")
    ] = False,
    tune: Annotated[
        bool,
        typer.Option("--tune", help="Measure for some 20 seconds how this machine embeds fastest, and keep to it."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Check that everything is well.

    Settings, folders, index, model, server, git and disk, files that changed, and what leaves this machine, each with
    the way out.
    Ends with 0 if nothing is wrong, warnings included, and with 5 if something is.
    """
    from everfind_core.answers.json_form import findings_json
    from everfind_core.model import Severity
    from everfind_gateway.doctor import examine
    from everfind_gateway.render.status import findings_text

    load = runtime.runtime_of(context).settings
    if repair:
        _repair(load(), quiet=as_json)
    if tune:
        _tune(load())
    findings = examine(load, runtime.open_workspace, verify=verify)
    if as_json:
        emit_json({"findings": findings_json(findings)})
    else:
        emit(findings_text(findings))
    if any(finding.severity is Severity.ERROR for finding in findings):
        raise typer.Exit(EXIT_CODES[ErrorKind.PRECONDITION])


def _tune(settings: Settings) -> None:
    """Measure and keep; what came of it is among the findings."""
    if settings.server:
        raise InvalidRequestError.of(
            "tune", "the server embeds, not this machine", hint="Run `everfind doctor --tune` where it runs."
        )
    from everfind_gateway.wiring import local

    with runtime.cancelled_by_signals() as cancel:
        local.tune(settings, cancel)


def _repair(settings: Settings, *, quiet: bool) -> None:
    """A run over the whole index that mends it; what it found damaged is told on stderr."""
    from everfind_core.model import IndexRequest
    from everfind_gateway.render.runs import RunView

    view = RunView(verbose=False, quiet=quiet)
    started = time.monotonic()
    with runtime.open_workspace(settings) as workspace, runtime.cancelled_by_signals() as cancel:
        try:
            report = workspace.indexer.index(IndexRequest(repair=True), view.on_event, cancel=cancel)
        finally:
            view.close()
    view.finish(report, time.monotonic() - started)


def version(as_json: Json = False) -> None:
    """Print the versions of everfind and Python."""
    python, system = platform.python_version(), platform.platform()
    if as_json:
        emit_json({"version": __version__, "python": python, "platform": system})
    else:
        emit(f"everfind {__version__} (Python {python}, {system})")
