"""The entry in an editor's settings that runs `everfind hook` after each edit.

Claude Code's format: https://docs.claude.com/en/docs/claude-code/hooks (event ``PostToolUse``). Its
``settings.local.json`` is one person's file, so a path of this machine may stand in it.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from everfind_gateway.config.file_edits import edit_text, json_object, json_text, left_alone

FILE = ".claude/settings.local.json"
EVENT = "PostToolUse"
TOOLS = "Edit|MultiEdit|Write|NotebookEdit"
TIMEOUT = 10
"""Seconds after which the editor gives up on the hook, which only leaves a note and starts a process."""


def install(root: Path, command: Sequence[str]) -> bool:
    """Add the hook to the project's file; other hooks and settings stay. False if it is there already.

    Raises:
        ConfigError: the file is not what it should be, so it is left alone.
        StorageError: it cannot be written.
    """
    file = root / FILE

    def edit(text: str) -> str:
        document = json_object(file, text)
        hooks = document.setdefault("hooks", {})
        if not isinstance(hooks, dict):
            raise left_alone(file, "hooks is no object")
        entries = hooks.setdefault(EVENT, [])
        if not isinstance(entries, list):
            raise left_alone(file, f"{EVENT} is no list")
        if any(_runs_hook(entry) for entry in entries):
            return text
        action = {"type": "command", "command": shlex.join(command), "timeout": TIMEOUT}
        entries.append({"matcher": TOOLS, "hooks": [action]})
        return json_text(document)

    return edit_text(file, edit)


def _runs_hook(entry: Any) -> bool:
    actions = entry.get("hooks", []) if isinstance(entry, dict) else []
    commands = [str(action.get("command", "")) for action in actions if isinstance(action, dict)]
    return any("everfind" in command and command.rstrip().endswith(" hook") for command in commands)
