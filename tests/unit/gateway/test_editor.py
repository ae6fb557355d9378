"""The editor's argument list, and what happens where there is none."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everfind_core.errors import ConfigError, FileNotIndexableError
from everfind_gateway.editor import editor_command, open_place
from tests.support.gateway import FakeEngines, Outcome, make_hit

Run = Callable[..., Outcome]
FILE = "/srv/a b.py"


@pytest.mark.parametrize(
    ("editor", "arguments"),
    [
        ("vim", ["vim", "+42", FILE]),
        ("/usr/bin/nano -w", ["/usr/bin/nano", "-w", "+42", FILE]),
        ("emacsclient -t", ["emacsclient", "-t", "+42", FILE]),
        ("code --wait", ["code", "--wait", "--goto", f"{FILE}:42"]),
        ("cursor", ["cursor", "--goto", f"{FILE}:42"]),
        ("hx", ["hx", f"{FILE}:42"]),
        ("zed", ["zed", f"{FILE}:42"]),
        ("pycharm", ["pycharm", "--line", "42", FILE]),
        ("'my editor' -x", ["my editor", "-x", FILE]),
    ],
)
def test_each_editor_is_told_the_line_in_its_own_way(editor: str, arguments: list[str]) -> None:
    assert editor_command({"EDITOR": editor}, FILE, 42, False) == arguments
    assert editor_command({"VISUAL": editor, "EDITOR": "ed"}, FILE, 42, False) == arguments


def test_without_a_variable_it_is_vi_and_without_a_line_the_file_alone() -> None:
    assert editor_command({"VISUAL": " "}, FILE, 42, True) == ["vi", "+42", FILE]
    assert editor_command({}, FILE, 0, True) == ["vi", FILE]


def test_vi_is_not_started_without_a_terminal() -> None:
    with pytest.raises(ConfigError, match="no editor is set, and vi needs a terminal"):
        editor_command({}, FILE, 1, False)


def test_a_variable_that_is_no_command_is_refused() -> None:
    with pytest.raises(ConfigError, match="EDITOR is no command"):
        editor_command({"EDITOR": "vim 'oops"}, FILE, 1, True)


@given(st.text(min_size=1).filter(lambda name: "\0" not in name), st.integers(0, 10**6))
def test_whatever_the_file_is_called_it_is_part_of_one_argument(name: str, line: int) -> None:
    for editor in ("vi", "hx", "code", "other"):
        last = editor_command({"EDITOR": editor}, f"/{name}", line, False)[-1]
        assert last in (f"/{name}", f"/{name}:{line}")


@pytest.fixture
def recorder(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An editor that writes down what it was given."""
    script = home / "nvim"
    script.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {home}/opened\n')
    script.chmod(0o755)
    monkeypatch.setenv("VISUAL", str(script))
    return home / "opened"


def test_a_search_opens_its_hit(everfind: Run, engines: FakeEngines, home: Path, recorder: Path) -> None:
    first, second = home / "$(touch pwned) a.py", home / "b.py"
    for file in (first, second):
        file.write_text("x\n")
    engines.hits = (make_hit(absolute_path=str(first)), make_hit("b.py", absolute_path=str(second), start_line=7))
    ended = everfind("search", "x", "--open")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.count("\n") == 2
    assert recorder.read_text() == f"+42\n{first}\n"
    assert json.loads(everfind("search", "x", "--open", "--nth", "2", "--json").out)["hits"]
    assert recorder.read_text() == f"+7\n{second}\n"
    assert everfind("related", "x", "--open").code == 0
    assert recorder.read_text() == f"+43\n{first}\n"
    assert not (Path.cwd() / "pwned").exists()
    ended = everfind("search", "x", "--open", "--nth", "3")
    assert (ended.code, ended.err.splitlines()[0]) == (2, "everfind: nth: there are only 2 hits")


@pytest.mark.parametrize("command", ["search", "related"])
def test_a_place_without_open_is_refused(everfind: Run, recorder: Path, command: str) -> None:
    ended = everfind(command, "x", "--nth", "2")
    assert (ended.code, ended.err.splitlines()[0]) == (2, "everfind: nth: nothing is to be opened")
    assert not recorder.exists()


def test_no_hit_opens_nothing(everfind: Run, engines: FakeEngines, recorder: Path) -> None:
    engines.hits = ()
    assert everfind("search", "x", "--open").code == 0
    assert not recorder.exists()


def test_a_file_that_is_elsewhere_and_an_editor_that_is_missing_are_said(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(FileNotIndexableError, match="cannot be opened here: No such file"):
        open_place("/srv/on the server.py", 1)
    (home / "a.py").write_text("x\n")
    monkeypatch.setenv("VISUAL", "no-such-editor")
    with pytest.raises(ConfigError, match=r"'no-such-editor', which would open .*a.py, is not installed"):
        open_place(str(home / "a.py"), 1)
    monkeypatch.setenv("VISUAL", "false")
    with pytest.raises(ConfigError, match="false ended with 1"):
        open_place(str(home / "a.py"), 1)
    script = home / "no-interpreter"
    script.write_text("exit 0\n")
    script.chmod(0o755)
    monkeypatch.setenv("VISUAL", str(script))
    with pytest.raises(ConfigError, match=r"cannot start .*no-interpreter: Exec format error"):
        open_place(str(home / "a.py"), 1)


def test_what_is_no_text_goes_to_the_desktop(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "a.pdf").write_bytes(b"%PDF\0")
    opener = home / "xdg-open"
    opener.write_text(f'#!/bin/sh\necho "$1" > {home}/shown\n')
    opener.chmod(0o755)
    monkeypatch.setenv("PATH", str(home), prepend=":")
    open_place(str(home / "a.pdf"), 3)
    assert (home / "shown").read_text() == f"{home}/a.pdf\n"
