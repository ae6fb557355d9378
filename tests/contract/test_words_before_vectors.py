"""While vectors are missing, over every transport: words answer, and the answer says so."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from functools import partialmethod
from pathlib import Path

import anyio
import pytest
from mcp import Client

from everfind_core.answers.json_form import search_json, status_json
from everfind_core.answers.text_form import gather_text, search_text
from everfind_core.cancellation import Cancellation
from everfind_core.errors import UnavailableError
from everfind_core.model import (
    GatherRequest,
    IndexPhase,
    IndexProgress,
    IndexRequest,
    RunEvent,
    SearchMode,
    SearchRequest,
    Vectors,
)
from everfind_core.ports import TokenIds
from everfind_gateway.render.hits import remarks
from everfind_gateway.render.status import status_text
from everfind_indexer.running import first_pass, pipeline
from tests.support.agents import Engines, Served, serve_engines, text_of, write_config
from tests.support.fakes import FakeEmbedder
from tests.support.notes import KNOWN, Notes, Reach

NOTES = 12
ABOUT = 3
QUESTION = "how do wombats dig their burrows at night"
PART = "o chunk has a vector yet"


class Held:
    """A model that gives texts their vectors once they are ``released``."""

    def __init__(self) -> None:
        self.released = threading.Event()
        self._embed = FakeEmbedder.embed_tokens

    def __call__(
        self, model: FakeEmbedder, sequences: Sequence[TokenIds], *, cancel: Cancellation | None = None
    ) -> Vectors:
        while not self.released.wait(0.01):
            if cancel is not None:
                cancel.check()
        return self._embed(model, sequences, cancel=cancel)


def fail(_self: FakeEmbedder, _sequences: Sequence[TokenIds], *, cancel: Cancellation | None = None) -> Vectors:
    raise UnavailableError("the model is away")


@pytest.fixture
def waiting(notes: Reach, monkeypatch: pytest.MonkeyPatch) -> Notes:
    """An index of which a run gave no file its vectors, with a model that has a floor."""
    reached = notes(KNOWN)
    for number in range(NOTES):
        subject = "Wombats dig their burrows at night." if number < ABOUT else f"Recipe {number}: butter, flour, salt."
        reached.write(f"n{number}.md", f"# Number {number}\n\n{subject}\n")
    with monkeypatch.context() as patch, pytest.raises(UnavailableError):
        patch.setattr(first_pass, "FIRST_PASS_FILES", 1)
        patch.setattr(pipeline.Pipeline, "has_room", lambda _self: False)
        patch.setattr(FakeEmbedder, "embed_tokens", fail)
        reached.run()
    return reached


def test_words_alone_answer_and_the_answer_says_how_much_is_semantic(waiting: Notes) -> None:
    answer = waiting.searcher.search(SearchRequest(QUESTION, NOTES))
    assert (answer.abstained, len(answer.hits)) == (None, ABOUT)
    assert {hit.provenance.semantic for hit in answer.hits} == {None}
    assert (answer.coverage.chunks, answer.coverage.unembedded) == (NOTES, NOTES)
    assert search_json(answer)["coverage"]["unembedded"] == NOTES
    assert f"N{PART}" in search_text(answer)
    assert any(f"n{PART}" in remark for remark in remarks(answer))
    gathered = waiting.searcher.gather(GatherRequest(SearchRequest(QUESTION)))
    assert f"N{PART}" in gather_text(gathered)
    status = waiting.indexer.status()
    assert status.coverage.unembedded == status.folders[0].coverage.unembedded == NOTES
    assert status_json(status)["coverage"]["unembedded"] == NOTES
    assert f"n{PART}" in status_text(status)


def test_what_is_off_topic_stays_silent(waiting: Notes) -> None:
    answer = waiting.searcher.search(SearchRequest("quarterly invoices of the tax office"))
    assert answer.hits == ()
    assert answer.abstained is not None
    assert f"N{PART}" in search_text(answer)


def test_by_meaning_alone_nothing_is_found_and_the_answer_says_why(waiting: Notes) -> None:
    answer = waiting.searcher.search(SearchRequest(QUESTION, mode=SearchMode.SEMANTIC))
    assert answer.hits == ()
    assert f"N{PART}" in search_text(answer)


def test_the_next_run_gives_the_rest_its_vectors(waiting: Notes) -> None:
    assert waiting.run().chunks_embedded == NOTES
    answer = waiting.searcher.search(SearchRequest(QUESTION, NOTES))
    assert (answer.coverage.unembedded, answer.coverage.pending) == (0, 0)
    assert "unembedded" not in search_json(answer)["coverage"]
    assert len(answer.hits) >= ABOUT
    assert all(hit.provenance.semantic for hit in answer.hits)
    assert "vector yet" not in search_text(answer)


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[Held]:
    model = Held()
    monkeypatch.setattr(first_pass, "FIRST_PASS_FILES", 1)
    monkeypatch.setattr(pipeline.Pipeline, "has_room", lambda _self: False)
    monkeypatch.setattr(FakeEmbedder, "embed_tokens", partialmethod(model))
    yield model
    model.released.set()


def codebase_search_of(reached: Notes, tmp_path: Path) -> Served:
    """A server over the notes, with this tool and one to see how far it is."""
    config = write_config(
        tmp_path / "config.toml",
        folders={"notes": reached.base / "notes"},
        index_dir=str(reached.base / "index"),
        mcp_tools=["codebase_search", "status"],
    )
    return serve_engines(config, Engines(reached.indexer, reached.searcher, FakeEmbedder()))


def test_codebase_search_answers_by_words_while_its_run_goes_on(notes: Reach, tmp_path: Path, held: Held) -> None:
    reached = notes(KNOWN)
    for number in range(NOTES):
        subject = "Wombats dig their burrows at night." if number < ABOUT else f"Recipe {number}: butter, flour, salt."
        reached.write(f"n{number}.md", f"# Number {number}\n\n{subject}\n")
    served = codebase_search_of(reached, tmp_path)
    asked = {"information_request": QUESTION, "directory_path": str(reached.base / "notes")}

    async def use(client: Client) -> None:
        for _ in range(2):  # the second one begins no run, and waits for none
            first = await client.call_tool("codebase_search", asked)
            assert f"N{PART}" in text_of(first)
            assert len(first.structured_content["hits"]) == ABOUT
        held.released.set()
        while (await client.call_tool("status", {})).structured_content["coverage"].get("unembedded"):
            await anyio.sleep(0.01)
        later = await client.call_tool("codebase_search", asked)
        assert "vector yet" not in text_of(later)
        assert all(hit["provenance"]["semantic"] for hit in later.structured_content["hits"])

    served.ask(use)


@pytest.mark.parametrize("least", [1, NOTES + 1])
def test_codebase_search_waits_for_no_vector_where_a_killed_run_has_left_all_words(
    waiting: Notes, tmp_path: Path, held: Held, monkeypatch: pytest.MonkeyPatch, least: int
) -> None:
    """Be it much that waits for its vectors, or little."""
    monkeypatch.setattr(first_pass, "FIRST_PASS_FILES", least)
    served = codebase_search_of(waiting, tmp_path)
    asked = {"information_request": QUESTION, "directory_path": str(waiting.base / "notes")}

    async def use(client: Client) -> None:
        first = await client.call_tool("codebase_search", asked)
        assert f"N{PART}" in text_of(first)
        assert len(first.structured_content["hits"]) == ABOUT
        held.released.set()

    served.ask(use)


def test_codebase_search_waits_for_words_that_changed_since_a_killed_run(waiting: Notes, tmp_path: Path) -> None:
    served = codebase_search_of(waiting, tmp_path)
    waiting.write("n1.md", "# Now\n\nA capybara.\n")
    asked = {"information_request": "capybara", "directory_path": str(waiting.base / "notes")}
    found = served.call("codebase_search", asked)
    assert "capybara" in text_of(found)


def test_a_run_that_goes_on_behind_its_call_ends_with_the_server(notes: Reach, tmp_path: Path, held: Held) -> None:
    reached = notes(KNOWN)
    for number in range(NOTES):
        reached.write(f"n{number}.md", f"# Number {number}\n\nWombats dig their burrows at night.\n")
    served = codebase_search_of(reached, tmp_path)
    asked = {"information_request": QUESTION, "directory_path": str(reached.base / "notes")}
    assert f"N{PART}" in text_of(served.call("codebase_search", asked))
    while reached.indexer.status().writer:
        time.sleep(0.01)
    held.released.set()
    assert reached.run().chunks_embedded == NOTES


def test_progress_tells_the_phase(notes: Reach, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_pass, "FIRST_PASS_FILES", 1)
    monkeypatch.setattr(pipeline.Pipeline, "has_room", lambda _self: False)
    reached = notes()
    for number in range(NOTES):
        reached.write(f"n{number}.md", f"# Number {number}\n")
    seen: list[tuple[IndexPhase | None, int, int]] = []

    def look(event: RunEvent) -> None:
        if isinstance(event, IndexProgress):
            seen.append((event.phase, event.files_done, event.files_total))

    reached.indexer.index(IndexRequest(), look)
    assert seen == [(IndexPhase.WORDS, NOTES, NOTES), (IndexPhase.VECTORS, NOTES, NOTES)]
