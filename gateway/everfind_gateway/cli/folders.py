"""`add`, `remove` and `list`: what is searched."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from everfind_core.errors import IndexDamagedError, IndexIncompatibleError, InvalidRequestError
from everfind_core.files.paths import printable, shown_path
from everfind_gateway.cli import runtime
from everfind_gateway.cli.completing import folder_names, workspace_names
from everfind_gateway.cli.options import Json
from everfind_gateway.render.streams import emit, emit_json, note, one_line

if TYPE_CHECKING:
    from everfind_core.model import Folder
    from everfind_core.ports import Indexer
    from everfind_gateway.cli.runtime import Runtime
    from everfind_gateway.config.settings import Settings


def add(
    context: typer.Context,
    paths: Annotated[list[str], typer.Argument(metavar="PATH", help="Directories to add.", show_default=False)],
    name: Annotated[
        str, typer.Option(metavar="NAME", help="The folder's name, in place of its directory's.", show_default=False)
    ] = "",
    include: Annotated[
        list[str] | None,
        typer.Option("--include", metavar="GLOB", help="Index only files whose path matches. Repeatable."),
    ] = None,
) -> None:
    """Add directories to what is searched. Either all are added or none.

    With a server, PATH is one of its directories, and its operator says below which ones may be added.
    """
    from everfind_gateway.adding import add_to_corpus

    started = runtime.runtime_of(context)
    settings = started.settings(may_be_missing=True)
    with ExitStack() as stack:

        def indexer() -> Indexer:
            return stack.enter_context(runtime.open_workspace(settings)).indexer

        def tell(line: str) -> None:
            note(one_line(line))

        added = add_to_corpus(settings, indexer, paths, name=name, include=include or (), tell=tell)
    for folder in added:
        emit(f"added {printable(folder.name)}  {shown_path(folder.root)}")
    if settings.server:
        note("a server that follows its folders indexes it now, else `everfind index` does")
    else:
        note(f"`{started.typed('index')}` makes it searchable")


Target: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="NAME|PATH",
        help="The folder, by its name or its path.",
        show_default=False,
        autocompletion=folder_names,
    ),
]
KeepIndex: TypeAlias = Annotated[bool, typer.Option("--keep-index", help="Leave what is indexed of it searchable.")]
Name: TypeAlias = Annotated[
    str,
    typer.Option(
        "--workspace",
        metavar="NAME",
        help="Delete the workspace of this name as a whole, in place of a folder.",
        show_default=False,
        autocompletion=workspace_names,
    ),
]
Purge: TypeAlias = Annotated[
    bool,
    typer.Option("--purge", help="Leave nothing of it: no old version of the index, no vector kept for reuse."),
]
NoWait: TypeAlias = Annotated[
    bool, typer.Option("--no-wait", help="Fail if another process is writing, instead of waiting for it.")
]


def remove(
    context: typer.Context,
    target: Target = "",
    keep_index: KeepIndex = False,
    name: Name = "",
    *,
    purge: Purge = False,
    no_wait: NoWait = False,
) -> None:
    """Remove a folder, and its text from the index. Its files stay as they are."""
    from everfind_core.text.numbers import count
    from everfind_gateway.adding import remove_from_corpus

    if keep_index and (purge or name):
        field, done = ("workspace", "deleted") if name else ("purge", "purged")
        raise InvalidRequestError.of(field, f"the index cannot be kept and {done} at once")
    if bool(target) == bool(name):
        raise InvalidRequestError.of(
            "folder", "give either a folder or --workspace NAME", hint="`everfind list` shows the folders."
        )
    if name:
        _remove_workspace(runtime.runtime_of(context), name, purge=purge, wait=not no_wait)
        return
    settings = runtime.runtime_of(context).settings()
    with runtime.open_workspace(settings) as workspace, runtime.cancelled_by_signals() as cancel:
        if not (keep_index or no_wait) and (writer := workspace.indexer.status().writer):
            note(f"the index is being written by {writer}; waiting for it to end")
        removed = remove_from_corpus(
            settings,
            workspace.indexer,
            target,
            keep_index=keep_index,
            purge=purge,
            wait=not no_wait,
            cancel=cancel,
        )
    what = "its index is kept" if keep_index else f"{count(removed.files_forgotten, 'file')} forgotten"
    emit(f"removed {printable(removed.folder.name)}  {shown_path(removed.folder.root)}  ({what})")


Files: TypeAlias = Annotated[
    bool, typer.Option("--files", help="List the files that the index holds, in place of folders.")
]
FolderOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--folder",
        metavar="NAME",
        help="With --files: of this folder only, by name or path. Repeatable.",
        show_default=False,
        autocompletion=folder_names,
    ),
]
Globs: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--glob", metavar="GLOB", help="With --files: only those whose path matches. Repeatable."),
]
Workspaces: TypeAlias = Annotated[
    bool, typer.Option("--workspaces", help="List the named workspaces and their folders, in place of folders.")
]


def list_folders(
    context: typer.Context,
    *,
    files: Files = False,
    folder: FolderOption = None,
    globs: Globs = None,
    workspaces: Workspaces = False,
    as_json: Json = False,
) -> None:
    """List the folders: name, path, and globs where it has some; or the indexed files, or the named workspaces."""
    from everfind_core.answers.json_form import folder_json

    if workspaces:
        if files or folder or globs:
            raise InvalidRequestError.of(
                "workspaces",
                "it lists workspaces, not files",
                hint="`everfind --workspace NAME list --files` lists the files of one.",
            )
        _list_workspaces(as_json=as_json)
        return
    settings = runtime.runtime_of(context).settings()
    if files:
        _list_files(settings, folder or (), globs or (), as_json=as_json)
        return
    if folder or globs:
        raise InvalidRequestError.of("folder" if folder else "glob", "it chooses among files", hint="Add --files.")
    listed = _listed(settings)
    if as_json:
        folders = [{**folder_json(folder), "usable": usable} for folder, usable in listed]
        emit_json({"display_name": settings.display_name, "folders": folders})
        return
    _emit_folders(listed)


def _emit_folders(listed: Sequence[tuple[Folder, bool]]) -> None:
    from everfind_gateway.render.links import linked, terminal_links

    width = max((len(printable(folder.name)) for folder, _ in listed), default=0)
    clickable = terminal_links()
    for folder, usable in listed:
        root = shown_path(folder.root)
        include = f"  ({', '.join(map(printable, folder.include))})" if folder.include else ""
        lost = "" if usable else "  (not readable)"
        emit(f"{printable(folder.name):<{width}}  {linked(root, folder.root) if clickable else root}{include}{lost}")
    if not listed:
        note("no folders yet: `everfind add DIR`")


def _list_files(settings: Settings, folders: Sequence[str], globs: Sequence[str], *, as_json: bool) -> None:
    from everfind_core.answers.json_form import indexed_file_json
    from everfind_gateway.listing import indexed_files

    with runtime.open_workspace(settings) as workspace:
        found, _ = indexed_files(settings, workspace.indexer, folders=folders, include=globs)
    if as_json:
        emit_json({"files": [indexed_file_json(file) for file in found]})
        return
    for file in found:
        emit(shown_path(f"{file.ref.folder}/{file.ref.path}"))
    if not found:
        note("no indexed file matches" if folders or globs else "nothing is indexed yet: `everfind index`")


def _list_workspaces(*, as_json: bool) -> None:
    from everfind_core.answers.json_form import folder_json
    from everfind_gateway.config.named_workspaces import named_workspace, names

    found = [named_workspace(name) for name in names()]
    if as_json:
        workspaces = [
            {
                "name": one.name,
                "index_dir": str(one.index_dir),
                "folders": [folder_json(folder) for folder in one.folders],
            }
            for one in found
        ]
        emit_json({"workspaces": workspaces})
        return
    for one in found:
        for folder in one.folders:
            emit(f"{printable(one.name)}  {printable(folder.name)}  {shown_path(folder.root)}")
        if not one.folders:
            emit(f"{printable(one.name)}  (no folder)")
    if not found:
        note("no named workspace yet: `everfind index DIR --workspace NAME`")


def _remove_workspace(started: Runtime, name: str, *, purge: bool, wait: bool) -> None:
    """Delete a named workspace as a whole, once nobody writes its index."""
    from everfind_core.model import RemoveFolderRequest
    from everfind_core.text.numbers import count
    from everfind_gateway.config.named_workspaces import delete, named_workspace

    found = named_workspace(name)
    settings = replace(started, server=None, config=None, workspace=name).settings()
    forgotten = 0
    with runtime.open_workspace(settings) as workspace, runtime.cancelled_by_signals() as cancel:
        for folder in found.folders:
            request = RemoveFolderRequest(folder.name, purge=purge, wait=wait)
            with suppress(IndexDamagedError, IndexIncompatibleError):  # it goes, whatever it is
                forgotten += workspace.indexer.remove_folder(request, cancel=cancel).files_forgotten
    delete(found)
    emit(f"removed the workspace {printable(name)}  ({count(forgotten, 'file')} forgotten)")


def _listed(settings: Settings) -> list[tuple[Folder, bool]]:
    """Each added folder, and whether its directory can be read."""
    from everfind_core.folder_rules import is_readable

    if not settings.server:
        return [(folder, is_readable(folder.root)) for folder in settings.folders]
    with runtime.open_workspace(settings) as workspace:
        return [(one.folder, one.usable) for one in workspace.indexer.status().folders if one.added]
