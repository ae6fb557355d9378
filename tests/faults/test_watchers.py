"""`everfind watch` as real processes: followed, killed, taken over; the index ends up as a fresh one."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from everfind_core.index.watch_state import read_watch_state
from tests.support.corpus import write_corpus
from tests.support.processes import Home

SECONDS = 120.0


@pytest.fixture
def home(tmp_path: Path) -> Home:
    write_corpus(tmp_path / "corpus")
    home = Home(tmp_path / "home")
    home.base.mkdir()
    home.run("add", str(tmp_path / "corpus" / "code"), str(tmp_path / "corpus" / "docs"))
    return home


@contextlib.contextmanager
def watcher(home: Home, *command: str) -> Iterator[subprocess.Popen[str]]:
    process = home.start(*(command or ("watch",)))
    try:
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        _, stderr = process.communicate(timeout=SECONDS)
        assert "Traceback" not in stderr, stderr


def until_current(home: Home) -> None:
    """Until a watcher has taken in whatever it heard of."""
    time.sleep(0.6)
    end = time.monotonic() + SECONDS
    while True:
        state = read_watch_state(home.index_directory)
        if state is not None and not state.pending and not state.behind:
            return
        assert time.monotonic() < end, state
        time.sleep(0.05)


def fresh(home: Home, base: Path) -> list[tuple[object, ...]]:
    other = Home(base)
    base.mkdir()
    corpus = home.base.parent / "corpus"
    other.run("add", str(corpus / "code"), str(corpus / "docs"))
    other.run("index")
    return other.content()


@pytest.mark.slow
def test_a_saved_file_is_found_by_a_search_that_waits(home: Home, tmp_path: Path) -> None:
    with watcher(home) as process:
        until_current(home)
        (tmp_path / "corpus/docs/new.md").write_text("# Wombats\n\nWombats leave cubes behind.\n")
        answer = home.json("search", "--wait", "60", "wombats cubes")
        assert answer["hits"][0]["path"] == "new.md"
        assert "staleness" not in answer
        assert all(folder["watched"] for folder in home.json("status")["folders"])
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=SECONDS) == 0
    assert not any(folder["watched"] for folder in home.json("status")["folders"])
    assert home.content() == fresh(home, tmp_path / "fresh")


@pytest.mark.slow
@pytest.mark.parametrize("server", [("serve", "--listen", "127.0.0.1:0"), ("mcp", "--http", "--port", "0")])
def test_servers_follow_by_themselves(home: Home, tmp_path: Path, server: tuple[str, ...]) -> None:
    home.run("index")
    with watcher(home, *server):
        until_current(home)
        (tmp_path / "corpus/docs/new.md").write_text("# Wombats\n\nWombats leave cubes behind.\n")
        answer = home.json("search", "--wait", "60", "wombats cubes")
        assert answer["hits"][0]["path"] == "new.md"


@pytest.mark.slow
def test_another_takes_over_from_a_killed_one(home: Home, tmp_path: Path) -> None:
    docs = tmp_path / "corpus/docs"
    with watcher(home) as first, watcher(home) as second:
        until_current(home)
        for n in range(40):
            (docs / f"{n}.md").write_text(f"# Page {n}\n\nWhat page {n} is about.\n")
        time.sleep(2.3)
        first.kill()
        first.wait()
        (docs / "auth.md").unlink()
        (docs / "0.md").rename(docs / "moved.md")
        until_current(home)
        until_current(home)
        assert second.poll() is None
        assert home.content() == fresh(home, tmp_path / "fresh")


@pytest.mark.slow
def test_a_run_by_hand_beside_a_watcher(home: Home, tmp_path: Path) -> None:
    with watcher(home):
        for n in range(10):
            (tmp_path / f"corpus/docs/{n}.md").write_text(f"# Page {n}\n\nText.\n")
            if n % 3 == 0:
                home.run("index")
        until_current(home)
        assert home.content() == fresh(home, tmp_path / "fresh")


def test_nothing_to_follow_is_an_error(tmp_path: Path) -> None:
    home = Home(tmp_path)
    assert "no folder to follow" in home.run("watch", code=4).stderr
