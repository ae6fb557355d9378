"""`export` and `import`: an index as one file, to keep or to take to another machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from everfind_core.files.paths import printable
from everfind_gateway.cli import runtime
from everfind_gateway.cli.options import Json, given_path
from everfind_gateway.render.streams import emit, emit_json, note

if TYPE_CHECKING:
    from everfind_core.index.archive import Header


def export(
    context: typer.Context,
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="The file to write; it is replaced whole.", parser=given_path)
    ],
    as_json: Json = False,
) -> None:
    """Write the index into one file: a backup, or for another machine.

    The file is of one generation, whoever indexes meanwhile. It holds the text of indexed files (secrets masked) and
    their vectors; only you may read it.
    """
    from everfind_gateway.wiring.local import open_local

    settings = runtime.runtime_of(context).settings()
    runtime.refuse_remote(settings, "an index is exported on the machine that holds it")
    with open_local(settings) as workspace:
        header = workspace.export(file)
    _emit("exported", header, file, as_json=as_json)


def import_(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file that `export` wrote.", parser=given_path)],
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Let it take the place of the index here.")] = False,
    as_json: Json = False,
) -> None:
    """Let an exported index answer here, without embedding.

    Each of its folders must be added here under the same name; it may lie elsewhere. The next `index` compares all
    files and takes in what differs.
    """
    from everfind_gateway.wiring.local import open_local

    settings = runtime.runtime_of(context).settings()
    runtime.refuse_remote(settings, "an index is imported on the machine that is to hold it")
    with open_local(settings) as workspace, runtime.cancelled_by_signals() as cancel:
        header = workspace.import_archive(file, overwrite=overwrite, cancel=cancel)
    _emit("imported", header, file, as_json=as_json)
    if not as_json:
        note("`everfind index` compares it with the files here")


def _emit(done: str, header: Header, file: Path, *, as_json: bool) -> None:
    from everfind_core.text.numbers import size

    names = [folder.name for folder in header.folders]
    if as_json:
        emit_json({"file": str(file), "folders": names, "generation": header.generation, "bytes": header.size})
        return
    emit(f"{done} {printable(str(file))}  ({size(header.size)}, {', '.join(map(printable, names)) or 'no folder'})")
