"""Noise of a model over every transport: measured, kept with its index, overruled by settings, dropped with a model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from everfind_core.errors import IndexIncompatibleError, InvalidRequestError
from everfind_core.index.names import CALIBRATION, INDEXES
from everfind_core.model import Floor, SearchMode, SearchRequest
from everfind_core.noise.calibration import LEAST_CHUNKS
from tests.support.fakes import MODEL
from tests.support.notes import KNOWN, Notes, Reach

OTHER = replace(MODEL, id="somebody/another-model")


def write(notes: Notes, *numbers: int) -> None:
    for number in numbers:
        notes.write(f"n{number}.md", f"# Number {number}\n\nWombat {number} digs {number}.\n")


def kept(notes: Notes) -> int:
    """How many calibrations lie in the index directory."""
    return len(list((notes.base / "index" / INDEXES).glob(f"*/{CALIBRATION}")))


def test_a_run_measures_once_and_again_when_the_corpus_grew(notes: Reach) -> None:
    reached = notes()
    write(reached, *range(LEAST_CHUNKS - 1))
    assert reached.run().calibration is None
    assert reached.indexer.status().floor is None
    with pytest.raises(InvalidRequestError, match=f"fewer than {LEAST_CHUNKS} chunks"):
        reached.indexer.calibrate()
    assert kept(reached) == 0

    write(reached, LEAST_CHUNKS - 1)
    first = reached.run().calibration
    assert first is not None
    assert (first.chunks, first.origin) == (LEAST_CHUNKS, "calibration")
    assert first.noise_floor < first.suggested_min_score == first.min_score < 1
    assert kept(reached) == 1
    assert reached.indexer.status().calibration == first
    assert reached.indexer.status().floor == Floor(first.suggested_min_score, "calibration")

    write(reached, LEAST_CHUNKS)
    assert reached.run().calibration is None
    assert reached.indexer.status().calibration == first
    write(reached, *range(LEAST_CHUNKS + 1, LEAST_CHUNKS * 5 // 4))
    second = reached.run().calibration
    assert second is not None
    assert second.chunks == LEAST_CHUNKS * 5 // 4
    assert second.measured > first.measured


def test_calibrate_measures_at_any_time(notes: Reach) -> None:
    reached = notes()
    write(reached, *range(LEAST_CHUNKS))
    first = reached.run().calibration
    found = reached.indexer.calibrate()
    assert first is not None
    assert found.measured > first.measured
    assert replace(found, measured=first.measured) == first
    assert reached.indexer.status().calibration == found


def test_searches_are_silent_by_what_was_measured(notes: Reach) -> None:
    reached = notes()
    write(reached, *range(LEAST_CHUNKS))
    found = reached.run().calibration
    assert found is not None
    answer = reached.searcher.search(SearchRequest("quantum chromodynamics of gluons"))
    assert answer.hits == ()
    assert answer.abstained is not None
    assert answer.abstained.threshold == pytest.approx(found.suggested_min_score)


def test_a_configured_min_score_always_wins_and_is_told(notes: Reach) -> None:
    reached = notes(KNOWN, min_score=0.97)
    write(reached, *range(LEAST_CHUNKS))
    run = reached.run().calibration
    for found in (run, reached.indexer.calibrate(), reached.indexer.status().calibration):
        assert found is not None
        assert (found.min_score, found.origin) == (0.97, "settings")
        assert found.suggested_min_score != 0.97
    assert reached.indexer.status().floor == Floor(0.97, "settings")
    answer = reached.searcher.search(SearchRequest("how is the garden watered in a dry summer"))
    assert answer.abstained is not None
    assert answer.abstained.threshold == 0.97

    later = notes(KNOWN)
    assert later.indexer.status().floor == Floor(0.35, "model")
    unchanged = later.indexer.status().calibration
    assert unchanged is not None
    assert (unchanged.min_score, unchanged.origin) == (0.35, "model")


def test_a_small_index_has_the_floor_of_its_model_or_settings(notes: Reach) -> None:
    for min_score, floor in ((None, Floor(0.35, "model")), (0.2, Floor(0.2, "settings"))):
        reached = notes(KNOWN, min_score)
        write(reached, 1)
        reached.run()
        assert reached.indexer.status().calibration is None
        assert reached.indexer.status().floor == floor


def test_a_changed_model_is_refused_until_a_rebuild_which_measures_anew(notes: Reach) -> None:
    before = notes()
    write(before, *range(LEAST_CHUNKS))
    first = before.run().calibration
    assert first is not None

    after = notes(OTHER)
    calls: tuple[Callable[[], object], ...] = (
        after.run,
        after.indexer.calibrate,
        lambda: after.searcher.search(SearchRequest("wombat")),
    )
    for call in calls:
        with pytest.raises(IndexIncompatibleError, match="somebody/another-model") as caught:
            call()
        assert "everfind index --rebuild" in caught.value.hint
    assert len(before.searcher.search(SearchRequest("wombat 7 digs")).hits) > 0
    assert after.searcher.search(SearchRequest("wombat", mode=SearchMode.LEXICAL)).hits
    assert after.indexer.status().calibration == first

    second = after.run(rebuild=True).calibration
    assert second is not None
    assert second.measured > first.measured
    assert kept(after) == 1
    assert after.indexer.status().model == OTHER
    assert len(after.searcher.search(SearchRequest("wombat 7 digs")).hits) > 0
    with pytest.raises(IndexIncompatibleError):
        before.searcher.search(SearchRequest("wombat"))
