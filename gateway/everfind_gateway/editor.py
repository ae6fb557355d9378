"""Opens a place in the user's editor: an argument list, never a shell."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from everfind_core.errors import ConfigError, FileNotIndexableError
from everfind_core.files.paths import decode_os_path, shown_path

_HEAD = 4096

_PLUS = "vi vim nvim view gvim nvi emacs emacsclient nano pico micro joe kak ne mg jed gedit geany neovide"
_COLON = "hx helix subl sublime_text zed zeditor"
_GOTO = "code code-insiders code-oss codium vscodium cursor windsurf positron"
_LINE = "kate mate idea pycharm goland webstorm clion rubymine phpstorm rider rustrover studio"


def open_place(path: str, line: int) -> None:
    """Open the file ``path`` (in string form) at ``line``, and wait until its program ends.

    Text goes to ``VISUAL``, else ``EDITOR``, else vi in a terminal; what is no text (a PDF, say) to the desktop's own
    program.

    Raises:
        FileNotIndexableError: the file is not on this machine.
        ConfigError: there is no such editor, or it ended with an error.
    """
    file = decode_os_path(path)
    in_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    command = editor_command(os.environ, file, line, in_terminal) if _is_text(file, path) else ["xdg-open", file]
    program = shutil.which(command[0])
    if program is None:
        raise ConfigError(
            f"{command[0]!r}, which would open {shown_path(path)}, is not installed",
            hint="Set VISUAL or EDITOR to your editor, such as `export VISUAL=nano`.",
        )
    try:
        ended = subprocess.run([program, *command[1:]], check=False).returncode
    except OSError as error:  # a script that does not say what runs it, say
        raise ConfigError(f"cannot start {program}: {error.strerror}", hint="Check VISUAL and EDITOR.") from error
    if ended:
        raise ConfigError(f"{command[0]} ended with {ended}", hint="Check VISUAL and EDITOR.")


def editor_command(environment: Mapping[str, str], file: str, line: int, in_terminal: bool) -> list[str]:
    """The editor's argument list for ``file`` (an absolute path) at ``line``, which is left out if it is 0.

    Raises:
        ConfigError: the variable holds no command, or none is set and vi has no terminal.
    """
    name = next((variable for variable in ("VISUAL", "EDITOR") if environment.get(variable, "").strip()), "")
    if not name and not in_terminal:
        raise ConfigError(
            "no editor is set, and vi needs a terminal",
            hint="Set VISUAL or EDITOR to a program that opens a window, such as `export VISUAL=code`.",
        )
    try:
        editor = shlex.split(environment[name]) if name else ["vi"]
    except ValueError as error:
        raise ConfigError(f"{name} is no command: {error}", hint="Write it as in a shell, quotes closed.") from None
    return [*editor, *_place(Path(editor[0]).name, file, line)]


def _place(editor: str, file: str, line: int) -> list[str]:
    """How ``editor`` is told of a line; one that is not known gets the file alone."""
    if line < 1:
        return [file]
    if editor in _PLUS.split():
        return [f"+{line}", file]
    if editor in _COLON.split():
        return [f"{file}:{line}"]
    if editor in _GOTO.split():
        return ["--goto", f"{file}:{line}"]
    return ["--line", str(line), file] if editor in _LINE.split() else [file]


def _is_text(file: str, shown: str) -> bool:
    try:
        with open(file, "rb") as stream:  # noqa: PTH123 - the path may not be UTF-8
            return b"\0" not in stream.read(_HEAD)
    except OSError as error:
        raise FileNotIndexableError(
            f"{shown_path(shown)} cannot be opened here: {error.strerror}",
            hint="Where a server holds it: say in `[checkouts]` of the settings where its folder lies on this machine.",
        ) from error
