"""The incremental state machine: whatever happens to the files and to the runs, the index equals a fresh one."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from everfind_core.errors import FileNotIndexableError, FolderUnusableError, UnavailableError
from everfind_core.index.directory import current_index
from everfind_core.index.names import POINTER
from everfind_core.lifecycle import settle
from everfind_core.model import (
    FileProcessed,
    FileRef,
    Folder,
    FolderStarted,
    IndexRequest,
    ReadFileRequest,
    RunEvent,
    SkippedFile,
    SkipReason,
)
from everfind_core.ports import NotExtractedError
from everfind_indexer import sources
from everfind_indexer.discovery import Discovery, discover
from everfind_indexer.files.found import FoundFile
from everfind_indexer.running import first_pass, looking, pipeline, settling
from everfind_indexer.settings import IndexerSettings, KeptVectors
from tests.support.indexing import KilledError, Workspace

NAMES = st.sampled_from(["a.txt", "b.md", "c.py", "sub/d.txt", "sub/e.py", "sub/deep/f.md", "ünï %41.txt", "A.txt"])
TEXTS = st.integers(0, 5).map(lambda n: "\n\n".join(f"paragraph {n} {m}\n" + "word " * (20 * n) for m in range(n + 1)))
DOCUMENTS = st.sampled_from(["b.md", "sub/deep/f.md"]).map(
    lambda old: f"---\nstatus: accepted\nsupersedes: {old}\n---\n# Newer\n\nIn place of {old}.\n"
)


class IncrementalIndex(RuleBasedStateMachine):
    @initialize(files=st.sampled_from([1, 3, 500]))
    def start(self, files: int) -> None:
        self.patch = pytest.MonkeyPatch()
        self.patch.setattr(first_pass, "FIRST_PASS_FILES", files)
        self.base = Path(tempfile.mkdtemp())
        self.workspace = Workspace(self.base, kept=KeptVectors(self.base / "vectors"))
        self.changed: set[str] = set()
        self.all_seen()

    def teardown(self) -> None:
        if hasattr(self, "base"):
            self.patch.undo()
            shutil.rmtree(self.base)

    def path(self, name: str) -> Path:
        return self.workspace.root / name

    def note(self, *names: str) -> None:
        self.changed.update(name.replace("%", "%25") for name in names)
        self.indexed = False

    def unfollowed(self) -> None:
        self.indexed = self.followed = False

    def all_seen(self) -> None:
        self.indexed = self.followed = True
        self.changed.clear()

    @rule(name=NAMES, text=TEXTS | DOCUMENTS)
    def write(self, name: str, text: str) -> None:
        self.path(name).parent.mkdir(parents=True, exist_ok=True)
        self.path(name).write_text(text)
        self.note(name)

    @rule(name=NAMES)
    def touch(self, name: str) -> None:
        if self.path(name).exists():
            os.utime(self.path(name))
            self.note(name)

    @rule(name=NAMES, text=TEXTS)
    def edit_keeping_mtime_and_size(self, name: str, text: str) -> None:
        if self.path(name).exists():
            stat = self.path(name).stat()
            self.path(name).write_bytes(b"x" * stat.st_size)
            os.utime(self.path(name), ns=(stat.st_atime_ns, stat.st_mtime_ns))
            self.note(name)

    @rule(name=NAMES, to=NAMES)
    def rename(self, name: str, to: str) -> None:
        if self.path(name).exists():
            self.path(to).parent.mkdir(parents=True, exist_ok=True)
            self.path(name).replace(self.path(to))
            self.note(name, to)

    @rule(name=NAMES)
    def delete(self, name: str) -> None:
        self.path(name).unlink(missing_ok=True)
        self.note(name)

    @rule(name=NAMES)
    def ignore(self, name: str) -> None:
        (self.workspace.root / ".indexignore").write_text(f"/{name}\n")
        self.unfollowed()

    @rule(commits=st.integers(0, 6), before=st.booleans(), force=st.booleans())
    def killed_run(self, commits: int, before: bool, force: bool) -> None:
        self.workspace.store.kill_in, self.workspace.store.before = commits, before
        try:
            self.workspace.index(force=force)
            self.all_seen()
        except KilledError:
            self.indexed = False
        finally:
            self.workspace.store.kill_in = None

    @rule()
    def lost_catalog(self) -> None:
        for path in self.base.glob("index/indexes/*/catalog.sqlite*"):
            path.unlink()
        self.unfollowed()

    @rule(below=st.sampled_from(["sub", "sub/deep", "a.txt"]))
    def run_below(self, below: str) -> None:
        self.workspace.index(folders=("f",), below=below)
        self.unfollowed()

    @rule()
    def run_over_what_changed(self) -> None:
        """As a watcher does, if nothing but single files changed since the last run that saw everything."""
        assume(self.followed)
        if self.changed:
            self.workspace.index(folders=("f",), paths=tuple(sorted(self.changed)))
        self.changed.clear()
        self.indexed = True

    @rule()
    def removed_and_added_again(self) -> None:
        self.workspace.engine().forget_folder("f")
        assert self.workspace.content() == {}
        self.unfollowed()

    @rule(force=st.booleans())
    def run(self, force: bool) -> None:
        self.workspace.index(force=force)
        self.all_seen()

    @rule()
    def limited_runs(self) -> None:
        while self.workspace.index(max_files=1).pending:
            pass
        self.all_seen()

    @invariant()
    @precondition(lambda self: getattr(self, "indexed", False))
    def equals_a_fresh_index(self) -> None:
        fresh = tempfile.mkdtemp()
        try:
            other = Workspace(Path(fresh))
            shutil.rmtree(other.root)
            shutil.copytree(self.workspace.root, other.root)
            other.index()
            assert self.workspace.content() == other.content()
            assert self.workspace.store.fates() == other.store.fates()
        finally:
            shutil.rmtree(fresh)

    @invariant()
    @precondition(lambda self: getattr(self, "indexed", False))
    def status_and_files_equal_a_scan_of_the_index(self) -> None:
        engine = self.workspace.engine()
        scanned = {ref.path: len(rows) for ref, rows in self.workspace.store.rows.items()}
        coverage = engine.status().coverage
        assert (coverage.files, coverage.chunks) == (len(scanned), sum(scanned.values()))
        assert (coverage.unembedded, self.workspace.store.unembedded()) == (0, {})
        assert {file.ref.path: file.chunks for file in engine.indexed_files()} == scanned

    @invariant()
    @precondition(lambda self: getattr(self, "indexed", False) and bool(self.workspace.store.commits))
    def a_second_run_changes_nothing(self) -> None:
        before = self.workspace.store.version, self.workspace.embedder.embedded
        report = self.workspace.index()
        assert (self.workspace.store.version, self.workspace.embedder.embedded) == before
        assert (report.indexed, report.deleted, report.chunks_written) == (0, 0, 0)


@pytest.fixture(autouse=True)
def _one_file_a_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "BATCH_FILES", 1)
    monkeypatch.setattr(first_pass, "COMMIT_FILES", 1)


TestIncrementalIndex = pytest.mark.slow(IncrementalIndex.TestCase)
TestIncrementalIndex.settings = settings(
    max_examples=20,
    stateful_step_count=10,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path)


def test_a_file_that_only_a_killed_run_committed_is_forgotten_when_it_is_gone(workspace: Workspace) -> None:
    workspace.index()
    (workspace.root / "new.txt").write_text("committed, and nothing noted of it\n")
    workspace.store.kill_in, workspace.store.before = 0, False
    with pytest.raises(KilledError):
        workspace.index()
    workspace.store.kill_in = None
    assert sorted(workspace.content()) == ["new.txt"]
    (workspace.root / "new.txt").unlink()
    workspace.engine().forget_folder("another")
    workspace.index()
    assert workspace.content() == {}


@pytest.mark.parametrize("commits", [0, 1])
def test_a_document_that_a_killed_run_took_anew_gets_its_fate_again(workspace: Workspace, commits: int) -> None:
    (workspace.root / "new.md").write_text("---\nstatus: accepted\nsupersedes: old.md\n---\n# New\n\nBetter.\n")
    (workspace.root / "old.md").write_text("# Old\n\nGood.\n")
    workspace.index()
    settled = workspace.store.fates()
    assert settled[FileRef("f", "old.md")].status == "superseded"
    workspace.store.kill_in, workspace.store.before = commits, False
    with pytest.raises(KilledError):
        workspace.index(force=True)
    workspace.store.kill_in = None
    workspace.index()
    assert workspace.store.fates() == settled


def test_a_saved_document_keeps_its_fate_at_once_and_nothing_is_settled_anew(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    settled: list[int] = []

    def counted(*arguments: Any) -> Any:
        settled.append(1)
        return settle(*arguments)

    monkeypatch.setattr(settling, "settle", counted)
    (workspace.root / "new.md").write_text("---\nstatus: accepted\nsupersedes: old.md\n---\n# New\n\nBetter.\n")
    (workspace.root / "old.md").write_text("# Old\n\nGood.\n")
    (workspace.root / "code.py").write_text("one = 1\n")
    workspace.index()
    fates = workspace.store.fates()
    assert (fates[FileRef("f", "old.md")].status, len(settled)) == ("superseded", 1)
    (workspace.root / "old.md").write_text("# Old\n\nGood, and longer.\n")
    (workspace.root / "code.py").unlink()
    assert workspace.index().chunks_embedded == 1
    assert (workspace.store.fates(), len(settled)) == (fates, 1)
    (workspace.root / "new.md").write_text("---\nstatus: accepted\n---\n# New\n\nBetter.\n")
    workspace.index()
    assert (set(workspace.store.fates()), len(settled)) == ({FileRef("f", "new.md")}, 2)
    (workspace.root / "new.md").unlink()
    workspace.index()
    assert (workspace.store.fates(), len(settled)) == ({}, 3)


def test_a_run_leaves_the_pointer_to_the_index_alone(workspace: Workspace) -> None:
    """Searchers take a new one for a new index, and drop what they have in memory."""

    def pointer() -> tuple[int, int]:
        stat = (workspace.settings.index_directory / POINTER).stat()
        return stat.st_ino, stat.st_mtime_ns

    (workspace.root / "a.txt").write_text("one\n")
    workspace.index()
    before = pointer()
    (workspace.root / "a.txt").write_text("two words\n")
    assert workspace.index().indexed == 1
    assert pointer() == before
    workspace.index(rebuild=True)
    assert pointer() != before


def test_a_read_error_is_tried_again(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    (workspace.root / "one.txt").write_text("one\n")
    os.utime(workspace.root / "one.txt", (1, 1))

    def fails(*_arguments: object) -> None:
        raise NotExtractedError(SkipReason.UNREADABLE, "Input/output error")

    with monkeypatch.context() as patched:
        patched.setattr(looking, "read_file", fails)
        report = workspace.index()
    assert [(e.ref.path, e.message) for e in report.errors] == [("one.txt", "Input/output error")]
    assert workspace.index().indexed == 1


def test_what_cannot_be_read_now_is_not_gone(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("kept/a.txt", "kept/deep/b.txt", "gone/c.txt", "file.txt"):
        (workspace.root / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace.root / name).write_text(f"text of {name}\n")
    workspace.index()
    before = workspace.content()
    closed = SkippedFile(FileRef("f", "kept/"), SkipReason.UNREADABLE, "Permission denied")
    listed = tuple(f for f in discover(str(workspace.root), folder="f").files if f.path == "file.txt")

    def fails(*_arguments: object) -> None:
        raise NotExtractedError(SkipReason.UNREADABLE, "Input/output error")

    with monkeypatch.context() as patched:
        patched.setattr(sources, "discover", lambda *_a, **_k: Discovery(listed, (closed,)))
        patched.setattr(looking, "read_file", fails)
        report = workspace.index(force=True)
    assert sorted((e.ref.path, e.message) for e in report.errors) == [
        ("file.txt", "Input/output error"),
        ("kept/", "Permission denied"),
    ]
    del before["gone/c.txt"]
    assert workspace.content() == before


def test_a_run_whose_every_folder_is_missing_says_so(workspace: Workspace) -> None:
    shutil.rmtree(workspace.root)
    with pytest.raises(FolderUnusableError, match="folder f"):
        workspace.index()


def test_a_limited_run_forgets_nothing_that_may_only_have_moved(workspace: Workspace) -> None:
    for n in range(4):
        (workspace.root / f"{n}.txt").write_text(f"text number {n}\n")
    workspace.index()
    for n in range(4):
        (workspace.root / f"{n}.txt").rename(workspace.root / f"moved{n}.txt")
    report = workspace.index(max_files=1)
    assert (report.indexed, report.deleted, report.pending, len(workspace.content())) == (1, 0, 3, 5)
    report = workspace.index()
    assert (report.indexed, report.deleted, report.chunks_embedded, len(workspace.content())) == (3, 4, 0, 4)


def test_a_folder_that_goes_away_during_a_run_does_not_end_it(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "b.txt").write_text("b\n")
    (workspace.root / "a.txt").write_text("a\n")
    workspace.settings = IndexerSettings(
        tmp_path / "index", (Folder("f", str(workspace.root)), Folder("g", str(other)))
    )
    shown: list[str] = []

    def vanish(event: RunEvent) -> None:
        if isinstance(event, FolderStarted):
            shown.append(event.name)

    look = looking.Looker.look

    def unmounted(self: looking.Looker, found: FoundFile) -> looking.Outcome:
        if self.folder.name == "f":
            raise FolderUnusableError("f went away")
        return look(self, found)

    monkeypatch.setattr(looking.Looker, "look", unmounted)
    report = workspace.engine().index(IndexRequest(), vanish)
    assert shown == ["f", "g"]
    assert [e.ref.folder for e in report.errors] == ["f"]
    assert sorted(workspace.content()) == ["b.txt"]


def test_a_folder_can_be_found_from_its_first_commit_on(workspace: Workspace) -> None:
    (workspace.root / "a.txt").write_text("a\n")
    roots: list[str] = []

    def peek(event: RunEvent) -> None:
        if isinstance(event, FileProcessed):
            coverage = current_index(workspace.settings.index_directory).read_coverage()
            roots.append(coverage.roots()["f"])

    workspace.engine().index(IndexRequest(), peek)
    assert roots == [str(workspace.root)]


def test_a_moved_file_embeds_nothing(workspace: Workspace) -> None:
    (workspace.root / "one.txt").write_text("some words that were embedded once\n")
    workspace.index()
    (workspace.root / "one.txt").rename(workspace.root / "two.txt")
    report = workspace.index()
    assert (report.indexed, report.deleted, report.chunks_embedded, report.chunks_reused) == (1, 1, 0, 1)


def test_a_run_below_a_path_prunes_only_there(workspace: Workspace) -> None:
    for name in ("a/one.txt", "b/two.txt"):
        (workspace.root / name).parent.mkdir()
        (workspace.root / name).write_text(f"text of {name}\n")
    workspace.index()
    for name in ("a/one.txt", "b/two.txt"):
        (workspace.root / name).unlink()
    report = workspace.index(folders=("f",), below="a")
    assert report.deleted == 1
    assert sorted(workspace.content()) == ["b/two.txt"]


def test_a_run_below_a_path_counts_what_is_skipped_there(workspace: Workspace) -> None:
    for name in ("a/one.txt", "a/empty.txt", "b/logo.png", "b/deep/empty.txt"):
        (workspace.root / name).parent.mkdir(exist_ok=True)
        (workspace.root / name).write_text("text\n" if name.endswith("one.txt") else "")
    assert workspace.index().skipped == {"binary": 1, "empty": 2}
    assert workspace.index(folders=("f",), below="a").skipped == {"empty": 1}
    assert workspace.index(folders=("f",), below="b").skipped == {"binary": 1, "empty": 1}
    assert workspace.index(folders=("f",), paths=("b/logo.png", "a")).skipped == {"binary": 1, "empty": 1}


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("empty.txt", "left out of the index: empty"),
        ("blob.dat", "cannot be read: binary"),
        ("big.txt", "left out of the index: too large, "),
        ("link.txt", "left out of the index: link"),
        ("node_modules/x.js", "left out of the index: ignored"),
        ("absent.txt", "it is absent"),
        ("a", "it is absent, or nothing that is ever listed (a directory"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_reason(workspace: Workspace, path: str, why: str) -> None:
    (workspace.root / "a").mkdir()
    (workspace.root / "node_modules").mkdir()
    (workspace.root / "node_modules" / "x.js").write_text("x\n")
    (workspace.root / "empty.txt").touch()
    (workspace.root / "blob.dat").write_bytes(bytes(range(256)) * 20)
    (workspace.root / "big.txt").write_text("a" * 600_000)
    (workspace.root / "link.txt").symlink_to("big.txt")
    with pytest.raises(FileNotIndexableError, match=re.escape(why)):
        workspace.engine().read_file(ReadFileRequest("f", path))


def test_a_missing_folder_keeps_its_chunks_and_the_others_go_on(workspace: Workspace, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (workspace.root / "one.txt").write_text("here\n")
    workspace.settings = IndexerSettings(
        tmp_path / "index", (Folder("f", str(workspace.root)), Folder("gone", str(other)))
    )
    (other / "kept.txt").write_text("kept\n")
    workspace.index()
    shutil.rmtree(other)
    (workspace.root / "new.txt").write_text("new\n")
    report = workspace.index()
    assert report.indexed == 1
    assert [e.ref.folder for e in report.errors] == ["gone"]
    assert sorted(workspace.content()) == ["kept.txt", "new.txt", "one.txt"]


def test_a_nested_added_folder_owns_its_files(workspace: Workspace, tmp_path: Path) -> None:
    inner = workspace.root / "inner"
    inner.mkdir()
    (workspace.root / "outer.txt").write_text("outer text\n")
    (inner / "inner.txt").write_text("inner text\n")
    workspace.index()
    workspace.settings = IndexerSettings(
        tmp_path / "index", (Folder("f", str(workspace.root)), Folder("inner", str(inner)))
    )
    report = workspace.index()
    assert sorted((ref.folder, ref.path) for ref in workspace.store.rows) == [
        ("f", "outer.txt"),
        ("inner", "inner.txt"),
    ]
    assert report.chunks_embedded == 0


def test_counts_of_a_run(workspace: Workspace) -> None:
    (workspace.root / "one.txt").write_text("one\n")
    (workspace.root / "empty.txt").write_text("")
    (workspace.root / "blank.txt").write_text("\n \n")
    (workspace.root / "data.bin").write_bytes(b"\x00\x01\x02" * 100)
    report = workspace.index()
    assert (report.indexed, report.unchanged, report.chunks_written, report.chunks_embedded) == (1, 0, 1, 1)
    assert dict(report.skipped) == {"binary": 1, "empty": 2}
    assert report.tokens == 1
    report = workspace.index()
    assert (report.indexed, report.unchanged) == (0, 1)
    assert dict(report.skipped) == {"binary": 1, "empty": 2}
    status = workspace.engine().status(skipped_files=True)
    assert [(s.ref.path, s.reason.value) for s in status.skipped_files] == [
        ("blank.txt", "empty"),
        ("data.bin", "binary"),
        ("empty.txt", "empty"),
    ]
    assert (status.coverage.files, status.coverage.chunks) == (1, 1)
    assert time.time() - status.indexed_at < 60


def test_what_waits_is_said_until_it_is_done(workspace: Workspace) -> None:
    for n in range(4):
        (workspace.root / f"{n}.txt").write_text(f"text {n}\n")
    assert workspace.index(max_files=1).pending == 3
    assert workspace.engine().status().coverage.pending == 3
    workspace.index()
    assert workspace.engine().status().coverage.pending == 0


def test_an_empty_folder_is_covered_until_it_is_forgotten(workspace: Workspace) -> None:
    workspace.index()
    assert [f.coverage.files for f in workspace.engine().status().folders] == [0]
    (location,) = (workspace.settings.index_directory / "indexes").iterdir()
    assert '"name":"f"' in (location / "coverage.json").read_text()
    (workspace.root / "only.bin").write_bytes(b"\x00" * 50)
    workspace.index()
    assert dict(workspace.engine().status().coverage.skipped) == {"binary": 1}
    assert workspace.engine().forget_folder("f") == 0
    assert '"name":"f"' not in (location / "coverage.json").read_text()


def test_a_run_whose_noise_cannot_be_measured_says_so(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(*_arguments: object) -> None:
        raise UnavailableError("no model answers", hint="Start it.")

    monkeypatch.setattr("everfind_indexer.running.run.is_due", lambda _target: True)
    monkeypatch.setattr("everfind_indexer.running.run.calibrate", gone)
    report = workspace.index()
    assert report.warnings == ("the model's noise could not be measured: no model answers",)
    assert report.calibration is None
