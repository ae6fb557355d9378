"""`index`: bring the index up to date."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from everfind_core.errors import CancelledError, FolderNotFoundError, IndexLockedError, InvalidRequestError
from everfind_core.folder_rules import check_name
from everfind_gateway.cli import runtime
from everfind_gateway.cli.completing import folder_names, workspace_names
from everfind_gateway.cli.options import Json
from everfind_gateway.render.streams import emit_json, note

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from everfind_core.cancellation import Cancellation
    from everfind_core.model import IndexReport, IndexRequest
    from everfind_core.ports import Indexer
    from everfind_gateway.cli.runtime import Runtime
    from everfind_gateway.config.settings import Settings
    from everfind_gateway.render.runs import RunView
    from everfind_gateway.wiring.workspace import Workspace


class Engine(StrEnum):
    """What does the heavy part of a run."""

    LOCAL = "local"
    RAY = "ray"


EngineOption: TypeAlias = Annotated[
    Engine,
    typer.Option(
        "--engine", help="What does the heavy part of the run: this process, or the workers of a Ray cluster."
    ),
]


Targets: TypeAlias = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="NAME|PATH",
        help="Folders, or paths below one. All folders if none is given.",
        show_default=False,
        autocompletion=folder_names,
    ),
]


NO_FOLDER_HINT = (
    "`everfind add DIR` adds a folder; `everfind index DIR --workspace NAME` indexes one apart from those added."
)

Force: TypeAlias = Annotated[bool, typer.Option("--force", help="Process unchanged files, too.")]
Rebuild: TypeAlias = Annotated[bool, typer.Option("--rebuild", help="Build a new index beside the old one, then swap.")]
MaxFiles: TypeAlias = Annotated[
    int, typer.Option(metavar="N", min=0, help="Stop after N changed files; 0 is no limit.")
]
Concurrency: TypeAlias = Annotated[
    int | None, typer.Option(metavar="N", min=0, max=256, help="Embedding calls under way at once.")
]
NameOption: TypeAlias = Annotated[
    str,
    typer.Option(
        "--workspace",
        metavar="NAME",
        help="Index the given directories apart from the added folders, in the workspace of this name; "
        "`everfind --workspace NAME search …` asks it.",
        show_default=False,
        autocompletion=workspace_names,
    ),
]
NoWait: TypeAlias = Annotated[
    bool, typer.Option("--no-wait", help="Fail if another process is writing, instead of waiting for it.")
]
Verbose: TypeAlias = Annotated[bool, typer.Option("--verbose", "-v", help="Name each file on stderr.")]


def index(
    context: typer.Context,
    targets: Targets = None,
    *,
    force: Force = False,
    rebuild: Rebuild = False,
    max_files: MaxFiles = 0,
    concurrency: Concurrency = None,
    engine: EngineOption = Engine.LOCAL,
    name: NameOption = "",
    no_wait: NoWait = False,
    verbose: Verbose = False,
    as_json: Json = False,
) -> None:
    """Index what is new or changed, and forget what is gone."""
    from everfind_core.answers.json_form import index_json
    from everfind_gateway.render.runs import RunView
    from everfind_gateway.target_requests import check_any_folder, index_requests

    asked = runtime.runtime_of(context)
    if name:
        asked = _apart(asked, name, targets or ())
    settings = asked.settings(concurrency=concurrency)
    check_any_folder(settings)
    try:
        requests = index_requests(
            settings, targets or (), force=force, rebuild=rebuild, max_files=max_files, wait=not no_wait
        )
    except FolderNotFoundError as error:
        raise FolderNotFoundError(error.message, hint=error.hint if settings.server else NO_FOLDER_HINT) from None
    view = RunView(verbose=verbose, quiet=as_json)
    started = time.monotonic()
    with _opened(settings, engine) as workspace:
        report = _run(workspace.indexer, requests, view)
    view.finish(report, time.monotonic() - started)
    if as_json:
        emit_json(index_json(report))


def _opened(settings: Settings, engine: Engine) -> AbstractContextManager[Workspace]:
    """The workspace to index in, with what does the heavy part."""
    if engine is Engine.LOCAL:
        return runtime.open_workspace(settings)
    if settings.server:
        raise InvalidRequestError.of(
            "engine",
            f"the server {settings.server} has its own",
            hint="Leave `--engine` out, or run it on that machine.",
        )
    from everfind_gateway.wiring.local import open_on_ray

    return open_on_ray(settings)


def _apart(asked: Runtime, name: str, targets: Sequence[str]) -> Runtime:
    """The runtime for the workspace of this name, to whose folders the targets are added that are not there."""
    from everfind_gateway.config.folders import add_folders
    from everfind_gateway.target_requests import index_requests

    if asked.server is not None or asked.workspace:
        raise InvalidRequestError.of("workspace", "give it once, and without --server: here a workspace is made")
    if not targets:
        raise InvalidRequestError.of(
            "workspace",
            "it needs the directories to index",
            hint=f"`everfind index DIR --workspace {name}`; `everfind --workspace {name} index` does those it has.",
        )
    check_name(name, "workspace")
    apart = replace(asked, workspace=name)
    settings = apart.load(may_be_missing=True)
    new = []
    for target in targets:
        try:
            index_requests(settings, [target])
        except FolderNotFoundError:
            new.append(target)
    if new:
        add_folders(settings.files.folders_file, new, index_dir=settings.index_dir)
    return apart


def _run(indexer: Indexer, requests: list[IndexRequest], view: RunView) -> IndexReport:
    from everfind_gateway.reports import run_in_turn

    try:
        with runtime.cancelled_by_signals() as cancel:
            return run_in_turn(requests, lambda request: _run_one(indexer, request, view, cancel))
    except (CancelledError, KeyboardInterrupt):
        raise CancelledError(
            f"interrupted; {view.kept()}",
            hint="`everfind index` goes on from there.",
        ) from None
    finally:
        view.close()


def _run_one(indexer: Indexer, request: IndexRequest, view: RunView, cancel: Cancellation) -> IndexReport:
    """One run. Where another process writes, its name is told before waiting for it."""
    try:
        return indexer.index(replace(request, wait=False), view.on_event, cancel=cancel)
    except IndexLockedError as error:
        if not request.wait:
            raise
        note(f"{error.message}; waiting for it to end")
        return indexer.index(request, view.on_event, cancel=cancel)
