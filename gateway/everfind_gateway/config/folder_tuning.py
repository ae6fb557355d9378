"""What a settings file says of one folder's files in searches: what is left out by default, and what moves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from everfind_core.errors import ConfigError, InvalidRequestError
from everfind_core.folder_rules import check_globs
from everfind_core.model import Folder
from everfind_gateway.config.files import SettingsFile

TUNING_KEYS = frozenset({"default_exclude", "path_boosts"})
LEAST_FACTOR = 0.1
MOST_FACTOR = 10.0


@dataclass(frozen=True, slots=True)
class FolderTuning:
    """Globs that each count in one folder (``notes//drafts``): left out by default, and factors by glob."""

    default_exclude: tuple[str, ...] = ()
    path_boosts: Mapping[str, float] = field(default_factory=dict)


def folder_tuning(file: SettingsFile, folders: Sequence[Folder]) -> FolderTuning:
    """What the entries of ``[[folders]]`` say; ``folders`` are those entries as folders, in their order.

    Raises:
        ConfigError: a value cannot be used.
    """
    excluded: list[str] = []
    boosts: dict[str, float] = {}
    for entry, folder in zip(file.folder_entries(), folders, strict=True):
        place = f"{file.place('folders')}: folder {folder.name!r}"
        excluded += [f"{folder.name}//{glob}" for glob in _globs(entry.get("default_exclude", []), place)]
        factors = _factors(entry.get("path_boosts", {}), place)
        boosts |= {f"{folder.name}//{glob}": factor for glob, factor in factors.items()}
    return FolderTuning(tuple(excluded), boosts)


def _globs(value: Any, place: str) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(glob, str) for glob in value):
        raise ConfigError(f"{place}: default_exclude must be a list of globs", hint='Such as ["archive", "drafts/"].')
    _check(value, place)
    return value


def _factors(value: Any, place: str) -> dict[str, float]:
    usable = isinstance(value, dict) and all(
        isinstance(factor, int | float) and LEAST_FACTOR <= factor <= MOST_FACTOR for factor in value.values()
    )
    if not usable:
        raise ConfigError(
            f"{place}: path_boosts must be a table of globs and factors from {LEAST_FACTOR:g} to {MOST_FACTOR:g}",
            hint='Such as path_boosts = { "reference/" = 1.15 }.',
        )
    _check(list(value), place)
    return {glob: float(factor) for glob, factor in value.items()}


def _check(globs: list[str], place: str) -> None:
    try:
        check_globs(globs)
    except InvalidRequestError as error:
        raise ConfigError(f"{place}: {error.message}", hint=error.hint) from None
