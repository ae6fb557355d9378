"""The picker in a real terminal (tmux): a real index, real keys, a real editor."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator

import pytest

from tests.support.processes import Home

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed: no real terminal to test in"),
]


class Terminal:
    """A tmux session of its own server, in which one command runs."""

    def __init__(self, home: Home, environment: dict[str, str]) -> None:
        self._home = home
        self._environment = {**home.env, **environment, "TERM": "xterm-256color"}
        self._socket = f"everfind-{uuid.uuid4().hex[:8]}"

    def start(self, command: str) -> None:
        self._tmux("-f", "/dev/null", "new-session", "-d", "-x", "120", "-y", "30", command)

    def keys(self, *keys: str) -> None:
        self._tmux("send-keys", *keys)

    def screen(self) -> str:
        return self._tmux("capture-pane", "-p", check=False)

    def stop(self) -> None:
        self._tmux("kill-server", check=False)

    def until(self, condition: Callable[[str], bool]) -> str:
        screen = ""
        for _ in range(1200):
            screen = self.screen()
            if condition(screen):
                return screen
            time.sleep(0.1)
        raise AssertionError(f"never on the screen:\n{screen}")

    def _tmux(self, *arguments: str, check: bool = True) -> str:
        return subprocess.run(
            ["tmux", "-L", self._socket, *arguments],
            env=self._environment, cwd=self._home.base, capture_output=True, text=True, timeout=120, check=check,
        ).stdout  # fmt: skip


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    base = tmp_path_factory.mktemp("home")
    notes = base / "notes"
    notes.mkdir()
    (notes / "tokens.md").write_text("# Tokens\n\nThe refresh token is renewed ten minutes before it expires.\n")
    (notes / "colours.md").write_text("# Colours\n\nThe button is painted green where it may be pressed.\n")
    home = Home(base)
    home.run("add", "notes")
    home.run("index")
    return home


@pytest.fixture
def terminal(home: Home) -> Iterator[Terminal]:
    editor = home.base / "nano"
    editor.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {shlex.quote(str(home.base))}/opened\n')
    editor.chmod(0o755)
    terminal = Terminal(home, {"VISUAL": str(editor)})
    yield terminal
    terminal.stop()


EVERFIND = f"{shlex.quote(sys.executable)} -m everfind_gateway"


def test_typing_finds_enter_opens_and_escape_leaves(home: Home, terminal: Terminal) -> None:
    terminal.start(f"{EVERFIND} find; echo ended with $?; exec cat")
    terminal.until(lambda screen: "Type a question" in screen)
    terminal.keys("-l", "when is the refresh token renewed")
    shown = ("when is the refresh token renewed", "notes/tokens.md:", "ten minutes before")
    terminal.until(lambda screen: all(part in screen for part in shown))
    terminal.keys("Enter")
    opened = home.base / "opened"
    terminal.until(lambda _: opened.exists() and opened.read_text().count("\n") == 2)
    line, file = opened.read_text().split()
    assert file == str(home.base / "notes" / "tokens.md")
    assert line in ("+1", "+3")

    def ended(screen: str) -> bool:
        """Escape again as long as it has not: what is typed while an editor gives the terminal back may be lost."""
        terminal.keys("Escape")
        return "ended with 0" in screen

    terminal.until(ended)


def test_a_shell_gets_the_place_that_was_picked(home: Home, terminal: Terminal) -> None:
    terminal.start(f'picked=$({EVERFIND} find --print colour of the button); echo "picked <$picked>"; exec cat')
    terminal.until(lambda screen: "notes/colours.md:" in screen)
    terminal.keys("Enter")
    terminal.until(lambda screen: "picked <notes/colours.md:1>" in screen)
