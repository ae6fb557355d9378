"""The gateway's engines, answering from memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from everfind_core.cancellation import Cancellation
from everfind_core.errors import EverfindError, FileNotIndexableError, IndexLockedError
from everfind_core.model import (
    AddFolderRequest,
    Calibration,
    Coverage,
    FileFailed,
    FileProcessed,
    FileRef,
    FileText,
    Floor,
    Folder,
    FolderFinished,
    FolderStarted,
    FolderStatus,
    GatherAnswer,
    GatherRequest,
    GrepAnswer,
    GrepMatch,
    GrepRequest,
    HealthFinding,
    Hit,
    IndexedFile,
    IndexProgress,
    IndexReport,
    IndexRequest,
    LexicalRank,
    ModelInfo,
    Passage,
    Provenance,
    ProvenanceLabel,
    ReadFileRequest,
    RelatedAnswer,
    RelatedHit,
    RelatedRequest,
    Relation,
    RemovedFolder,
    RemoveFolderRequest,
    RunFinished,
    SearchAnswer,
    SearchRequest,
    SemanticRank,
    SkippedFile,
    SkipReason,
    WorkspaceStatus,
)
from everfind_core.ports import EventSink
from everfind_gateway.config.folders import remove_folder
from everfind_gateway.config.settings import Settings

MODEL = ModelInfo("all-MiniLM-L6-v2", "r1", 384, 256, "mean")


def make_hit(path: str = "src/auth.py", **changes: object) -> Hit:
    values: dict[str, object] = {
        "chunk_id": f"id-{path}",
        "folder": "api",
        "path": path,
        "absolute_path": f"/srv/api/{path}",
        "start_line": 42,
        "end_line": 60,
        "score": 0.03278688524590164,
        "provenance": Provenance(ProvenanceLabel.BOTH, SemanticRank(1, 0.7123), LexicalRank(2, 7.31)),
        "text": "# a comment\n\ndef refresh_token(session):\n    return session.renew()\n",
        "symbol": "refresh_token",
        "kind": "function",
        "language": "python",
    }
    return Hit(**{**values, **changes})  # type: ignore[arg-type]  # tests name real fields


@dataclass
class FakeEngines:
    """Indexer, searcher and embedder at once; answers what a test has put in, and keeps what it was asked."""

    hits: tuple[Hit, ...] = (make_hit(),)
    error: EverfindError | None = None
    fault: BaseException | None = None
    searches: list[SearchRequest] = field(default_factory=list)
    gathers: list[GatherRequest] = field(default_factory=list)
    relations: list[RelatedRequest] = field(default_factory=list)
    runs: list[IndexRequest] = field(default_factory=list)
    greps: list[GrepRequest] = field(default_factory=list)
    reads: list[ReadFileRequest] = field(default_factory=list)
    added: list[AddFolderRequest] = field(default_factory=list)
    removed: list[RemoveFolderRequest] = field(default_factory=list)
    settings: Settings | None = None
    text: str = "one\ntwo\n"
    findings: tuple[HealthFinding, ...] = ()
    locked_by: str = ""
    next_cursor: str = ""
    files: set[str] | None = None
    on_run: Callable[[Cancellation | None], None] = lambda cancel: None

    @property
    def indexer(self) -> FakeEngines:
        return self

    @property
    def searcher(self) -> FakeEngines:
        return self

    @property
    def embedder(self) -> FakeEngines:
        return self

    def model(self) -> ModelInfo:
        self._fail()
        return MODEL

    def close(self) -> None:
        pass

    def search(self, request: SearchRequest, *, cancel: Cancellation | None = None) -> SearchAnswer:
        self._fail()
        self.searches.append(request)
        coverage = Coverage(1203, 9000, {"ignored": 12, "binary": 3}, 0)
        return SearchAnswer(request.query, 7, self.hits, coverage, next_cursor=self.next_cursor)

    def gather(self, request: GatherRequest, *, cancel: Cancellation | None = None) -> GatherAnswer:
        self.gathers.append(request)
        answer = self.search(request.search)
        passages = tuple(Passage(hit, hit.start_line, hit.end_line, hit.text) for hit in self.hits)
        return GatherAnswer(answer, passages, "### [1/1] api\n")

    def related(self, request: RelatedRequest, *, cancel: Cancellation | None = None) -> RelatedAnswer:
        self._fail()
        self.relations.append(request)
        related = tuple(RelatedHit(hit, Relation.CALLER, 0.9, hit.start_line + 1, "Outer.caller") for hit in self.hits)
        return RelatedAnswer(7, self.hits[:1], related, Coverage(1203, 9000, {"ignored": 12}, 0))

    def index(self, request: IndexRequest, on_event: EventSink, *, cancel: Cancellation | None = None) -> IndexReport:
        self._fail()
        if self.locked_by and not request.wait:
            raise IndexLockedError(f"the index is being written by {self.locked_by}")
        self.runs.append(request)
        failed = SkippedFile(FileRef("api", "bad\x1b[31m.txt"), SkipReason.UNREADABLE, "permission denied")
        on_event(FolderStarted(1, 2, "api", "/srv/api"))
        on_event(IndexProgress("api", 1, 2, 8, 1600, 5000.0, 3.0))
        on_event(FileProcessed(FileRef("api", "a.py"), 8, 8))
        self.on_run(cancel)
        if cancel is not None:
            cancel.check()
        on_event(FileFailed(failed))
        on_event(FolderFinished("api", 1, 1203, 0, {"unreadable": 1}, 8, 4.1))
        on_event(FolderStarted(2, 2, "web", "/srv/web"))
        on_event(FolderFinished("web", 0, 5, 2, {}, 0, 0.2))
        report = IndexReport(
            indexed=1, unchanged=1208, deleted=2, skipped={"unreadable": 1}, chunks_written=8, chunks_embedded=6,
            chunks_reused=2, tokens=1600, seconds={"embed": 3.5, "total": 4.3}, errors=(failed,), generation=7,
        )  # fmt: skip
        on_event(RunFinished(report))
        return report

    def calibrate(self, *, cancel: Cancellation | None = None) -> Calibration:
        return Calibration(0.2, 2_040, 0.28, 0.35, "model", 5.0, 0.42, 9_000)

    def add_folder(self, request: AddFolderRequest) -> Folder:
        self._fail()
        self.added.append(request)
        return Folder(request.name or request.root.rpartition("/")[2], request.root, request.include)

    def remove_folder(self, request: RemoveFolderRequest, *, cancel: Cancellation | None = None) -> RemovedFolder:
        self._fail()
        self.removed.append(request)
        folder = Folder(request.folder, "/srv/api")
        if self.settings is not None and not self.settings.server:
            (folder,) = (one for one in self.settings.folders if one.name == request.folder)
            remove_folder(self.settings.files.folders_file, folder)
        return RemovedFolder(folder, 0 if request.keep_index else 3)

    def grep(self, request: GrepRequest, *, cancel: Cancellation | None = None) -> GrepAnswer:
        self._fail()
        self.greps.append(request)
        return GrepAnswer((GrepMatch(FileRef("api", "a.py"), "/srv/api/a.py", 3, "x = \x1b[31m1"),), 12)

    def read_file(self, request: ReadFileRequest) -> FileText:
        self._fail()
        if self.files is not None and request.path not in self.files:
            raise FileNotIndexableError(f"{request.path} is not there")
        self.reads.append(request)
        return FileText(FileRef(request.folder, request.path), "/srv/api/a.py", 1, 2, 2, self.text)

    def status(self, *, skipped_files: bool = False, verify: bool = False, compare: bool = False) -> WorkspaceStatus:
        self._fail()
        skipped = (SkippedFile(FileRef("api", "logo.png"), SkipReason.BINARY),) if skipped_files else ()
        coverage = Coverage(10, 80, {"binary": 1})
        folder = FolderStatus(Folder("api", "/srv/api", ("*.py",)), coverage, usable=False)
        return WorkspaceStatus(
            "", "/srv/index", 7, (folder,), coverage, MODEL, disk_bytes=21_000_000, redactions=1,
            skipped_files=skipped, findings=self.findings, floor=Floor(0.35, "model"),
        )  # fmt: skip

    def indexed_files(
        self, *, folder: str = "", globs: Sequence[str] = (), after: FileRef | None = None, limit: int = 0
    ) -> Sequence[IndexedFile]:
        self._fail()
        found = [IndexedFile(FileRef("api", "a.py"), 120, 5.0, 3, 40)]
        return found if folder in ("", "api") and not globs else []

    def folders(self) -> Sequence[Folder]:
        return ()

    def _fail(self) -> None:
        for error in (self.error, self.fault):
            if error is not None:
                raise error


@dataclass
class Outcome:
    """How a command ended."""

    code: int
    out: str
    err: str
