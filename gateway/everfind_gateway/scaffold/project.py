"""Writing a project's instance: settings, ignore entries, registrations and the editor hook.

Each step changes only what is its own in a file, and leaves it alone where that is there already, so that running it
again keeps what was tuned.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from everfind_core.errors import FolderUnusableError, InvalidRequestError
from everfind_core.files.paths import encode_os_path
from everfind_core.folder_rules import check_globs
from everfind_gateway.config import files as config_files
from everfind_gateway.config import project_trust
from everfind_gateway.config.file_edits import edit_text
from everfind_gateway.config.folders import add_folders
from everfind_gateway.config.settings import check_project_file
from everfind_gateway.mcp import registration
from everfind_gateway.scaffold import editor_hook

if TYPE_CHECKING:
    from tomlkit import TOMLDocument

HEADER = "everfind: this project's own folders and index. It can be shared: it holds no path of one machine."
SERVER = "everfind"


@dataclass(frozen=True, slots=True)
class Options:
    """What a caller says; None keeps what the project has, or takes the default where it has nothing.

    ``name`` is the display name and the MCP server's, ``description`` what agents are told that the folders hold,
    ``include`` the globs of the project's root folder.
    """

    name: str | None = None
    description: str | None = None
    include: tuple[str, ...] | None = None
    clients: tuple[str, ...] = ("claude",)
    hook: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """A file that the instance needs, and whether this run changed it."""

    path: Path
    changed: bool
    what: str


@dataclass(frozen=True, slots=True)
class Current:
    """What a project's instance says now; empty where there is none."""

    name: str = ""
    description: str = ""
    include: tuple[str, ...] = ()
    exists: bool = False


def current(directory: Path) -> Current:
    """What the project in ``directory`` has.

    Raises:
        ConfigError: its settings file cannot be read.
        UntrustedSettingError: it sets what a project may not.
    """
    file = _settings_file(directory)
    if not file.text:
        return Current(description=_described(directory))
    root = _root_entry(file)
    return Current(
        name=str(file.values.get("display_name", "")),
        description=_described(directory),
        include=tuple(root.get("include", ())) if root else (),
        exists=True,
    )


def write(directory: Path, options: Options, hook_command: Sequence[str]) -> tuple[Step, ...]:
    """Write, or complete, the instance of the project in ``directory``.

    Raises:
        FolderUnusableError: ``directory`` is none.
        InvalidRequestError: an option cannot be used.
        ConfigError: a file is not what it should be; it is left alone, and so are those after it.
        StorageError: a file cannot be written.
    """
    root = _project_root(directory)
    _check(options)
    steps = [_write_settings(root, options), _write_ignores(root, hook=options.hook)]
    steps += [_register(root, client, options) for client in options.clients]
    if options.hook:
        changed = editor_hook.install(root, hook_command)
        steps.append(Step(root / editor_hook.FILE, changed, "the editor's hook, which indexes after edits"))
    return tuple(steps)


def _project_root(directory: Path) -> Path:
    if not directory.is_dir():
        why = "is not a directory" if directory.exists() else "does not exist"
        raise FolderUnusableError(f"{encode_os_path(str(directory))} {why}", hint="Name the project's directory.")
    return directory.resolve()


def _check(options: Options) -> None:
    for field, text, most in (("name", options.name, 100), ("description", options.description, 2_000)):
        if text is not None and (len(text) > most or not text.isprintable() or text.startswith("-")):
            raise InvalidRequestError.of(
                field, f"{field} must be one printable line of at most {most:,} characters that does not start with -"
            )
    if options.name == "":
        raise InvalidRequestError.of("name", "name must not be empty")
    check_globs(options.include or ())


def _settings_file(directory: Path) -> config_files.SettingsFile:
    path = directory / config_files.PROJECT_DIRECTORY / config_files.FILE_NAME
    file = config_files.read_project_file(path)
    check_project_file(file)
    return file


def _root_entry(file: config_files.SettingsFile) -> Mapping[str, Any] | None:
    """The entry of the folder that is the project's root."""
    for entry in file.folder_entries():
        if (file.root / file.folder_path(entry)).resolve() == file.root:
            return entry
    return None


def _write_settings(root: Path, options: Options) -> Step:
    file = _settings_file(root)
    what = "the project's settings"
    if not file.text:
        edit_text(file.path, lambda _: _new_settings(root, options))
        add_folders(_settings_file(root), [str(root)], include=options.include or ())
        return Step(file.path, changed=True, what=what)
    entry = _root_entry(file)

    def edit(document: TOMLDocument) -> None:
        if options.name is not None and document.get("display_name") != options.name:
            document["display_name"] = options.name
        if entry is not None and options.include is not None and tuple(entry.get("include", ())) != options.include:
            tables = cast("list[dict[str, Any]]", document["folders"])
            tables[file.folder_entries().index(dict(entry))]["include"] = list(options.include)

    config_files.change(file, edit, keys=frozenset({"folders", "display_name"}))
    if entry is None:
        add_folders(file, [str(root)], include=options.include or ())
    return Step(file.path, file.path.read_text(encoding="utf-8") != file.text, what)


def _new_settings(root: Path, options: Options) -> str:
    import tomlkit

    document = tomlkit.document()
    document.add(tomlkit.comment(HEADER))
    document["display_name"] = options.name or root.name or SERVER
    return tomlkit.dumps(document)


def _write_ignores(root: Path, *, hook: bool) -> Step:
    file = _settings_file(root)
    index = os.path.relpath((root / str(file.values.get("index_dir", project_trust.DEFAULT_INDEX))).resolve(), root)
    wanted = [f"/{index}/", *([f"/{editor_hook.FILE}"] if hook else [])]

    def edit(text: str) -> str:
        present = {line.strip().strip("/") for line in text.splitlines()}
        missing = [entry for entry in wanted if entry.strip("/") not in present]
        if not missing:
            return text
        gap = "" if not text or text.endswith("\n") else "\n"
        return f"{text}{gap}" + "".join(f"{entry}\n" for entry in missing)

    path = root / ".gitignore"
    return Step(path, edit_text(path, edit), "what git ignores")


def _register(root: Path, client: str, options: Options) -> Step:
    probe = registration.registration(client, SERVER, [SERVER, "mcp"], root)
    ours = registration.registered(probe)
    assert probe.file is not None
    path = probe.file
    if ours and options.name is None and options.description is None:
        return Step(path, changed=False, what=f"the registration with {client}")
    key = next(iter(ours), registration.name_from(options.name or "") or SERVER)
    before = _server_options(ours.get(key, {}))
    name = options.name if options.name is not None else before.get("--name")
    description = options.description if options.description is not None else before.get("--description")
    command = [SERVER, "mcp"]
    command += ["--name", name] if name else []
    command += ["--description", description] if description else []
    wanted = registration.registration(client, key, command, root)
    return Step(path, registration.write(wanted, update=True), f"the registration with {client}")


def _server_options(entry: Mapping[str, Any]) -> dict[str, str]:
    """The options with a value in an entry that `scaffold` has written."""
    words = [str(word) for word in entry.get("args", ())]
    return {option: value for option, value in itertools.pairwise(words) if option.startswith("--")}


def _described(directory: Path) -> str:
    for client in registration.CLIENTS:
        probe = registration.registration(client, SERVER, [SERVER, "mcp"], directory)
        for entry in registration.registered(probe).values():
            if text := _server_options(entry).get("--description"):
                return text
    return ""
