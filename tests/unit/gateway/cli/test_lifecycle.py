"""Documents that were replaced: hidden, counted, and answered for by their successors, from one process."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from everfind_core.model import Filters, IndexReport, IndexRequest, Relation, SearchAnswer, SearchMode, SearchRequest
from everfind_gateway.config.settings import load_settings
from everfind_gateway.doctor import examine
from everfind_gateway.wiring import local
from everfind_gateway.wiring.workspace import Workspace, open_workspace
from tests.support.fakes import FakeEmbedder

OLD = "# Session cookies\n\nStatus: accepted\nDate: 2026-03-01\n\nThe wombat cookie lives for ten minutes.\n"
NEW = "# Tokens\n\nQuokkas are renewed by the gateway.\n"
OTHER = "# Cookies\n\nA biscuit recipe: the cookie bakes for ten minutes.\n"
ALL = Filters(all_statuses=True)


@dataclass
class Corpus:
    """A folder of documents, its index, and what was embedded for it."""

    root: Path
    workspace: Workspace
    embedder: FakeEmbedder

    def write(self, path: str, text: str) -> None:
        """Write a document and index it."""
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def index(self) -> IndexReport:
        return self.workspace.indexer.index(IndexRequest(), lambda _event: None)

    def search(self, query: str, filters: Filters | None = None, **options: object) -> SearchAnswer:
        request = SearchRequest(query, filters=filters or Filters(), **options)  # type: ignore[arg-type]  # real fields
        return self.workspace.searcher.search(request)

    def paths(self, query: str, filters: Filters | None = None) -> list[str]:
        return [hit.path for hit in self.search(query, filters).hits]


@pytest.fixture
def corpus(home: Path, user_config: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Corpus]:
    embedder = FakeEmbedder()
    monkeypatch.setattr(local, "_open_embedder", lambda _settings: embedder)
    (home / "notes").mkdir()
    user_config.write_text(f'[[folders]]\npath = "{home}/notes"\n')
    with open_workspace(load_settings()) as workspace:
        made = Corpus(home / "notes", workspace, embedder)
        for path, text in {"old.md": OLD, "reference/auth.md": NEW, "other.md": OTHER}.items():
            made.write(path, text)
        made.index()
        yield made


def test_an_edit_of_the_status_takes_effect_and_embeds_nothing(corpus: Corpus) -> None:
    assert corpus.paths("wombat cookie")[0] == "old.md"
    embedded = corpus.embedder.embedded
    corpus.write("old.md", OLD.replace("accepted", "superseded by reference/auth.md"))
    assert corpus.index().chunks_embedded == 0
    assert corpus.embedder.embedded == embedded
    answer = corpus.search("wombat cookie")
    assert [hit.path for hit in answer.hits] == ["reference/auth.md", "other.md"]
    best = answer.hits[0]
    assert (best.relation, best.relation_path, best.lifecycle) == (Relation.SUCCESSOR, "old.md", "successor of old.md")
    assert (answer.hidden.count, answer.hidden.by_rule) == (1, {"superseded": 1})
    assert (answer.hidden.best_folder, answer.hidden.best_path) == ("notes", "old.md")
    assert answer.warnings == ("the best match, old.md, is superseded; reference/auth.md replaces it",)
    corpus.write("old.md", OLD)
    assert corpus.index().chunks_embedded == 0
    assert corpus.paths("wombat cookie")[0] == "old.md"
    assert not corpus.search("wombat cookie").hidden.count


def test_a_new_document_hides_the_one_that_it_replaces(corpus: Corpus) -> None:
    corpus.write("reference/auth.md", NEW.replace("\n\n", "\n\nSupersedes: ../old.md\n\n", 1))
    assert corpus.index().chunks_embedded == 0
    assert corpus.paths("wombat cookie") == ["reference/auth.md", "other.md"]
    (corpus.root / "reference/auth.md").unlink()
    corpus.index()
    assert corpus.paths("wombat cookie")[0] == "old.md"


def test_all_brings_both_side_by_side(corpus: Corpus) -> None:
    corpus.write("old.md", OLD.replace("accepted", "superseded by reference/auth.md"))
    corpus.index()
    answer = corpus.search("wombat cookie", ALL)
    assert [hit.path for hit in answer.hits] == ["old.md", "reference/auth.md", "other.md"]
    old, new, _ = answer.hits
    assert old.lifecycle == "superseded → reference/auth.md; 2026-03-01"
    assert (new.relation, new.relation_to) == (Relation.SUCCESSOR, old.chunk_id)
    assert (answer.hidden.count, answer.warnings) == (0, ())
    assert corpus.paths("wombat cookie", Filters(statuses=("superseded",))) == ["old.md"]


@pytest.mark.parametrize("mode", list(SearchMode))
def test_a_query_that_only_the_old_one_matches(corpus: Corpus, mode: SearchMode) -> None:
    corpus.write("old.md", OLD.replace("accepted", "superseded by reference/auth.md"))
    corpus.index()
    answer = corpus.search("wombat cookie lives", mode=mode, explain=True)
    assert answer.hits[0].path == "reference/auth.md"
    assert answer.hits[0].relation is Relation.SUCCESSOR
    assert answer.hits[0].score == pytest.approx(sum(part.value for part in answer.hits[0].explain))
    assert answer.hidden.best_path == "old.md"
    scores = [hit.score for hit in answer.hits]
    assert scores == sorted(scores, reverse=True)


def test_filters_hold_for_successors(corpus: Corpus) -> None:
    corpus.write("old.md", OLD.replace("accepted", "superseded by reference/auth.md"))
    corpus.index()
    assert corpus.paths("wombat", Filters(exclude=("reference",))) == ["other.md"]
    assert corpus.paths("wombat", Filters(include=("old.md",))) == []
    hidden = corpus.search("wombat", Filters(include=("old.md",))).hidden
    assert (hidden.count, hidden.best_path) == (1, "old.md")


def test_what_is_hidden_does_not_move_what_is_not(corpus: Corpus) -> None:
    before = [(hit.path, hit.score) for hit in corpus.search("cookie ten minutes").hits if hit.path != "old.md"]
    corpus.write("old.md", OLD.replace("accepted", "rejected"))
    corpus.index()
    rejected = corpus.search("cookie ten minutes")
    (corpus.root / "old.md").unlink()
    corpus.index()
    without = corpus.search("cookie ten minutes")
    assert [(h.path, h.score) for h in rejected.hits] == [(h.path, h.score) for h in without.hits]
    assert {path for path, _ in before} == {hit.path for hit in without.hits}
    assert (rejected.hidden.by_rule, without.hidden.count) == ({"rejected": 1}, 0)


def test_code_is_never_hidden(corpus: Corpus) -> None:
    corpus.write("tool.py", '"""Status: superseded\n\nSuperseded by: other.md\n"""\nWOMBAT = 1\n')
    corpus.index()
    assert "tool.py" in corpus.paths("WOMBAT")


def test_doctor_tells_of_statements_that_lead_nowhere(corpus: Corpus) -> None:
    corpus.write("old.md", OLD.replace("accepted", "superseded by gone.md"))
    corpus.index()
    found = [one for one in examine(load_settings, open_workspace) if one.check == "documents"]
    assert [one.message for one in found] == ["notes/old.md: its successor 'gone.md' is not in the index"]
