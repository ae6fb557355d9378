"""`import-config`: take over what another system was told."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer

from everfind_core.errors import ConfigError
from everfind_core.files.paths import encode_os_path, printable, shown_path
from everfind_gateway.cli import runtime
from everfind_gateway.cli.options import Json, given_path
from everfind_gateway.render.streams import emit, emit_json, note

if TYPE_CHECKING:
    from collections.abc import Iterator

    from everfind_gateway.migration.writing import Checked

System: TypeAlias = Annotated[
    Literal["semantic-search-mcp", "semantic-code-mcp", "docs-rag-mcp"],
    typer.Argument(metavar="SYSTEM", help="One of semantic-search-mcp, semantic-code-mcp and docs-rag-mcp."),
]
Source: TypeAlias = Annotated[
    Path | None,
    typer.Argument(
        metavar="[PATH]",
        help="Its configuration; where it usually is if not given.",
        show_default=False,
        parser=given_path,
    ),
]
Yes: TypeAlias = Annotated[bool, typer.Option("--yes", "-y", help="Write without asking.")]


def import_config(
    context: typer.Context, system: System, path: Source = None, *, yes: Yes = False, as_json: Json = False
) -> None:
    """Take over folders and settings from a system that you used before.

    Shows what is taken over and what is not and why, then asks; where nobody can be asked, it writes only with --yes.
    What your settings have already stays. docs/migration.md tells of each system.
    """
    from everfind_gateway.migration.writing import check, write

    settings = runtime.runtime_of(context).settings(may_be_missing=True)
    runtime.refuse_remote(settings, "settings are imported on the machine that holds the folders")
    importer = _importer(system)
    source = path if path is not None else _found(importer, system)
    checked = check(importer.read(source.absolute()), settings)
    agreed = not checked.empty and (yes or (not as_json and _agreed(source, checked)))
    if agreed:
        write(checked, settings)
    if as_json:
        emit_json(_as_json(source, checked, written=agreed))
    elif yes:
        emit("\n".join(_lines(source, checked)))
    _say(checked, agreed=agreed)


def _importer(system: str) -> Any:
    from everfind_gateway.migration import docs_rag, semantic_code, semantic_search

    return {one.NAME: one for one in (semantic_search, semantic_code, docs_rag)}[system]


def _found(importer: Any, system: str) -> Path:
    from everfind_gateway.config.files import working_directory

    places: list[Path] = importer.places(os.environ, Path.home(), working_directory())
    for place in places:
        if place.is_file():
            return place
    raise ConfigError(
        f"no configuration of {system} is where it usually is",
        hint=f"Name it: `everfind import-config {system} PATH`; the usual place is {places[0]}.",
    )


def _agreed(source: Path, checked: Checked) -> bool:
    emit("\n".join(_lines(source, checked)))
    return sys.stdin.isatty() and typer.confirm("Write this?", default=True, err=True)


def _lines(source: Path, checked: Checked) -> Iterator[str]:
    yield f"from {printable(str(source))}"
    yield f"into {printable(str(checked.target))}"
    for folder in checked.folders:
        extras = [*folder.include, *(f"not {glob}" for glob in folder.default_exclude)]
        extras += [f"{glob} ×{factor:g}" for glob, factor in folder.path_boosts.items()]
        yield f"  folder   {shown_path(encode_os_path(folder.path))}" + (f"  ({', '.join(extras)})" if extras else "")
    for name, value in checked.settings.items():
        yield f"  setting  {name} = {printable(str(value).lower() if isinstance(value, bool) else str(value))}"
    if checked.ignore:
        yield f"  ignore   {len(checked.ignore)} lines into {printable(str(checked.ignore_file))}"
    for one in checked.left_out:
        yield f"  not      {printable(one.key)}: {printable(one.why)}"


def _say(checked: Checked, *, agreed: bool) -> None:
    if agreed:
        note("written; `everfind index` makes the folders searchable")
    elif checked.empty:
        note("there is nothing to take over")
    else:
        note("nothing is written; --yes writes it")


def _as_json(source: Path, checked: Checked, *, written: bool) -> dict[str, Any]:
    return {
        "source": str(source),
        "target": str(checked.target),
        "folders": [
            {
                "path": encode_os_path(folder.path),
                "include": list(folder.include),
                "default_exclude": list(folder.default_exclude),
                "path_boosts": dict(folder.path_boosts),
            }
            for folder in checked.folders
        ],
        "settings": dict(checked.settings),
        "ignore": list(checked.ignore),
        "left_out": [{"key": one.key, "why": one.why} for one in checked.left_out],
        "written": written,
    }
