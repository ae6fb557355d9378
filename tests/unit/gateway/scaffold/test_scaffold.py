"""`scaffold` and `init`: what they write, what they keep, and what they leave alone."""

from __future__ import annotations

import json
import subprocess
import tomllib
from pathlib import Path

import pytest

from everfind_core.errors import ConfigError, FolderUnusableError, InvalidRequestError, UntrustedSettingError
from everfind_gateway.cli import main
from everfind_gateway.config.settings import load_settings
from everfind_gateway.scaffold.project import Options, current, write

HOOK = ("everfind", "hook")


@pytest.fixture
def project(tmp_path: Path, home: Path) -> Path:
    del home
    directory = tmp_path / "plans"
    directory.mkdir()
    return directory


def config(project: Path) -> dict[str, object]:
    return tomllib.loads((project / ".everfind/config.toml").read_text(encoding="utf-8"))


def servers(project: Path) -> dict[str, object]:
    content = json.loads((project / ".mcp.json").read_text(encoding="utf-8"))["mcpServers"]
    assert isinstance(content, dict)
    return content


def test_a_project_gets_an_instance_of_its_own(project: Path) -> None:
    options = Options("Plan docs", "What we decided", ("docs/**",), ("claude", "codex"), hook=True)
    steps = write(project, options, HOOK)
    assert [step.path.relative_to(project).as_posix() for step in steps if step.changed] == [
        ".everfind/config.toml",
        ".gitignore",
        ".mcp.json",
        ".codex/config.toml",
        ".claude/settings.local.json",
    ]
    assert config(project) == {
        "display_name": "Plan docs",
        "folders": [{"name": "plans", "path": ".", "include": ["docs/**"]}],
    }
    arguments = ["mcp", "--name", "Plan docs", "--description", "What we decided"]
    assert servers(project) == {"Plan-docs": {"command": "everfind", "args": arguments}}
    settings = load_settings(cwd=project)
    assert settings.index_dir == project / ".everfind/index"
    assert [(folder.root, folder.include) for folder in settings.folders] == [(str(project), ("docs/**",))]
    assert current(project).name == "Plan docs"
    assert current(project).description == "What we decided"


def test_what_can_be_shared_holds_no_path_of_this_machine(project: Path) -> None:
    write(project, Options(description="d", clients=("claude", "cursor", "codex", "zed", "vscode")), HOOK)
    shared = [path for path in project.rglob("*") if path.is_file()]
    assert len(shared) == 7
    assert [path for path in shared if str(project.parent) in path.read_text(encoding="utf-8")] == []


def test_the_index_and_the_personal_file_are_ignored_by_git(project: Path) -> None:
    subprocess.run(["git", "init", "-q", project], check=True)
    (project / ".gitignore").write_text("*.pyc", encoding="utf-8")
    write(project, Options(hook=True), HOOK)
    for path, ignored in ((".everfind/index/x", 0), (".claude/settings.local.json", 0), (".everfind/config.toml", 1)):
        assert subprocess.run(["git", "-C", project, "check-ignore", "-q", path], check=False).returncode == ignored
    assert (project / ".gitignore").read_text(encoding="utf-8").startswith("*.pyc\n")


def test_again_keeps_what_was_tuned(project: Path) -> None:
    write(project, Options("One", "First", ("*.md",), hook=True), HOOK)
    file = project / ".everfind/config.toml"
    tuned = file.read_text(encoding="utf-8").replace("\n[[folders]]", "limit = 5  # mine\nfuture = 1\n\n[[folders]]")
    file.write_text(tuned, encoding="utf-8")
    assert [step.path for step in write(project, Options(hook=True), HOOK) if step.changed] == []
    assert file.read_text(encoding="utf-8") == tuned
    steps = write(project, Options(name="Two", include=("*.rst",)), HOOK)
    assert [step.path.name for step in steps if step.changed] == ["config.toml", ".mcp.json"]
    assert file.read_text(encoding="utf-8") == tuned.replace('"One"', '"Two"').replace("*.md", "*.rst")
    assert servers(project) == {
        "One": {"command": "everfind", "args": ["mcp", "--name", "Two", "--description", "First"]}
    }


def test_other_entries_stay(project: Path) -> None:
    other = {"command": "x", "args": ["y"]}
    (project / ".mcp.json").write_text(json.dumps({"mcpServers": {"other": other}, "more": 1}), encoding="utf-8")
    (project / ".claude").mkdir()
    mine = {"matcher": "Bash", "hooks": [{"type": "command", "command": "true"}]}
    personal = project / ".claude/settings.local.json"
    personal.write_text(json.dumps({"permissions": {}, "hooks": {"PostToolUse": [mine], "Stop": []}}), encoding="utf-8")
    write(project, Options(hook=True), HOOK)
    assert servers(project)["other"] == other
    written = json.loads(personal.read_text(encoding="utf-8"))
    assert written["permissions"] == {}
    assert written["hooks"]["Stop"] == []
    assert written["hooks"]["PostToolUse"][0] == mine
    assert written["hooks"]["PostToolUse"][1]["hooks"][0]["command"] == "everfind hook"


