"""Registering the server with the hosts that start it: what to write where, in each one's own format."""

from __future__ import annotations

import json
import os
import secrets
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import platformdirs

from everfind_core.errors import ConfigError, InvalidRequestError, StorageError

CLIENTS = ("claude", "cursor", "codex", "zed", "vscode")
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


def registration(client: str, name: str, command: list[str], project: Path | None) -> Registration:
    """How ``client`` learns to start ``command``, for a project's directory or for the user."""
    program, *arguments = command
    entry: dict[str, Any] = {"command": program, "args": arguments}
    if client == "vscode":
        entry = {"type": "stdio", **entry}
    if client == "zed":
        entry = {"source": "custom", **entry, "env": {}}
    key = _KEYS.get(client, "servers")
    typed = ""
    if project is None and client == "claude":
        typed = shlex.join(["claude", "mcp", "add", "--scope", "user", name, "--", *command])
    if project is None and client == "vscode":
        typed = shlex.join(["code", "--add-mcp", json.dumps({"name": name, **entry})])
    return Registration(client, name, entry, None if typed else _file(client, project), key, typed)


def write(wanted: Registration) -> bool:
    """Add the entry to the host's file; everything else in it stays. False if it is there already.

    Raises:
        InvalidRequestError: another server has this name there.
        ConfigError: the file is not what it should be, so it is left alone.
        StorageError: it cannot be written.
    """
    file = wanted.file
    assert file is not None
    target = file.resolve()
    try:
        before = target.read_text(encoding="utf-8") if target.exists() else ""
        after = _with_entry(wanted, before)
        if after is None:
            return False
        target.parent.mkdir(parents=True, exist_ok=True)
        _replace(target, after)
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file} is not UTF-8 text", hint="Correct it; it was left as it is.") from error
    except OSError as error:
        raise StorageError(f"cannot write {file}: {error.strerror}", hint="Check its owner and mode.") from error
    return True


def _with_entry(wanted: Registration, before: str) -> str | None:
    """The file's text with the entry in it; None if it is there already."""
    document = _parsed(wanted, before)
    servers = document.setdefault(wanted.key, {})
    if not isinstance(servers, dict):
        raise _odd(wanted, f"{wanted.key} is no table")
    existing = servers.get(wanted.name)
    if existing is not None:
        plain = existing.unwrap() if hasattr(existing, "unwrap") else existing
        if plain == dict(wanted.entry):
            return None
        raise InvalidRequestError.of(
            "name",
            f"{wanted.file} has another server named {wanted.name!r}",
            hint="Choose another, or remove it there.",
        )
    servers[wanted.name] = dict(wanted.entry)
    if wanted.client == "codex":
        import tomlkit

        return tomlkit.dumps(document)
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _parsed(wanted: Registration, text: str) -> dict[str, Any]:
    if wanted.client == "codex":
        import tomlkit
        from tomlkit.exceptions import ParseError

        try:
            return tomlkit.parse(text)
        except ParseError as error:
            raise _odd(wanted, str(error)) from None
    try:
        document = json.loads(text) if text.strip() else {}
    except ValueError as error:
        raise _odd(wanted, f"it is not plain JSON ({error}; comments count as such)") from None
    if not isinstance(document, dict):
        raise _odd(wanted, "it holds no object")
    return document


def _odd(wanted: Registration, why: str) -> ConfigError:
    return ConfigError(
        f"{wanted.file} was left as it is: {why}",
        hint="Leave --write out to see what to add, and add it by hand.",
    )


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


def _replace(target: Path, text: str) -> None:
    """Write beside the target, then rename: a crash leaves the old file or the new one."""
    temporary = target.parent / f".{target.name}.{secrets.token_hex(8)}"
    try:
        mode = target.stat().st_mode & 0o777 if target.exists() else 0o600
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
