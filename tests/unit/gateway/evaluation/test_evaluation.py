from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from everfind_core.cancellation import Cancellation
from everfind_core.errors import EverfindError, InvalidRequestError, StorageError
from everfind_core.model import (
    AddFolderRequest,
    Calibration,
    Coverage,
    FileRef,
    FileText,
    Folder,
    FolderStatus,
    GatherAnswer,
    GatherRequest,
    GrepAnswer,
    GrepRequest,
    Hit,
    IndexedFile,
    IndexReport,
    IndexRequest,
    Provenance,
    ProvenanceLabel,
    ReadFileRequest,
    RelatedAnswer,
    RelatedRequest,
    RemovedFolder,
    RemoveFolderRequest,
    SearchAnswer,
    SearchMode,
    SearchRequest,
    WorkspaceStatus,
)
from everfind_core.ports import Embedder, EventSink
from everfind_gateway.config.settings import Settings, load_settings
from everfind_gateway.evaluation.labelled import read_set
from everfind_gateway.evaluation.report import Share
from everfind_gateway.evaluation.running import run_eval
from everfind_gateway.render.evaluation import report_text


def hit(folder: str, path: str, start: int = 1, score: float = 1.0) -> Hit:
    provenance = Provenance(ProvenanceLabel.SEMANTIC)
    return Hit(f"{folder}/{path}:{start}", folder, path, f"/x/{path}", start, start + 9, score, provenance, "text")


class FakeWorkspace:
    """Answers from a table of query → hits, and notes what it is asked."""

    def __init__(
        self,
        settings: Settings,
        hits: dict[str, list[Hit]],
        foreign: Sequence[str] = (),
        silent: frozenset[str] = frozenset(),
    ) -> None:
        self.settings = settings
        self.silent = silent
        self.hits = hits
        self.foreign = foreign
        self.requests: list[SearchRequest] = []

    @property
    def indexer(self) -> FakeWorkspace:
        return self

    @property
    def embedder(self) -> Embedder:
        raise NotImplementedError

    @property
    def searcher(self) -> FakeWorkspace:
        return self

    def index(self, request: IndexRequest, on_event: EventSink, *, cancel: Cancellation | None = None) -> IndexReport:
        self.settings.index_dir.mkdir(parents=True, exist_ok=True)
        return IndexReport(indexed=3)

    def status(self, *, skipped_files: bool = False, verify: bool = False, compare: bool = False) -> WorkspaceStatus:
        folders = [*self.settings.folders, *(Folder(name, f"/{name}") for name in self.foreign)]
        covered = tuple(FolderStatus(folder, Coverage()) for folder in folders)
        return WorkspaceStatus("", str(self.settings.index_dir), 1, covered, Coverage(3, 7, {"too_large": 2}))

    def search(self, request: SearchRequest, *, cancel: Cancellation | None = None) -> SearchAnswer:
        if "forbidden" in request.query:
            raise InvalidRequestError.of("query", "it is forbidden")
        self.requests.append(request)
        start = int(request.cursor or 0)
        quiet = request.query in self.silent and request.min_score is None
        found = [] if quiet else self.hits.get(request.query, [])
        page = found[start : start + request.limit]
        more = str(start + request.limit) if len(found) > start + request.limit else ""
        return SearchAnswer(request.query, 1, tuple(page), Coverage(), next_cursor=more)

    def gather(self, request: GatherRequest, *, cancel: Cancellation | None = None) -> GatherAnswer:
        raise NotImplementedError

    def related(self, request: RelatedRequest, *, cancel: Cancellation | None = None) -> RelatedAnswer:
        raise NotImplementedError

    def read_file(self, request: ReadFileRequest) -> FileText:
        raise NotImplementedError

    def grep(self, request: GrepRequest, *, cancel: Cancellation | None = None) -> GrepAnswer:
        raise NotImplementedError

    def calibrate(self, *, cancel: Cancellation | None = None) -> Calibration:
        return Calibration(0.2, 2_040, 0.28, 0.35, "model", 5.0, 0.42, 9_000)

    def add_folder(self, request: AddFolderRequest) -> Folder:
        raise NotImplementedError

    def remove_folder(self, request: RemoveFolderRequest, *, cancel: Cancellation | None = None) -> RemovedFolder:
        raise NotImplementedError

    def indexed_files(
        self, *, folder: str = "", globs: Sequence[str] = (), after: FileRef | None = None, limit: int = 0
    ) -> Sequence[IndexedFile]:
        raise NotImplementedError

    def folders(self) -> Sequence[Folder]:
        return self.settings.folders

    def close(self) -> None:
        raise NotImplementedError