def test_a_project_with_folders_gets_its_root_beside_them(project: Path) -> None:
    (project / "docs").mkdir()
    (project / ".everfind").mkdir()
    file = project / ".everfind/config.toml"
    file.write_text('# mine\nlimit = 3\n\n[[folders]]\nname = "d"\npath = "docs"\n', encoding="utf-8")
    write(project, Options(include=("*.md",)), HOOK)
    assert config(project)["folders"] == [
        {"name": "d", "path": "docs"},
        {"name": "plans", "path": ".", "include": ["*.md"]},
    ]
    assert file.read_text(encoding="utf-8").startswith("# mine\nlimit = 3\n")


@pytest.mark.parametrize(
    ("file", "text", "error"),
    [
        (".mcp.json", "// mine\n{}", ConfigError),
        (".mcp.json", '{"mcpServers": {"everfind": {"command": "else"}}}', InvalidRequestError),
        (".claude/settings.local.json", '{"hooks": []}', ConfigError),
        (".claude/settings.local.json", '{"hooks": {"PostToolUse": {}}}', ConfigError),
        (".everfind/config.toml", "limit = [", ConfigError),
        (".everfind/config.toml", 'server = "evil:1"\n', UntrustedSettingError),
        (".everfind/config.toml", 'index_dir = "/tmp/x"\n', UntrustedSettingError),
    ],
)
def test_a_file_that_cannot_be_changed_safely_stays(
    project: Path, file: str, text: str, error: type[Exception]
) -> None:
    (project / file).parent.mkdir(exist_ok=True)
    (project / file).write_text(text, encoding="utf-8")
    with pytest.raises(error):
        write(project, Options(hook=True), HOOK)
    assert (project / file).read_text(encoding="utf-8") == text


@pytest.mark.parametrize(
    ("options", "field"),
    [
        (Options(name=""), "name"),
        (Options(name="a\nb"), "name"),
        (Options(name="-x"), "name"),
        (Options(description="x" * 2_001), "description"),
        (Options(include=("[",)), "include"),
    ],
)
def test_options_that_cannot_be_are_named(project: Path, options: Options, field: str) -> None:
    with pytest.raises(InvalidRequestError) as raised:
        write(project, options, HOOK)
    assert raised.value.violations[0].field == field
    assert list(project.iterdir()) == []


def test_a_directory_is_needed(project: Path) -> None:
    with pytest.raises(FolderUnusableError, match="does not exist"):
        write(project / "none", Options(), HOOK)
    (project / "file").touch()
    with pytest.raises(FolderUnusableError, match="is not a directory"):
        write(project / "file", Options(), HOOK)


def test_init_without_a_terminal_takes_the_defaults(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", str(project), "--include", "*.md", "--no-hook"]) == 0
    assert config(project) == {
        "display_name": "plans",
        "folders": [{"name": "plans", "path": ".", "include": ["*.md"]}],
    }
    assert servers(project) == {"everfind": {"command": "everfind", "args": ["mcp"]}}
    assert capsys.readouterr().out.splitlines()[0].startswith("wrote  ")
    assert main(["scaffold", str(project)]) == 0
    assert [line[:5] for line in capsys.readouterr().out.splitlines()] == ["kept ", "kept ", "kept "]


def test_init_asks_for_what_no_option_says(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[tuple[str, str]] = []
    answers = iter(["Plans", "Our plans", "*.md, docs/**"])

    def prompt(question: str, *, default: str, err: bool) -> str:
        assert err
        asked.append((question.split(" ", maxsplit=1)[0], default))
        return next(answers)

    monkeypatch.setattr("typer.prompt", prompt)
    monkeypatch.setattr("typer.confirm", lambda *_arguments, **_options: True)
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    assert main(["init", str(project)]) == 0
    assert asked == [("Name", "plans"), ("What", ""), ("Only", "")]
    assert current(project).include == ("*.md", "docs/**")
    assert current(project).description == "Our plans"
    assert (project / ".claude/settings.local.json").exists()
    asked.clear()
    answers = iter(["Plans", "Our plans", "*.md,docs/**"])
    assert main(["init", str(project), "--no-hook"]) == 0
    assert asked == [("Name", "Plans"), ("What", "Our plans"), ("Only", "*.md,docs/**")]
    assert "wrote" not in capsys.readouterr().out.partition("kept")[2]
