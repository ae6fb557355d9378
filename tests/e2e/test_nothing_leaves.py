"""After the install nothing leaves the machine: every command works without a network, and none looks for one."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.processes import Home

COMMANDS = (
    ("add", "notes"),
    ("index",),
    ("search", "how long can a token be renewed", "--json"),
    ("gather", "token"),
    ("grep", "renewed"),
    ("cat", "notes/a.md"),
    ("status",),
    ("doctor",),
)

# What Python opens is seen by an audit hook; what native code opens, by the namespace.
HOOK = """
import ipaddress, os, sys

def watch(event, arguments):
    if event == "socket.getaddrinfo":
        place = str(arguments[0])
    elif event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
        place = arguments[1]
        if isinstance(place, (str, bytes)) or place is None:
            return
        place = str(place[0])
    else:
        return
    try:
        if ipaddress.ip_address(place).is_loopback:
            return
    except ValueError:
        pass
    with open(os.environ["SEEN"], "a") as seen:
        seen.write(f"{event} {place}\\n")

sys.addaudithook(watch)
"""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("# Tokens\n\nA token can be renewed for ten minutes.\n")
    (tmp_path / "notes" / "b.py").write_text("def renew(token):\n    return token\n")
    return Home(tmp_path)


def environment(home: Home) -> dict[str, str]:
    return {name: value for name, value in home.env.items() if name != "ORT_DISABLE_TELEMETRY"}


def run(home: Home, command: tuple[str, ...], env: dict[str, str], *before: str) -> None:
    ended = subprocess.run(
        [*before, sys.executable, "-m", "everfind_gateway", *command], cwd=home.base, env=env, capture_output=True,
        text=True, timeout=120, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, (command, ended.stdout, ended.stderr)


def namespace() -> list[str]:
    """What runs a command where there is no network, not even loopback; empty where that is not allowed."""
    program = shutil.which("unshare")
    if program is None:
        return []
    tried = subprocess.run([program, "-rn", "true"], capture_output=True, check=False)
    return [program, "-rn"] if tried.returncode == 0 else []


@pytest.mark.slow
def test_all_works_without_a_network(home: Home) -> None:
    before = namespace()
    if not before:
        pytest.skip("NOT TESTED: this machine allows no network namespaces (unshare -rn)")
    for command in COMMANDS:
        run(home, command, environment(home), *before)


@pytest.mark.slow
def test_no_socket_is_opened_to_another_machine(home: Home) -> None:
    (home.base / "hook").mkdir()
    (home.base / "hook" / "sitecustomize.py").write_text(HOOK)
    seen = home.base / "seen"
    env = {**environment(home), "PYTHONPATH": str(home.base / "hook"), "SEEN": str(seen)}
    tried = [sys.executable, "-c", "import socket; socket.socket(2, 2).connect(('192.0.2.1', 9))"]
    subprocess.run(tried, env=env, check=False, capture_output=True)
    assert seen.read_text() == "socket.connect 192.0.2.1\n"
    seen.unlink()
    for command in COMMANDS:
        run(home, command, env)
    assert not seen.exists() or seen.read_text() == ""