class Opener:
    """Opens fake workspaces, and remembers them."""

    def __init__(
        self,
        hits: dict[str, list[Hit]] | None = None,
        foreign: Sequence[str] = (),
        silent: frozenset[str] = frozenset(),
    ) -> None:
        self.hits = hits or {}
        self.silent = silent
        self.foreign = foreign
        self.opened: list[FakeWorkspace] = []

    @contextmanager
    def __call__(self, settings: Settings) -> Iterator[FakeWorkspace]:
        workspace = FakeWorkspace(settings, self.hits, self.foreign, self.silent)
        self.opened.append(workspace)
        yield workspace


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("EVERFIND_INDEX_DIR", str(tmp_path / "own-index"))
    config = tmp_path / "config.toml"
    config.write_text("")
    return load_settings(config)


MakeSet = Callable[..., Path]


@pytest.fixture
def make_set(tmp_path: Path) -> MakeSet:
    def make(*questions: dict[str, Any] | str, unanswerable: Sequence[dict[str, Any]] = ()) -> Path:
        directory = tmp_path / "set"
        for root in ("one", "two"):
            (directory / "corpus" / root).mkdir(parents=True)
        lines = [q if isinstance(q, str) else json.dumps(q) for q in questions]
        (directory / "queries.jsonl").write_text("\n".join(lines), encoding="utf-8")
        if unanswerable:
            (directory / "unanswerable.jsonl").write_text("\n".join(map(json.dumps, unanswerable)))
        return directory

    return make


def question(name: str, path: str, **more: Any) -> dict[str, Any]:
    return {"id": name, "query": f"query {name}", "relevant": [{"path": path}], **more}


def test_one_folder_without_roots(make_set: MakeSet, settings: Settings, tmp_path: Path) -> None:
    directory = make_set(question("q1", "one/a.py", kind="x"), question("q2", "two/b.py", kind="y"))
    hits = {
        "query q1": [hit("corpus", "one/a.py", score=0.5)],
        "query q2": [hit("corpus", "z"), hit("corpus", "two/b.py")],
    }
    opener = Opener(hits)
    out = tmp_path / "out.jsonl"
    report = run_eval(directory, settings=settings, results=out, open_workspace=opener)

    (workspace,) = opener.opened
    assert workspace.settings.folders == (Folder("corpus", str(directory / "corpus")),)
    assert not workspace.settings.index_dir.exists()
    assert all(request.filters.folders == () and request.limit == 100 for request in workspace.requests)
    assert report.measured.overall.measures["MRR@10"] == 0.75
    assert {kind: m.measures["MRR@10"] for kind, m in report.measured.by_kind.items()} == {"x": 1.0, "y": 0.5}
    assert (report.answered, report.coverage.files, report.coverage.chunks) == (2, 3, 7)
    written = [json.loads(line) for line in out.read_text().splitlines()]
    assert written[0] == {
        "id": "q1",
        "results": [{"path": "one/a.py", "start_line": 1, "end_line": 10, "score": 0.5}],
    }
    assert [entry["id"] for entry in written] == ["q1", "q2"]


def test_each_root_is_a_folder_that_its_questions_search(make_set: MakeSet, settings: Settings, tmp_path: Path) -> None:
    directory = make_set(question("q1", "one/a.py", root="one"))
    opener = Opener({"query q1": [hit("one", "a.py")]})
    out = tmp_path / "out.jsonl"
    report = run_eval(directory, settings=settings, results=out, open_workspace=opener, mode=SearchMode.LEXICAL)

    (workspace,) = opener.opened
    assert workspace.settings.folders == (Folder("one", str(directory / "corpus" / "one")),)
    assert {request.filters.folders for request in workspace.requests} == {("one",)}
    assert {request.mode for request in workspace.requests} == {SearchMode.LEXICAL}
    assert report.measured.overall.measures["nDCG@10"] == 1.0
    assert json.loads(out.read_text())["results"][0]["path"] == "one/a.py"


def test_some_questions_with_a_root(make_set: MakeSet, settings: Settings) -> None:
    directory = make_set(question("q1", "one/a.py", root="one"), question("q2", "two/b.py"))
    opener = Opener({"query q1": [hit("one", "a.py")], "query q2": [hit("one", "a.py"), hit("corpus", "two/b.py")]})
    report = run_eval(directory, settings=settings, open_workspace=opener)
    assert [folder.name for folder in opener.opened[0].settings.folders] == ["one", "corpus"]
    assert report.measured.overall.measures["MRR@10"] == 0.75


