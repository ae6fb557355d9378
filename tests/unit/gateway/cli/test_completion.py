"""What shells offer after TAB, in the shells themselves where they are installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.gateway import Outcome

Run = Callable[..., Outcome]
PROGRAM = Path(sys.executable).parent / "everfind"


def offered(*words: str, last: str = "") -> list[str]:
    """What bash is given for a command line of ``words``, of which ``last`` is being typed."""
    line = ["everfind", *words, last]
    asked = {"_EVERFIND_COMPLETE": "complete_bash", "COMP_WORDS": "\n".join(line), "COMP_CWORD": str(len(line) - 1)}
    ended = subprocess.run(
        [sys.executable, "-m", "everfind_gateway"],
        env={**os.environ, **asked},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert ended.stderr == ""
    return ended.stdout.split()


@pytest.fixture
def folders(everfind: Run, home: Path) -> Path:
    for name in ("api", "notes"):
        (home / "work" / name).mkdir()
    assert everfind("add", "api", "notes").code == 0
    return home


def test_commands_options_and_choices_are_completed() -> None:
    assert offered(last="se") == ["search", "serve"]
    assert "--limit" in offered("search", last="--l")
    assert offered("search", "x", "--mode", last="") == ["hybrid", "semantic", "lexical"]
    assert offered("mcp", last="ins") == ["install"]
    assert offered("completion", last="") == ["bash", "zsh", "fish"]


def test_names_of_folders_settings_and_tools_are_completed(folders: Path) -> None:
    assert offered("search", "-f", last="") == ["api", "notes"]
    assert offered("remove", last="no") == ["notes"]
    assert offered("config", last="min_") == ["min_score"]
    assert offered("mcp", "--tool", last="li") == ["list_folders", "list_files"]


def test_the_project_of_config_is_the_one_whose_folders_are_offered(folders: Path, project: Path) -> None:
    (project / "src").mkdir()
    (project / ".everfind" / "config.toml").write_text('[[folders]]\nname = "own"\npath = "src"\n')
    assert offered("--config", str(project), "search", "-f", last="") == ["own"]


def test_settings_that_cannot_be_read_complete_nothing_and_say_nothing(user_config: Path) -> None:
    user_config.write_text("limit = = 3\n")
    assert offered("search", "-f", last="") == []


def test_an_unknown_shell_is_refused(everfind: Run) -> None:
    ended = everfind("completion", "csh")
    assert (ended.code, ended.out) == (2, "")
    assert "SHELL" in ended.err
    assert "'csh' is not one of 'bash', 'zsh', 'fish'" in ended.err


SHELLS = {
    "bash": """
        source <(everfind completion bash)
        COMP_WORDS=(everfind search -f n); COMP_CWORD=3
        _everfind_completion everfind
        echo "${COMPREPLY[*]}"
    """,
    "zsh": """
        compdef() { }
        _arguments() { echo "$1" }
        source <(everfind completion zsh)
        words=(everfind search -f n); CURRENT=4
        _everfind_completion
    """,
    "fish": """
        everfind completion fish | source
        complete -C 'everfind search -f n'
    """,
}


@pytest.mark.slow
@pytest.mark.parametrize("shell", SHELLS)
def test_the_scripts_work_in_their_shells(folders: Path, shell: str) -> None:
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed")
    path = f"{PROGRAM.parent}:{os.environ['PATH']}"
    ended = subprocess.run(
        [program, "-c", SHELLS[shell]],
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        timeout=240,
        check=True,
    )
    assert ended.stderr == ""
    assert "notes" in ended.stdout
    assert "api" not in ended.stdout


@pytest.mark.slow
def test_completion_is_installed_for_the_shell_that_runs(home: Path) -> None:
    ended = subprocess.run(
        ["bash", "-c", f"{PROGRAM} --install-completion; true"],
        env={**os.environ, "HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert "bash completion installed" in ended.stdout, ended.stderr
    script = home / ".bash_completions" / "everfind.sh"
    assert str(script) in (home / ".bashrc").read_text()
    assert "complete_bash" in script.read_text()
