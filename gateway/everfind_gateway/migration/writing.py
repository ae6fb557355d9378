"""Adding to the settings what a plan takes over. What is there already stays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from everfind_core.errors import FolderExistsError, InvalidRequestError
from everfind_core.files.paths import encode_os_path
from everfind_core.files.whole import replace_file
from everfind_core.folder_rules import check_globs
from everfind_core.wrong_values import what_is_wrong
from everfind_gateway.config import files as config_files
from everfind_gateway.config.folders import add_folders, parse_folders
from everfind_gateway.config.setting_values import SettingValues, project_settings
from everfind_gateway.migration.plan import LeftOut, Plan, WantedFolder

if TYPE_CHECKING:
    from tomlkit import TOMLDocument

    from everfind_gateway.config.settings import Settings


@dataclass(frozen=True, slots=True)
class Checked:
    """A plan against what is there: what will be added, and what will not and why."""

    target: Path
    ignore_file: Path
    folders: tuple[WantedFolder, ...]
    settings: Mapping[str, Any]
    ignore: tuple[str, ...]
    left_out: tuple[LeftOut, ...]

    @property
    def empty(self) -> bool:
        """Whether there is nothing to add."""
        return not (self.folders or self.settings or self.ignore)


def check(plan: Plan, settings: Settings) -> Checked:
    """What of ``plan`` can be added to the settings in effect."""
    left = list(plan.left_out)
    wanted = {name: value for name, value in plan.settings.items() if _usable(name, value, settings, left)}
    folders = [folder for folder in plan.folders if _addable(folder, settings, left)]
    return Checked(
        settings.files.folders_file.path,
        settings.user_ignore,
        tuple(folders),
        wanted,
        tuple(_ignorable(plan.ignore, settings.user_ignore, left)),
        tuple(left),
    )


def write(checked: Checked, settings: Settings) -> None:
    """Add it all. The folders come first, each with what counts in it alone.

    Raises:
        EverfindError: a file cannot be written; what was written before stays.
    """
    for folder in checked.folders:
        _add(folder, settings)
    if checked.settings:
        config_files.change(
            settings.files.folders_file,
            lambda document: document.update(checked.settings),
            keys=frozenset(checked.settings),
        )
    if checked.ignore:
        checked.ignore_file.parent.mkdir(parents=True, exist_ok=True)
        replace_file(checked.ignore_file, "\n".join(checked.ignore) + "\n")


def _usable(name: str, value: Any, settings: Settings, left: list[LeftOut]) -> bool:
    file = settings.files.folders_file
    why = ""
    if name in file.values:
        why = f"{file.path} has it already, as {file.values[name]!r}"
    elif file.project and name not in project_settings():
        why = "a project's file must not set it: import into your own settings"
    else:
        try:
            SettingValues(**{name: value})
        except ValidationError as error:
            why = f"{value!r} cannot be used: {what_is_wrong(error.errors()[0])}"
    if why:
        left.append(LeftOut(name, why))
    return not why


def _addable(folder: WantedFolder, settings: Settings, left: list[LeftOut]) -> bool:
    file = settings.files.folders_file
    resolved = Path(folder.path).resolve()
    root = encode_os_path(resolved)
    why = ""
    if any(other.root == root for other in parse_folders(file)):
        why = "it is added already"
    elif not Path(folder.path).is_dir():
        why = "it is no directory on this machine"
    elif resolved == resolved.parent:
        why = "it is everything on this machine; add what you want of it with `everfind add DIR`"
    elif file.project and not resolved.is_relative_to(file.root):
        why = f"it lies outside the project {file.root}"
    else:
        why = _unusable_rules(folder)
    if why:
        left.append(LeftOut(encode_os_path(folder.path), why))
    return not why


def _unusable_rules(folder: WantedFolder) -> str:
    try:
        check_globs(folder.include)
        check_globs([*folder.default_exclude, *folder.path_boosts])
        SettingValues(path_boosts=dict(folder.path_boosts))
    except InvalidRequestError as error:
        return error.message
    except ValidationError as error:
        return f"a factor of pathBoosts cannot be used: {what_is_wrong(error.errors()[0])}"
    return ""


def _ignorable(lines: list[str], target: Path, left: list[LeftOut]) -> list[str]:
    if not any(line.strip() for line in lines):
        return []
    if target.exists():
        left.append(LeftOut(".indexignore", f"{target} is there already; add to it by hand: {', '.join(lines)}"))
        return []
    return lines


def _add(folder: WantedFolder, settings: Settings) -> None:
    file = settings.files.folders_file
    try:
        (added,) = add_folders(file, [folder.path], include=folder.include, index_dir=settings.index_dir)
    except FolderExistsError:  # another process was faster
        return
    tuning = {"default_exclude": list(folder.default_exclude), "path_boosts": dict(folder.path_boosts)}
    if not any(tuning.values()):
        return

    def tune(document: TOMLDocument) -> None:
        for entry in document["folders"]:
            if entry["name"] == added.name:
                entry.update({key: value for key, value in tuning.items() if value})

    config_files.change(file, tune)
