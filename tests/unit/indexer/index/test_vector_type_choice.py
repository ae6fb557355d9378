"""What vectors are stored in: a property of an index, changed by a rebuild that embeds nothing anew."""

from __future__ import annotations

import dataclasses
import json
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from everfind_core.errors import EverfindError, IndexIncompatibleError
from everfind_core.index.directory import current_index
from everfind_core.index.store_backends import StoreChoice
from everfind_core.index.vector_types import VectorType
from everfind_core.model import Filters, IndexRequest, RelatedRequest, Relation, SearchMode, SearchRequest, Severity
from everfind_indexer.store import open_writer
from tests.support.fakes import DIMENSIONS
from tests.support.real_index import QUESTIONS, RealIndex, write_notes

NOTES = 6
HALF, INT8 = VectorType.HALF, VectorType.INT8


EITHER = pytest.mark.parametrize("index", [StoreChoice.LANCEDB, StoreChoice.SQLITE], indirect=True)


@pytest.fixture
def index(request: pytest.FixtureRequest, tmp_path: Path) -> RealIndex:
    store = getattr(request, "param", StoreChoice.LANCEDB)
    write_notes(tmp_path / "corpus", NOTES)
    return RealIndex(tmp_path, tmp_path / "corpus", tmp_path / "kept", store=store, vector_type=INT8)


def stored_in(index: RealIndex, kind: VectorType) -> RealIndex:
    return dataclasses.replace(index, vector_type=kind)


def kind_of(index: RealIndex) -> VectorType:
    """As the manifest says, and as what is read back is."""
    location = current_index(index.directory)
    with closing(open_writer(location.directory, DIMENSIONS)) as store:
        vectors = store.sample_vectors(5)
    kind = location.manifest.recipe.vector_type
    assert {HALF: np.float16, INT8: np.float32}[kind] == vectors.dtype
    return kind


def bits(index: RealIndex) -> list[bytes]:
    """The vectors, as they are read back."""
    with closing(open_writer(current_index(index.directory).directory, DIMENSIONS)) as store:
        return sorted(np.asarray(v).tobytes() for v in store.vectors(list(store.embedding_keys())).values())


def test_half_precision_is_what_an_index_has_unless_another_is_asked_for(index: RealIndex) -> None:
    default = RealIndex(index.base, index.corpus)
    default.index()
    status = default.engine().status()
    assert (kind_of(default), status.vector_type) == (HALF, "half")
    assert not [finding for finding in status.findings if "int8" in finding.message]


def test_it_is_told_where_the_model_is(index: RealIndex) -> None:
    assert index.engine().status().vector_type == ""
    index.index()
    status = index.engine().status()
    assert status.vector_type == "int8"
    [told] = [finding for finding in status.findings if "int8" in finding.message]
    assert (told.check, told.severity) == ("store", Severity.OK)


@EITHER
def test_another_than_the_index_has_is_refused_until_a_rebuild_that_embeds_nothing(index: RealIndex) -> None:
    half = stored_in(index, HALF)
    half.index()
    of_half = half.found()
    for asked, before in ((INT8, HALF), (HALF, INT8)):
        other = stored_in(index, asked)
        with pytest.raises(IndexIncompatibleError, match=f"vector_type '{before}'.*use '{asked}'") as caught:
            other.index()
        assert "everfind index --rebuild" in caught.value.hint
        assert (caught.value.details["found"], caught.value.details["expected"]) == (before, asked)
        assert other.found() == of_half  # searches go on
        report = other.index(IndexRequest(rebuild=True))
        assert (report.indexed, report.chunks_embedded) == (NOTES, 0)
        assert kind_of(other) is asked
        assert other.found() == of_half
        assert other.index().unchanged == NOTES