def test_more_pages_until_ten_files_can_be_ranked(make_set: MakeSet, settings: Settings) -> None:
    directory = make_set(question("q1", "b", ignore=["skip"]), question("q2", "b"))
    big = [hit("corpus", "big", start) for start in range(1, 151)]
    many = [hit("corpus", f"f{n}", start) for start in range(1, 31) for n in range(10)]
    opener = Opener({"query q1": [*big, hit("corpus", "skip"), hit("corpus", "b")], "query q2": many})
    report = run_eval(directory, settings=settings, open_workspace=opener)
    cursors = [(request.query, request.cursor) for request in opener.opened[0].requests]
    assert cursors[-3:] == [("query q1", ""), ("query q1", "100"), ("query q2", "")]
    assert report.measured.overall.measures["MRR@10"] == 0.25


def test_unanswerable_questions(make_set: MakeSet, settings: Settings, tmp_path: Path) -> None:
    nothing = [{"id": "u1", "query": "far", "kind": "far"}, {"id": "u2", "query": "near", "kind": "near"}]
    directory = make_set(question("q1", "a"), unanswerable=nothing)
    out = tmp_path / "none.jsonl"
    report = run_eval(
        directory, settings=settings, unanswerable=out, open_workspace=Opener({"near": [hit("corpus", "a")]})
    )
    assert report.unanswerable == Share(1, 2)
    assert report.silent == {"far": Share(1, 1), "near": Share(0, 1)}
    assert [len(json.loads(line)["results"]) for line in out.read_text().splitlines()] == [0, 1]
    assert run_eval(directory, settings=settings, open_workspace=Opener()).unanswerable == Share(2, 2)


def test_what_the_floor_costs(make_set: MakeSet, settings: Settings) -> None:
    directory = make_set(question("q1", "a", kind="x"), question("q2", "b", kind="x"), question("q3", "c", kind="y"))
    found = {"query q1": [hit("corpus", "a")], "query q2": [hit("corpus", "b")], "query q3": [hit("corpus", "z")]}
    report = run_eval(directory, settings=settings, open_workspace=Opener(found, silent=frozenset({"query q2"})))
    assert report.kept == {"x": Share(1, 2)}
    assert report.measured.overall.measures["Hit@10"] == pytest.approx(1 / 3)
    assert report.floor_off.overall.measures["Hit@10"] == pytest.approx(2 / 3)
    assert report.as_json()["kept"] == {"x": {"found": 2, "kept": 1}}
    assert report.as_json()["floor_off"]["by_kind"]["x"]["Hit@10"] == 1.0
    text = report_text(report)
    assert "kept by the floor: 1 of 2, 50.0% with a relevant file in the top 10 (x 1 of 2, 50.0%)" in text
    assert "\nfloor off\n" in text


def test_a_kept_index(make_set: MakeSet, settings: Settings, tmp_path: Path) -> None:
    directory = make_set(question("q1", "a"))
    run_eval(directory, settings=settings, index_dir=tmp_path / "kept", open_workspace=Opener())
    assert (tmp_path / "kept").is_dir()


def test_an_index_of_something_else_is_refused(make_set: MakeSet, settings: Settings, tmp_path: Path) -> None:
    directory = make_set(question("q1", "a"))
    with pytest.raises(InvalidRequestError, match="index of your own folders"):
        run_eval(directory, settings=settings, index_dir=settings.index_dir, open_workspace=Opener())
    with pytest.raises(InvalidRequestError, match=r"holds other folders, too \(notes\)"):
        run_eval(directory, settings=settings, index_dir=tmp_path / "kept", open_workspace=Opener(foreign=["notes"]))


def test_report_as_text_and_json(make_set: MakeSet, settings: Settings) -> None:
    directory = make_set(question("q1", "a", kind="short"), question("q2", "b", kind="long"))
    report = run_eval(directory, settings=settings, open_workspace=Opener({"query q1": [hit("corpus", "a")]}))
    lines = report_text(report).splitlines()
    assert lines[0] == "set, hybrid: 2 questions, 1 answered"
    assert re.fullmatch(r"index: 3 files, 7 chunks, \d+\.\ds; skipped: 2 too large", lines[1])
    assert lines[3] == "kept by the floor: 1 of 1, 100.0% with a relevant file in the top 10 (short 1 of 1, 100.0%)"
    assert lines[5].split() == ["n", "nDCG@10", "MRR@10", "R@1", "R@5", "R@10", "chunk_nDCG@10"]
    assert [line.split()[:3] for line in lines[6:]] == [
        ["all", "2", "0.500"],
        ["long", "1", "0.000"],
        ["short", "1", "1.000"],
    ]
    form = report.as_json()
    assert json.loads(json.dumps(form)) == form
    assert (form["set"], form["mode"], form["questions"], form["answered"]) == ("set", "hybrid", 2, 1)
    assert form["measures"]["nDCG@10"] == 0.5
    assert form["by_kind"]["short"]["questions"] == 1
    assert form["index"] == {
        "files": 3,
        "chunks": 7,
        "skipped": {"too_large": 2},
        "seconds": pytest.approx(0, abs=600),
    }


