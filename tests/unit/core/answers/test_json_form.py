"""The JSON forms have exactly the documented keys, and optional keys only when they say something."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest

from everfind_core.answers import json_form
from everfind_core.model import (
    Abstention,
    Calibration,
    Contribution,
    Coverage,
    FileRef,
    FileText,
    Floor,
    Folder,
    FolderStatus,
    FurtherFile,
    GatherAnswer,
    GrepAnswer,
    GrepMatch,
    HealthFinding,
    Hidden,
    Hit,
    IndexReport,
    LexicalRank,
    ModelInfo,
    OpenWorkspace,
    Passage,
    Provenance,
    ProvenanceLabel,
    Relation,
    SearchAnswer,
    SemanticRank,
    Severity,
    SkippedFile,
    SkipReason,
    Staleness,
    WorkspaceStatus,
)
from tests.support.repository import ROOT

PAGE = ROOT / "docs" / "json.md"
COVERAGE = Coverage(1203, 9000, {"ignored": 12}, 0)
HIT = Hit(
    "id1", "api", "a.py", "/srv/api/a.py", 42, 60, 0.1,
    Provenance(ProvenanceLabel.BOTH, SemanticRank(1, 0.7), LexicalRank(2, 7.3)), "text",
)  # fmt: skip
ANSWER = SearchAnswer("q", 12, (HIT,), COVERAGE, Abstention(0.41, 0.55))
SKIPPED = SkippedFile(FileRef("api", "logo.png"), SkipReason.BINARY)
STATUS = WorkspaceStatus(
    "", "/idx", 12, (FolderStatus(Folder("api", "/srv/api"), COVERAGE),), COVERAGE,
    ModelInfo("m", "r", 384, 256, "mean"), findings=(HealthFinding("store", Severity.OK, "fine"),),
    skipped_files=(SKIPPED,),
    calibration=Calibration(0.2, 2_040, 0.28, 0.35, "model", 5.0, 0.42, 9_000), floor=Floor(0.35, "model"),
    open_workspaces=(OpenWorkspace("/srv/api", 5.0),),
)  # fmt: skip


def documented(section: str) -> Any:
    text = PAGE.read_text(encoding="utf-8")
    block = re.search(rf"^## {section}$.*?```json\n(.*?)```", text, re.DOTALL | re.MULTILINE)
    assert block is not None, section
    return json.loads(block.group(1))


def keys(value: Any, free: frozenset[str] = frozenset({"skipped", "seconds", "coverage_in_gather"})) -> Any:
    """The shape of a value: its keys, with those of counts left open."""
    if isinstance(value, dict):
        return {key: None if key in free else keys(inner, free) for key, inner in value.items()}
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return [keys(value[0], free)]
    return None


@pytest.mark.parametrize(
    ("section", "made"),
    [
        ("search", json_form.search_json(ANSWER)),
        (
            "index",
            json_form.index_json(IndexReport(errors=(SKIPPED,))),
        ),
        ("grep", json_form.grep_json(GrepAnswer((GrepMatch(FileRef("a", "b"), "/a/b", 1, "x"),), 1))),
        ("cat", json_form.file_json(FileText(FileRef("a", "b"), "/a/b", 1, 2, 2, "x"))),
        ("status", json_form.status_json(STATUS, skipped_files=True)),
        ("calibrate", json_form.calibration_json(Calibration(0.2, 2_040, 0.28, 0.35, "model", 5.0, 0.42, 9_000))),
    ],
)
def test_the_page_shows_exactly_the_keys(section: str, made: Any) -> None:
    assert keys(made) == keys(documented(section))
    json.dumps(made)


def test_gather_is_the_search_with_passages() -> None:
    made = json_form.gather_json(GatherAnswer(ANSWER, (Passage(HIT, 40, 62, "text"),), "md"))
    assert made["answer"] == json_form.search_json(ANSWER)
    assert keys(made["passages"]) == keys(documented("gather")["passages"])
    assert made.keys() == documented("gather").keys()


def test_every_optional_key_is_named_on_the_page() -> None:
    related = replace(
        HIT, chunk_id="id2", date="2026-01-01", successor="b.md", page=3, relation=Relation.CALLER, relation_to="id1",
        relation_path="a.md", explain=(Contribution("stem", 0.25),),
        provenance=Provenance(ProvenanceLabel.EXACT, exact=1),
    )  # fmt: skip
    full = SearchAnswer(
        "q", 12, (HIT, related), COVERAGE, None, Hidden(2, {"superseded": 2}, "old.md"), Staleness(True, 3, 1.5),
        ("careful",), "cursor", 4, intents=("tests",), parts=("one question", "another"),
        further=(FurtherFile("f", "b.py", 3, 9, "run"),),
    )  # fmt: skip
    made = json_form.search_json(full)
    plain = json_form.search_json(replace(ANSWER, abstained=None))
    assert made.keys() - plain.keys() == {
        "warnings", "next_cursor", "left_out", "hidden", "staleness", "parts", "intents", "further",
    }  # fmt: skip
    assert made["further"] == [
        {"folder": "f", "path": "b.py", "start_line": 3, "end_line": 9, "symbol": "run", "heading": ""}
    ]
    hit = made["hits"][1]
    assert hit.keys() - plain["hits"][0].keys() == {
        "date", "successor", "page", "relation", "relation_to", "relation_path", "explain",
    }  # fmt: skip
    assert made["hits"][0]["chunk_id"] == hit["relation_to"] == "id1"
    assert hit["provenance"] == {"label": "exact", "semantic": None, "lexical": None, "exact": {"rank": 1}}
    report = IndexReport(
        context_tokens=1, corpus_tokens=1, redactions=1, pending=1, generation=1, warnings=("careful",)
    )
    extra = json_form.index_json(report).keys() - json_form.index_json(IndexReport()).keys()
    assert extra == {"context_tokens", "corpus_tokens", "redactions", "pending", "generation", "warnings"}
    page = PAGE.read_text(encoding="utf-8")
    for key in extra | made.keys() | hit.keys() | made["hidden"].keys() | made["staleness"].keys() | {"chunk_id"}:
        assert f"`{key}`" in page or f'"{key}"' in page, key


def test_values_of_the_issue() -> None:
    made = json_form.search_json(ANSWER)
    assert made["query"] == "q"
    assert made["abstained"] == {"best_score": 0.41, "threshold": 0.55}
    assert made["coverage"] == {"files": 1203, "chunks": 9000, "skipped": {"ignored": 12}, "pending": 0}
    assert made["hits"][0]["provenance"] == {
        "label": "both", "semantic": {"rank": 1, "cosine": 0.7}, "lexical": {"rank": 2, "bm25": 7.3},
    }  # fmt: skip
    assert json_form.search_json(replace(ANSWER, abstained=None))["abstained"] is None
    report = IndexReport(5, 3891, 1, {"binary": 3}, 41, 30, 11, 6100, seconds={"total": 1.25})
    assert json_form.index_json(report) == {
        "files": {"indexed": 5, "unchanged": 3891, "deleted": 1, "skipped": {"binary": 3}},
        "chunks": {"written": 41, "embedded": 30, "reused": 11},
        "tokens": 6100,
        "seconds": {"total": 1.25},
        "errors": [],
    }


def test_scores_have_no_float32_noise() -> None:
    noisy = replace(HIT, score=0.10000000149011612)
    assert json_form.hit_json(noisy)["score"] == 0.100000001
