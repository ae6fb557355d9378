"""Registering the server with the hosts that start it: what to write where, in each one's own format.

The formats are those of the hosts' own pages, as they stood in November 2026:

- Claude Code, https://code.claude.com/docs/en/mcp: options before the name, the command after ``--``; `.mcp.json` at a
  project's root, which each user approves.
- Cursor, https://cursor.com/docs/mcp: `~/.cursor/mcp.json`, and `.cursor/mcp.json` of a project.
- Codex, https://developers.openai.com/codex/mcp and its `config-reference`: `[mcp_servers.NAME]`; a project's file
  counts once the user trusts the project, and `codex mcp add` writes the user's alone.
- Zed, https://zed.dev/docs/ai/mcp: `context_servers`, without the `source` of before; a project's are started once the
  user trusts the worktree (`docs/src/worktree-trust.md` of its repository).
- VS Code, https://code.visualstudio.com/docs/agents/reference/mcp-configuration: `servers`, with a `type`; of
  `code --add-mcp` tells its page on the command line.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import platformdirs

from everfind_core.errors import ConfigError, InvalidRequestError
from everfind_gateway.config.file_edits import edit_text, json_object, json_text, left_alone

CLIENTS = ("claude", "cursor", "codex", "zed", "vscode")
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""What `claude mcp add` and `codex mcp add` take; other hosts take more, but one name should do for all."""

_KEYS = {"claude": "mcpServers", "cursor": "mcpServers", "codex": "mcp_servers", "zed": "context_servers"}


@dataclass(frozen=True, slots=True)
class Registration:
    """One server for one host.

    ``file`` and ``key`` are where its ``entry`` goes under ``name``; ``command`` does the same where the host keeps its
    file to itself, and there is no ``file`` then.
    """

    client: str
    name: str
    entry: Mapping[str, Any]
    file: Path | None
    key: str
    command: str = ""

    def text(self) -> str:
        """What a user types or pastes."""
        if self.command:
            return self.command
        if self.client == "codex":
            return _toml({self.key: {self.name: dict(self.entry)}})
        return json.dumps({self.key: {self.name: dict(self.entry)}}, indent=2, ensure_ascii=False)


def check_name(name: str) -> None:
    """Refuse a server's name that a host would refuse.

    Raises:
        InvalidRequestError: it would.
    """
    if not _NAME.fullmatch(name):
        raise InvalidRequestError.of(
            "name", f"{name!r} is a server's name that hosts refuse", hint="Use letters, digits, - and _, 64 at most."
        )


def name_from(title: str) -> str:
    """A name that hosts take, made of a title; empty if nothing of it can be in one."""
    return re.sub(r"[^A-Za-z0-9_-]+", "-", title).strip("-")[:64]


def registration(client: str, name: str, command: list[str], project: Path | None) -> Registration:
    """How ``client`` learns to start ``command``, for a project's directory or for the user."""
    program, *arguments = command
    entry: dict[str, Any] = {"command": program, "args": arguments}
    if client == "vscode":
        entry = {"type": "stdio", **entry}
    if client == "zed":
        entry = {**entry, "env": {}}
    key = _KEYS.get(client, "servers")
    typed = ""
    if project is None and client == "claude":
        typed = shlex.join(["claude", "mcp", "add", "--scope", "user", name, "--", *command])
    if project is None and client == "vscode":
        typed = shlex.join(["code", "--add-mcp", json.dumps({"name": name, **entry})])
    return Registration(client, name, entry, None if typed else _file(client, project), key, typed)


def write(wanted: Registration, *, update: bool = False) -> bool:
    """Add the entry to the host's file; everything else in it stays. False if it is there already.

    ``update`` replaces an entry of this name that starts everfind with other options.

    Raises:
        InvalidRequestError: another server has this name there.
        ConfigError: the file is not what it should be, so it is left alone.
        StorageError: it cannot be written.
    """
    assert wanted.file is not None
    return edit_text(wanted.file, lambda before: _with_entry(wanted, before, update))


def registered(wanted: Registration) -> Mapping[str, Mapping[str, Any]]:
    """The servers in the host's file that start everfind, by name; none where the file cannot be read as one."""
    assert wanted.file is not None
    try:
        servers = _parsed(wanted, wanted.file.read_text(encoding="utf-8")).get(wanted.key, {})
    except (OSError, UnicodeDecodeError, ConfigError):
        return {}
    return {name: entry for name, entry in servers.items() if _is_ours(entry)} if isinstance(servers, dict) else {}


def _with_entry(wanted: Registration, before: str, update: bool) -> str:
    """The file's text with the entry in it; as it was if the entry is there already."""
    assert wanted.file is not None
    document = _parsed(wanted, before)
    servers = document.setdefault(wanted.key, {})
    if not isinstance(servers, dict):
        raise left_alone(wanted.file, f"{wanted.key} is no table")
    existing = servers.get(wanted.name)
    if existing is not None:
        plain = existing.unwrap() if hasattr(existing, "unwrap") else existing
        if plain == dict(wanted.entry):
            return before
        if not (update and _is_ours(plain)):
            raise InvalidRequestError.of(
                "name",
                f"{wanted.file} has another server named {wanted.name!r}",
                hint="Choose another, or remove it there.",
            )
    servers[wanted.name] = dict(wanted.entry)
    if wanted.client == "codex":
        import tomlkit

        return tomlkit.dumps(document)
    return json_text(document)


def _is_ours(entry: Any) -> bool:
    """Whether a server's entry starts everfind."""
    if not isinstance(entry, Mapping):
        return False
    arguments = entry.get("args")
    words = [entry.get("command"), *(arguments if isinstance(arguments, list) else [])]
    return "mcp" in words and any(Path(str(word)).name in ("everfind", "everfind_gateway") for word in words)


def _parsed(wanted: Registration, text: str) -> dict[str, Any]:
    assert wanted.file is not None
    if wanted.client != "codex":
        return json_object(wanted.file, text)
    import tomlkit
    from tomlkit.exceptions import ParseError

    try:
        return tomlkit.parse(text)
    except ParseError as error:
        raise left_alone(wanted.file, str(error)) from None


def _file(client: str, project: Path | None) -> Path:
    if project is not None:
        below = {"claude": ".mcp.json", "codex": ".codex/config.toml", "zed": ".zed/settings.json"}
        return project / below.get(client, f".{client}/mcp.json")
    if client == "codex":
        return Path(os.environ.get("CODEX_HOME") or Path.home() / ".codex") / "config.toml"
    if client == "zed":
        return platformdirs.user_config_path("zed") / "settings.json"
    return Path.home() / ".cursor" / "mcp.json"


def _toml(value: dict[str, Any]) -> str:
    import tomlkit

    return tomlkit.dumps(value).strip()
