"""A first index of many files under way, its model slow: processes and a server answer by words, and say so."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from everfind_core.index.directory import current_index
from everfind_core.model import Coverage
from everfind_indexer.running.first_pass import FIRST_PASS_FILES
from tests.support.processes import Home, free_address, process
from tests.support.providers import Answer, serve

pytestmark = pytest.mark.slow

QUESTION = "which wombat digs a burrow"
WOMBATS = range(7, FIRST_PASS_FILES, FIRST_PASS_FILES // 5)
PART = "no chunk has a vector yet"


@dataclass
class SlowModel:
    """Answers queries and what it is probed with at once, and documents once they are ``released``."""

    released: threading.Event = field(default_factory=threading.Event)

    def __call__(self, _path: str, body: Any) -> Answer:
        if any("Note" in text for text in body["input"]):
            self.released.wait(300)
        rows = [
            {"index": n, "embedding": [1, len(text), text.count("e"), 0, 0, 0, 0, 0]}
            for n, text in enumerate(body["input"])
        ]
        return 200, {"data": rows}, {}


@pytest.fixture
def model() -> Iterator[SlowModel]:
    model = SlowModel()
    yield model
    model.released.set()


def write(notes: Path) -> None:
    notes.mkdir()
    for number in range(FIRST_PASS_FILES):
        subject = f"A wombat digs burrow {number}" if number in WOMBATS else f"Recipe {number}: butter and flour"
        (notes / f"n{number:04}.md").write_text(f"# Note {number}\n\n{subject}.\n")


def covered(home: Home) -> Coverage:
    if not (home.index_directory / "current.json").exists():
        return Coverage()
    return current_index(home.index_directory).read_coverage().total()


def test_words_answer_while_vectors_are_awaited_and_an_interrupt_loses_nothing(
    tmp_path: Path, model: SlowModel
) -> None:
    home = Home(tmp_path)
    write(tmp_path / "notes")
    (tmp_path / "key").write_text("k\n")
    with serve(model) as provider:
        configured = {
            "EVERFIND_MODEL": "voyage:voyage-code-3",
            "EVERFIND_MODEL_ENDPOINT": provider.url,
            "EVERFIND_MODEL_KEY_FILE": str(tmp_path / "key"),
            "EVERFIND_WATCH": "false",
        }
        home.run("add", str(tmp_path / "notes"), env=configured)
        indexing = home.start("index", env=configured)
        ends = time.monotonic() + 200
        while covered(home).files < FIRST_PASS_FILES:
            assert indexing.poll() is None, indexing.communicate()
            assert time.monotonic() < ends
            time.sleep(0.05)

        local = home.json("search", QUESTION, env=configured)
        assert {hit["path"] for hit in local["hits"]} >= {f"n{number:04}.md" for number in WOMBATS}
        assert local["coverage"]["unembedded"] == FIRST_PASS_FILES
        assert PART in home.run("search", QUESTION, env=configured).stderr
        address = free_address()
        with process(home, "everfind_gateway", "serve", "--listen", address, ready="serving", env=configured):
            through = home.json("search", QUESTION, env={"EVERFIND_SERVER": address})
            assert through["hits"] == local["hits"]
            assert through["coverage"] == local["coverage"]
            status = home.json("status", env={"EVERFIND_SERVER": address})
            assert status["coverage"]["unembedded"] == FIRST_PASS_FILES

        indexing.send_signal(signal.SIGINT)
        _, stderr = indexing.communicate(timeout=120)
        assert (indexing.returncode, "Traceback" in stderr) == (130, False), stderr
        assert home.json("search", QUESTION, env=configured)["hits"] == local["hits"]
        model.released.set()
        report = home.json("index", env=configured)
        assert report["chunks"]["embedded"] == FIRST_PASS_FILES
        after = home.json("search", QUESTION, env=configured)
        assert "unembedded" not in after["coverage"]
        assert after["coverage"]["pending"] == 0
