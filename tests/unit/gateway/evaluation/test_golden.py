"""A user's own questions: how places are read, what is measured, runs compared, and bars that fail a build."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from everfind_core.errors import InvalidRequestError, StorageError
from everfind_core.model import Folder, Hit, SearchRequest
from everfind_gateway.cli import main, runtime
from everfind_gateway.config.settings import Settings, load_settings
from everfind_gateway.evaluation import comparison
from everfind_gateway.evaluation.golden import read_golden
from everfind_gateway.evaluation.labelled import EvaluationSet
from everfind_gateway.evaluation.measures import Answer
from everfind_gateway.evaluation.report import EvalReport
from everfind_gateway.evaluation.running import run_golden
from everfind_gateway.render.evaluation import comparison_text, report_text
from tests.support.gateway import FakeEngines, make_hit


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name in ("docs/auth.md", "src/session.py", "src/odd:7"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("text", encoding="utf-8")
    return tmp_path


@pytest.fixture
def settings(project: Path) -> Settings:
    folders = (Folder("docs", str(project / "docs")), Folder("src", str(project / "src")))
    return load_settings(project / "none.toml", may_be_missing=True).model_copy(update={"folders": folders})


def golden(project: Path, *lines: dict[str, Any]) -> Path:
    file = project / "golden.jsonl"
    file.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    return file


def read(project: Path, settings: Settings, *lines: dict[str, Any]) -> EvaluationSet:
    return read_golden(golden(project, *lines), settings.folders, here=True)


@pytest.mark.parametrize(
    ("place", "answer"),
    [
        ("docs/auth.md", Answer("docs/auth.md")),
        ("docs/auth.md:3", Answer("docs/auth.md", (3, 3))),
        ("src/session.py:10-40", Answer("src/session.py", (10, 40))),
        ("src/odd:7", Answer("src/odd:7")),
        ("src/odd:7:2-3", Answer("src/odd:7", (2, 3))),
    ],
)
def test_places(project: Path, settings: Settings, place: str, answer: Answer) -> None:
    (question,) = read(project, settings, {"query": "q", "relevant": [place]}).questions
    assert question.answers == (answer,)
    assert question.id == "1"


def test_a_path_starts_at_the_files_own_directory(project: Path) -> None:
    whole = (Folder("all", str(project)),)
    (question,) = read_golden(
        golden(project / "docs", {"query": "q", "relevant": ["auth.md", "../src/session.py:1"]}), whole, here=True
    ).questions
    assert question.answers == (Answer("all/docs/auth.md"), Answer("all/src/session.py", (1, 1)))


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ({"query": "q"}, "neither relevant nor contains"),
        ({"query": "", "relevant": []}, "query"),
        ({"query": "q", "relevant": ["docs/none.md"]}, "is no file of an added folder"),
        ({"query": "q", "relevant": ["docs/none.md:3"]}, "is no file of an added folder"),
        ({"query": "q", "relevant": ["../../etc/passwd"]}, "is no file of an added folder"),
        ({"query": "q", "relevant": ["docs/auth.md:9-3"]}, "is no range of lines"),
        ({"query": "q", "relevant": ["docs/auth.md:0"]}, "is no range of lines"),
        ({"query": "q", "relevant": "docs/auth.md"}, "relevant"),
    ],
)
def test_a_line_that_cannot_be_is_named(project: Path, settings: Settings, line: dict[str, Any], what: str) -> None:
    with pytest.raises(InvalidRequestError, match=what) as raised:
        read(project, settings, {"query": "fine", "relevant": []}, line)
    assert "golden.jsonl:2" in raised.value.message


def test_ids_differ_and_there_is_a_question(project: Path, settings: Settings) -> None:
    with pytest.raises(InvalidRequestError, match="the id '2' stands"):
        read(project, settings, {"query": "a", "relevant": [], "id": "2"}, {"query": "b", "relevant": []})
    with pytest.raises(InvalidRequestError, match="no question"):
        read(project, settings)
    with pytest.raises(InvalidRequestError, match="cannot be read"):
        read_golden(project / "none.jsonl", settings.folders, here=True)


class Answers(FakeEngines):
    """Hits by query."""

    def __init__(self, table: dict[str, tuple[Hit, ...]]) -> None:
        super().__init__()
        self.table = table

    def search(self, request: SearchRequest, **options: Any) -> Any:
        answer = super().search(request, **options)
        return replace(answer, hits=self.table.get(request.query, ()))


def measured(
    project: Path, settings: Settings, table: dict[str, tuple[Hit, ...]], *lines: dict[str, Any]
) -> EvalReport:
    @contextmanager
    def opened(_settings: Settings) -> Iterator[Any]:
        yield Answers(table)

    return run_golden(golden(project, *lines), settings=settings, open_workspace=opened)


AUTH = make_hit("auth.md", folder="docs", text="Sessions END after an hour.", start_line=10, end_line=20)
SESSION = make_hit("session.py", folder="src", start_line=1, end_line=9)
LINES: tuple[dict[str, Any], ...] = (
    {"query": "one", "relevant": ["docs/auth.md:12"], "kind": "docs"},
    {"query": "two", "relevant": ["src/session.py"], "contains": ["sessions end", "never"], "kind": "code"},
    {"query": "three", "relevant": [], "kind": "nothing"},
)


def test_what_is_measured(project: Path, settings: Settings) -> None:
    report = measured(project, settings, {"one": (AUTH,), "two": (AUTH, SESSION)}, *LINES)
    assert report.measured.by_kind["docs"].measures["MRR@10"] == 1
    assert report.measured.by_kind["docs"].measures["LineHit@5"] == 1
    assert report.measured.by_kind["code"].measures["MRR@10"] == 0.5
    assert report.measured.by_kind["code"].measures["contains@5"] == 0.5
    assert (report.unanswerable.count, report.unanswerable.questions) == (1, 1)
    assert "contains@5" in report_text(report)


def test_runs_are_compared(project: Path, settings: Settings) -> None:
    before = measured(project, settings, {"one": (AUTH,), "two": (AUTH, SESSION)}, *LINES)
    comparison.save(before, project / "run.json")
    now = measured(project, settings, {"one": (SESSION,), "two": (SESSION, AUTH)}, *LINES)
    found = comparison.compare(now, project / "run.json")
    assert [(c.question, c.before, c.now) for c in found.questions] == [
        ("1", 1.0, 0.0),
        ("2", pytest.approx(0.6309, abs=1e-4), 1.0),
    ]
    means = {change.measure: (change.before, change.now) for change in found.means}
    assert means["MRR@10"] == (0.75, 0.5)
    assert "1 question worse, 1 better" in comparison_text(found)
    same = comparison.compare(before, project / "run.json")
    assert same.questions == []


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"format": 2}', '{"format": 1, "measures": {"a": "b"}}'])
def test_what_is_no_run_is_refused(project: Path, settings: Settings, text: str) -> None:
    (project / "run.json").write_text(text, encoding="utf-8")
    report = measured(project, settings, {}, *LINES)
    with pytest.raises(InvalidRequestError, match=r"run\.json"):
        comparison.compare(report, project / "run.json")
    with pytest.raises(InvalidRequestError, match=r"^compare: \S+ cannot be read: Is a directory$") as told:
        comparison.compare(report, project)
    assert told.value.hint
    with pytest.raises(StorageError):
        comparison.save(report, project / "none" / "run.json")


def test_bars(project: Path, settings: Settings) -> None:
    report = measured(project, settings, {"one": (AUTH,), "two": (AUTH, SESSION)}, *LINES)
    assert comparison.missed(report, {"MRR@10": 0.75}) == []
    assert comparison.missed(report, {"MRR@10": 0.8}) == [("MRR@10", 0.8, 0.75)]
    with pytest.raises(InvalidRequestError, match="no measure is called 'x'"):
        comparison.missed(report, {"x": 1})
    assert comparison.parse_bars(["nDCG@10=0.8", "R@1=1"]) == {"nDCG@10": 0.8, "R@1": 1.0}
    for bad in ("nDCG@10", "=1", "a=b"):
        with pytest.raises(InvalidRequestError, match="MEASURE=VALUE"):
            comparison.parse_bars([bad])


def test_the_command_fails_below_a_bar(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    @contextmanager
    def opened(_settings: Settings) -> Iterator[Any]:
        yield Answers({"one": (AUTH,)})

    for kind in ("CONFIG", "DATA", "CACHE", "STATE"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(project / kind))
    monkeypatch.chdir(project)
    monkeypatch.setattr(runtime, "open_workspace", opened)
    assert main(["add", "docs", "src"]) == 0
    file = str(golden(project, *LINES[:2]))
    assert main(["eval", file, "--save", "run.json", "--at-least", "MRR@10=0.5"]) == 0
    capsys.readouterr()
    assert main(["eval", file, "--compare", "run.json", "--at-least", "MRR@10=0.6", "--json"]) == 5
    printed = capsys.readouterr()
    assert json.loads(printed.out)["compared"]["questions"] == []
    assert "MRR@10 is 0.5000, and should be at least 0.6" in printed.err
    assert main(["eval", file, "--index-dir", "x"]) == 2
