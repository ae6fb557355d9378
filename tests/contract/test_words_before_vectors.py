"""While vectors are missing, over every transport: words answer, and the answer says so."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from everfind_core.cancellation import Cancellation
from everfind_core.errors import UnavailableError
from everfind_core.json_form import search_json, status_json
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
from everfind_core.text_form import gather_text, search_text
from everfind_gateway.render.hits import remarks
from everfind_gateway.render.status import status_text
from everfind_indexer import first_pass, pipeline
from tests.support.fakes import FakeEmbedder
from tests.support.notes import KNOWN, Notes, Reach

NOTES = 12
ABOUT = 3
QUESTION = "how do wombats dig their burrows at night"
PART = "0 of 12 chunks have vectors yet"


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
    assert f"Only {PART}" in search_text(answer)
    assert any(PART in remark for remark in remarks(answer))
    gathered = waiting.searcher.gather(GatherRequest(SearchRequest(QUESTION)))
    assert f"Only {PART}" in gather_text(gathered)
    status = waiting.indexer.status()
    assert status.coverage.unembedded == status.folders[0].coverage.unembedded == NOTES
    assert status_json(status)["coverage"]["unembedded"] == NOTES
    assert PART in status_text(status)


def test_what_is_off_topic_stays_silent(waiting: Notes) -> None:
    answer = waiting.searcher.search(SearchRequest("quarterly invoices of the tax office"))
    assert answer.hits == ()
    assert answer.abstained is not None
    assert f"Only {PART}" in search_text(answer)


def test_by_meaning_alone_nothing_is_found_and_the_answer_says_why(waiting: Notes) -> None:
    answer = waiting.searcher.search(SearchRequest(QUESTION, mode=SearchMode.SEMANTIC))
    assert answer.hits == ()
    assert f"Only {PART}" in search_text(answer)


def test_the_next_run_gives_the_rest_its_vectors(waiting: Notes) -> None:
    assert waiting.run().chunks_embedded == NOTES
    answer = waiting.searcher.search(SearchRequest(QUESTION, NOTES))
    assert (answer.coverage.unembedded, answer.coverage.pending) == (0, 0)
    assert "unembedded" not in search_json(answer)["coverage"]
    assert len(answer.hits) >= ABOUT
    assert all(hit.provenance.semantic for hit in answer.hits)
    assert "vectors yet" not in search_text(answer)


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
