"""A server that starts by itself: one of several that race, gone when idle, killed, of another version or settings."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from everfind_core.files.locks import is_locked
from everfind_gateway.wiring.running import FILE, LOCK, RunningServer, announced_server
from tests.support.processes import Home

pytestmark = pytest.mark.slow

SECONDS = 120.0


def until(what: Callable[[], object]) -> None:
    give_up = time.monotonic() + SECONDS
    while not what():
        assert time.monotonic() < give_up, "it never came to be"
        time.sleep(0.05)


class Started(Home):
    """A home with an indexed note, in which searches start a server that ends after a while without a call."""

    def set(self, idle: float, more: str = "") -> None:
        config = self.base / "config" / "everfind" / "config.toml"
        folders = config.read_text(encoding="utf-8").partition("[[folders]]")[2]
        text = f"autostart_seconds = {idle}\nlisten = '127.0.0.1:0'\n{more}[[folders]]{folders}"
        config.write_text(text, encoding="utf-8")

    @property
    def server(self) -> RunningServer | None:
        return announced_server(self.index_directory)

    @property
    def log(self) -> Path:
        return self.base / "state" / "everfind" / "server.log"

    def search(self, *options: str) -> None:
        assert "notes/a.md" in self.run(*options, "search", "tokens", "--mode", "lexical").stdout

    def running(self) -> RunningServer:
        """The server, once it runs."""
        until(lambda: self.server)
        assert self.server is not None
        return self.server

    def gone(self) -> bool:
        return not is_locked(self.index_directory / LOCK)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Started:
    home = Started(tmp_path_factory.mktemp("home"))
    (home.base / "notes").mkdir()
    (home.base / "notes" / "a.md").write_text("# Tokens\n\nTokens are renewed for ten minutes.\n", encoding="utf-8")
    home.run("add", "notes")
    home.run("index")
    return home


@pytest.fixture
def home(made: Started) -> Iterator[Started]:
    made.set(600)
    yield made
    made.run("serve", "--stop")
    assert made.gone()
    assert not (made.index_directory / FILE).exists()


def test_of_several_searches_at_once_one_starts_a_server(home: Started) -> None:
    searches = [home.start("search", "tokens", "--mode", "lexical") for _ in range(3)]
    for search in searches:
        out, _ = search.communicate(timeout=SECONDS)
        assert "notes/a.md" in out
    server = home.running()
    assert server.idle_seconds == 600
    home.search()
    assert home.running() == server
    assert f"process {server.pid}, {server.address}, ends when idle" in home.run("status").stdout
    assert f"stopped process {server.pid}" in home.run("serve", "--stop").stderr
    assert "no server runs" in home.run("serve", "--stop").stderr


def test_one_that_has_only_just_been_started_is_stopped(home: Started) -> None:
    home.search()
    assert not home.gone()
    assert "stopped process" in home.run("serve", "--stop").stderr
    assert home.gone()
    assert "serving on" in home.log.read_text(encoding="utf-8")


def test_word_of_a_killed_one_is_stale(home: Started) -> None:
    home.search()
    server = home.running()
    os.kill(server.pid, signal.SIGKILL)
    until(home.gone)
    assert (home.index_directory / FILE).exists()
    home.search()
    assert home.running().pid != server.pid


def test_one_with_settings_of_before_ends(home: Started) -> None:
    home.search()
    server = home.running()
    home.set(600, "relative_cutoff = 0.1\n")
    until(lambda: home.server != server)
    home.search()
    until(lambda: home.gone() or home.server)
    home.search()
    assert home.running().digest != server.digest


def test_one_of_another_version_is_told_to_end(home: Started) -> None:
    home.search()
    server = home.running()
    word = home.index_directory / FILE
    word.write_text(json.dumps({**json.loads(word.read_text()), "version": "0.0.1"}))
    home.search()
    until(lambda: home.server is None or home.server.pid != server.pid)
    until(home.gone)
    home.search()
    assert home.running().pid != server.pid


def test_nothing_starts_unasked_or_refused(home: Started) -> None:
    home.log.unlink(missing_ok=True)
    home.search("--no-server")
    home.set(0)
    home.search()
    assert home.gone()
    assert not home.log.exists()
    home.set(600)
    home.search()
    assert not home.gone()
    assert home.log.exists()


def test_it_ends_when_nobody_asks(home: Started) -> None:
    home.set(0.5)
    home.search()
    until(home.gone)
    assert "serving on" in home.log.read_text(encoding="utf-8")
    home.set(0)
