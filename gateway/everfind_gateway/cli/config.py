"""`config`: every setting, its value, and where it came from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from everfind_core.errors import InvalidRequestError
from everfind_core.files.paths import printable
from everfind_gateway.cli import runtime
from everfind_gateway.cli.completing import setting_names
from everfind_gateway.cli.options import Json
from everfind_gateway.config.suggestions import did_you_mean
from everfind_gateway.render.streams import emit, emit_json

if TYPE_CHECKING:
    from everfind_gateway.config.settings import Settings


def config(
    context: typer.Context,
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help="Only these settings.", show_default=False, autocompletion=setting_names),
    ] = None,
    as_json: Json = False,
) -> None:
    """Print every setting, its value, and where it came from."""
    settings = runtime.runtime_of(context).settings()
    values = _chosen(_values(settings), names or ())
    if as_json:
        emit_json(_config_json(settings, values))
        return
    if not names:
        _emit_files(settings)
    for name, value in values.items():
        emit(f"{name:<18} {printable(_shown(value)) or '-'}  ({printable(str(settings.origins[name]))})")


def _chosen(values: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """The values of ``names`` in their order; all if nothing is named."""
    for name in names:
        if name not in values:
            raise InvalidRequestError.of(
                "config",
                f"{name!r} is no setting{did_you_mean(name, values)}",
                hint="`everfind config` prints all; docs/settings.md describes them.",
            )
    return {name: values[name] for name in names} if names else values


def _emit_files(settings: Settings) -> None:
    project = settings.files.project
    user = settings.files.user.path
    emit(f"{'user file':<18} {printable(str(user))}{'' if user.exists() else '  (none yet)'}")
    emit(f"{'project file':<18} {printable(str(project.path)) if project is not None else 'none'}")
    emit(f"{'folders':<18} {len(settings.folders)}, in {printable(str(settings.files.folders_file.path))}\n")


def _shown(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list):
        return ",".join(value)
    if isinstance(value, dict):
        return ",".join(f"{key}={factor}" for key, factor in value.items())
    return str(value).lower() if isinstance(value, bool) else str(value)


def _values(settings: Settings) -> dict[str, Any]:
    from everfind_gateway.config.setting_values import setting_fields

    return settings.model_dump(mode="json", include=set(setting_fields()))


def _config_json(settings: Settings, values: dict[str, Any]) -> dict[str, Any]:
    project = settings.files.project
    return {
        "user_file": str(settings.files.user.path),
        "project_file": None if project is None else str(project.path),
        "folders_file": str(settings.files.folders_file.path),
        "user_ignore": str(settings.user_ignore),
        "digest": settings.digest,
        "settings": {
            name: {"value": value, "source": settings.origins[name].source, "place": settings.origins[name].place}
            for name, value in values.items()
        },
        "warnings": list(settings.warnings),
    }