def test_what_a_run_would_refuse_is_told_before(index: RealIndex) -> None:
    def told(asked: RealIndex) -> list[tuple[Severity, str]]:
        findings = asked.engine().status(compare=True).findings
        return [(finding.severity, finding.message) for finding in findings if finding.check == "recipe"]

    assert told(index) == []  # no index yet
    index.index()
    assert told(index) == []
    [(severity, message)] = told(stored_in(index, HALF))
    assert severity is Severity.ERROR
    assert "nothing can be indexed" in message
    assert "vector_type 'int8'" in message
    [(_, message)] = told(dataclasses.replace(index, store=StoreChoice.SQLITE))
    assert "store_backend asks for sqlite" in message


@EITHER
def test_eight_bits_are_the_same_whether_embedded_or_made_of_what_was_kept(index: RealIndex, tmp_path: Path) -> None:
    half = stored_in(index, HALF)
    half.index()
    index.index(IndexRequest(rebuild=True))
    fresh = RealIndex(tmp_path / "fresh", index.corpus, store=index.store, vector_type=INT8)
    assert fresh.index().chunks_embedded > 0
    assert bits(fresh) == bits(index)
    assert fresh.answers() == index.answers()
    moved = index.corpus / "note00.md"
    moved.rename(index.corpus / "moved.md")  # its vectors are taken from the index itself, and stored again
    without = dataclasses.replace(index, kept=None)
    assert without.index().chunks_embedded == 0
    assert bits(without) == bits(fresh)


def test_answers_keep_their_scores(index: RealIndex) -> None:
    half = stored_in(index, HALF)
    half.index()
    questions = [
        SearchRequest(text, 100, SearchMode.SEMANTIC, Filters(all_statuses=True), min_score=-1.0) for text in QUESTIONS
    ]

    def scores() -> list[dict[tuple[str, int], float]]:
        with index.searcher() as searcher:
            found = [searcher.search(question).hits for question in questions]
        return [{(hit.path, hit.start_line): hit.score for hit in hits} for hits in found]

    before = scores()
    index.index(IndexRequest(rebuild=True))
    for one, other in zip(before, scores(), strict=True):
        assert one.keys() == other.keys()
        assert [other[key] for key in one] == pytest.approx(list(one.values()), abs=0.02)


def test_it_goes_with_an_archive(index: RealIndex, tmp_path: Path) -> None:
    index.index()
    archive = index.export()
    other = RealIndex(tmp_path / "other", index.corpus, store=index.store)
    with pytest.raises(IndexIncompatibleError, match="vector_type 'int8'") as caught:
        other.import_archive(archive)
    assert "the setting that it was made with" in caught.value.hint  # a rebuild here would not take it either
    same = stored_in(other, INT8)
    same.import_archive(archive)
    assert kind_of(same) is INT8
    assert (same.content(), same.answers()) == (index.content(), index.answers())
    report = same.index()
    assert (report.unchanged, report.chunks_embedded) == (NOTES, 0)


def test_a_damaged_index_is_mended_as_what_it_was(index: RealIndex) -> None:
    index.index()
    before, expected = index.content(), index.found()
    directory = current_index(index.directory).directory
    (directory / "catalog.sqlite").write_bytes(b"nonsense" * 1000)
    assert index.repair().warnings
    assert kind_of(index) is INT8
    assert (index.content(), index.found()) == (before, expected)


def test_similar_chunks_are_found(index: RealIndex) -> None:
    index.index()
    with index.searcher() as searcher:
        place = RelatedRequest(folder="notes", path="note00.md", line=1, relations=(Relation.SIMILAR,))
        assert len(searcher.related(place).related) > 0


def test_a_manifest_of_before_is_of_half_precision_and_an_unknown_type_is_damage(index: RealIndex) -> None:
    half = stored_in(index, HALF)
    half.index()
    manifest = current_index(index.directory).directory / "manifest.json"
    told = json.loads(manifest.read_text())
    assert told["recipe"].pop("vector_type") == "half"
    manifest.write_text(json.dumps(told))
    assert half.index().unchanged == NOTES
    told["recipe"]["vector_type"] = "papyrus"
    manifest.write_text(json.dumps(told))
    with pytest.raises(EverfindError):
        current_index(index.directory)
