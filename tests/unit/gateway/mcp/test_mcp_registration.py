"""Registration with hosts: each one's format, other servers kept, and no machine's paths in a shared file."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from pathlib import Path

import pytest

from everfind_core.errors import ConfigError, InvalidRequestError, StorageError
from everfind_gateway.cli import main
from everfind_gateway.mcp.registration import CLIENTS, name_from, registration, write

COMMAND = ["everfind", "mcp"]


@pytest.mark.parametrize(
    ("client", "file", "content"),
    [
        ("claude", ".mcp.json", {"mcpServers": {"notes": {"command": "everfind", "args": ["mcp"]}}}),
        ("cursor", ".cursor/mcp.json", {"mcpServers": {"notes": {"command": "everfind", "args": ["mcp"]}}}),
        ("codex", ".codex/config.toml", {"mcp_servers": {"notes": {"command": "everfind", "args": ["mcp"]}}}),
        (
            "zed",
            ".zed/settings.json",
            {"context_servers": {"notes": {"command": "everfind", "args": ["mcp"], "env": {}}}},
        ),
        (
            "vscode",
            ".vscode/mcp.json",
            {"servers": {"notes": {"type": "stdio", "command": "everfind", "args": ["mcp"]}}},
        ),
    ],
)
def test_a_projects_file_has_the_hosts_format(tmp_path: Path, client: str, file: str, content: object) -> None:
    wanted = registration(client, "notes", COMMAND, tmp_path)
    load = tomllib.loads if client == "codex" else json.loads
    assert load(wanted.text()) == content
    assert write(wanted)
    assert load((tmp_path / file).read_text(encoding="utf-8")) == content
    assert str(tmp_path) not in (tmp_path / file).read_text(encoding="utf-8")
    assert not write(wanted), "twice is once"


@pytest.mark.parametrize("client", ["cursor", "codex", "zed"])
def test_a_users_file_is_found(home: Path, monkeypatch: pytest.MonkeyPatch, client: str) -> None:
    monkeypatch.delenv("CODEX_HOME", raising=False)
    places = {"cursor": ".cursor/mcp.json", "codex": ".codex/config.toml", "zed": "config/zed/settings.json"}
    assert registration(client, "everfind", COMMAND, None).file == home / places[client]


def test_hosts_that_keep_their_file_get_a_command() -> None:
    claude = registration("claude", "my_notes", ["/usr/bin/everfind", "mcp"], None)
    assert shlex.split(claude.text())[:6] == ["claude", "mcp", "add", "--scope", "user", "my_notes"]
    assert shlex.split(claude.text())[6:] == ["--", "/usr/bin/everfind", "mcp"]
    vscode = shlex.split(registration("vscode", "notes", COMMAND, None).text())
    assert vscode[:2] == ["code", "--add-mcp"]
    assert json.loads(vscode[2]) == {"name": "notes", "type": "stdio", "command": "everfind", "args": ["mcp"]}


def test_other_servers_and_settings_stay(tmp_path: Path) -> None:
    (tmp_path / ".mcp.json").write_text('{"mcpServers": {"other": {"command": "x"}}, "more": [1]}', encoding="utf-8")
    assert write(registration("claude", "notes", COMMAND, tmp_path))
    content = json.loads((tmp_path / ".mcp.json").read_text(encoding="utf-8"))
    assert content["mcpServers"]["other"] == {"command": "x"}
    assert content["more"] == [1]
    (tmp_path / ".codex").mkdir()
    toml = tmp_path / ".codex" / "config.toml"
    toml.write_text('# mine\nmodel = "m"  # this one\n\n[mcp_servers.other]\ncommand = "x"\n', encoding="utf-8")
    assert write(registration("codex", "notes", COMMAND, tmp_path))
    text = toml.read_text(encoding="utf-8")
    assert '# mine\nmodel = "m"  # this one' in text
    assert set(tomllib.loads(text)["mcp_servers"]) == {"other", "notes"}


@pytest.mark.parametrize(
    ("client", "text", "error"),
    [
        ("zed", '{\n  // mine\n  "theme": "x"\n}', ConfigError),
        ("zed", "[]", ConfigError),
        ("zed", '{"context_servers": []}', ConfigError),
        ("codex", "mcp_servers = [", ConfigError),
        ("codex", "mcp_servers = 3", ConfigError),
        ("zed", '{"context_servers": {"notes": {"command": "else"}}}', InvalidRequestError),
    ],
)
def test_a_file_that_cannot_be_changed_safely_stays(
    tmp_path: Path, client: str, text: str, error: type[Exception]
) -> None:
    wanted = registration(client, "notes", COMMAND, tmp_path)
    assert wanted.file is not None
    wanted.file.parent.mkdir()
    wanted.file.write_text(text, encoding="utf-8")
    with pytest.raises(error):
        write(wanted)
    assert wanted.file.read_text(encoding="utf-8") == text


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / ".cursor").write_text("a file", encoding="utf-8")
    with pytest.raises(StorageError, match="cannot write"):
        write(registration("cursor", "notes", COMMAND, tmp_path))


@pytest.mark.parametrize("name", ["my notes", "", "a.b", "naïve", "-" * 65])
def test_a_name_that_hosts_refuse_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    assert main(["mcp", "install", "--client", "claude", "--project", str(tmp_path), "--name", name]) == 2
    assert "letters, digits, - and _" in capsys.readouterr().err
    assert re.fullmatch("[A-Za-z0-9_-]+", name_from(f"{name} x"))


@pytest.mark.parametrize("client", CLIENTS)
def test_the_command_prints_or_writes(tmp_path: Path, capsys: pytest.CaptureFixture[str], client: str) -> None:
    assert main(["mcp", "install", "--client", client, "--project", str(tmp_path)]) == 0
    printed = capsys.readouterr()
    assert "everfind" in printed.out
    assert f"add to {tmp_path}" in printed.err
    assert [path for path in tmp_path.iterdir() if path.is_file()] == []
    assert main(["mcp", "install", "--client", client, "--project", str(tmp_path), "--write"]) == 0
    assert capsys.readouterr().out.startswith("registered everfind in ")
    assert main(["mcp", "install", "--client", client, "--project", str(tmp_path), "--write"]) == 0
    assert capsys.readouterr().out.endswith(" already\n")
    assert main(["mcp", "install", "--client", client]) == 0
    assert main(["mcp", "install", "--client", "emacs"]) == 2