GOOD = json.dumps(question("q1", "a"))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", r"queries\.jsonl:2: not JSON"),
        ("[1]", r"queries\.jsonl:2: it needs an object"),
        ('{"id": "q2", "query": "x"}', r"queries\.jsonl:2: relevant: it is missing"),
        (
            '{"id": "q2", "query": "", "relevant": [{"path": "a"}]}',
            r"queries\.jsonl:2: query: it must not be empty",
        ),
        ('{"id": "q2", "query": "x", "relevant": []}', r"queries\.jsonl:2: relevant: it must not be empty"),
        ('{"id": "q2", "query": "x", "relevant": [{"path": 3}]}', r"queries\.jsonl:2: relevant\.0\.path: "),
        ('{"id": "q2", "query": "x", "relevant": [{"path": "a", "lines": [0, 1]}]}', r":2: relevant\.0\.lines\.0: "),
        ('{"id": "q2", "query": "x", "relevant": [{"path": "a", "grade": 0}]}', r":2: relevant\.0\.grade: "),
        (GOOD, r"queries\.jsonl:2: the id 'q1' stands on a line before"),
        (json.dumps(question("q2", "a", root="three")), r"queries\.jsonl:2: the root 'three' is no directory"),
        (json.dumps(question("q2", "a", root="..")), r"queries\.jsonl:2: the root '\.\.' is no directory"),
        (json.dumps(question("q2", "a", root="one/../one")), r"queries\.jsonl:2: the root"),
        pytest.param("[" * 100_000, r"queries\.jsonl:2: not JSON", id="nested too deeply"),
    ],
)
def test_a_malformed_line_is_named(make_set: MakeSet, line: str, message: str) -> None:
    with pytest.raises(InvalidRequestError, match=message):
        read_set(make_set(GOOD, line))


def test_missing_parts_are_named(tmp_path: Path, make_set: MakeSet) -> None:
    with pytest.raises(InvalidRequestError, match="holds no directory corpus/"):
        read_set(tmp_path / "absent")
    directory = make_set()
    with pytest.raises(InvalidRequestError, match="it holds no question"):
        read_set(directory)
    (directory / "queries.jsonl").write_text(GOOD)
    with pytest.raises(InvalidRequestError, match=r"unanswerable\.jsonl cannot be read: No such file"):
        read_set(directory, unanswerable=True)
    (directory / "queries.jsonl").write_bytes(b"\xff\xfe")
    with pytest.raises(InvalidRequestError, match="cannot be read: not UTF-8"):
        read_set(directory)


def test_a_refused_question_is_named(make_set: MakeSet, settings: Settings) -> None:
    directory = make_set({"id": "bad", "query": "forbidden", "relevant": [{"path": "a"}]})
    with pytest.raises(InvalidRequestError, match="question 'bad': query: it is forbidden"):
        run_eval(directory, settings=settings, open_workspace=Opener())


@pytest.mark.parametrize("output", ["results", "unanswerable"])
def test_outputs_are_checked_before_any_work(
    make_set: MakeSet, settings: Settings, tmp_path: Path, output: str
) -> None:
    directory = make_set(question("q1", "a"), unanswerable=[{"id": "u", "query": "x"}])
    opener = Opener()
    for place in (tmp_path / "absent" / "out.jsonl", tmp_path):
        paths: dict[str, Any] = {output: place}
        with pytest.raises(InvalidRequestError, match=f"{output}: .* is no file that can be written"):
            run_eval(directory, settings=settings, open_workspace=opener, **paths)
    assert opener.opened == []


def test_an_output_that_fails_is_an_error(make_set: MakeSet, settings: Settings, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    out.symlink_to(tmp_path / "absent" / "out.jsonl")
    with pytest.raises(StorageError, match="cannot be written: No such file") as caught:
        run_eval(make_set(question("q1", "a")), settings=settings, results=out, open_workspace=Opener())
    assert isinstance(caught.value, EverfindError)
    assert caught.value.hint
