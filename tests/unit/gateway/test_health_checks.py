"""What doctor says of servers and of files that changed."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from everfind_core import __version__
from everfind_core.errors import IndexMissingError
from everfind_core.model import Coverage, FileRef, Folder, FolderStatus, IndexedFile, Severity, WorkspaceStatus
from everfind_core.paths import encode_os_path
from everfind_gateway.running import Announcement
from everfind_gateway.server_health import check_server_asked, check_server_here
from everfind_gateway.settings import load_settings
from everfind_gateway.stale_files import check_stale, stale
from tests.support.gateway import FakeEngines, Outcome

STATUS = WorkspaceStatus("", "/srv/index", 1, (), Coverage())


def test_no_server_is_well(home: Path) -> None:
    finding = check_server_here(load_settings())
    assert (finding.severity, finding.message) == (
        Severity.OK, "no `everfind serve` runs here; each command does its own work",
    )  # fmt: skip


def test_a_server_of_other_settings_or_one_that_is_not_asked_or_does_not_answer_is_said(home: Path) -> None:
    settings = load_settings()
    with Announcement(settings.index_dir, "other") as word:
        word.publish("127.0.0.1:1")
        finding = check_server_here(settings)
        assert finding.severity is Severity.WARNING
        assert finding.message.endswith("runs with other settings or folders, so searches do not ask it")
        assert f"process {os.getpid()}, 127.0.0.1:1" in finding.message
    with Announcement(settings.index_dir, settings.digest) as word:
        word.publish("127.0.0.1:1")
        finding = check_server_here(settings)
        assert finding.severity is Severity.WARNING
        assert "does not answer: " in finding.message
        finding = check_server_here(load_settings(flags={"local_server": False}))
        assert (finding.severity, "`local_server` is off" in finding.message) == (Severity.OK, True)
    assert check_server_here(settings).severity is Severity.OK


def test_a_server_that_is_asked_says_its_version() -> None:
    same = check_server_asked("far:1", replace(STATUS, version=__version__))
    assert (same.severity, same.message) == (Severity.OK, f"far:1 answers: everfind {__version__}")
    other = check_server_asked("far:1", replace(STATUS, version="9.9.9"))
    assert (other.severity, other.message) == (
        Severity.WARNING, f"far:1 answers: everfind 9.9.9, this is {__version__}",
    )  # fmt: skip


def indexed(root: Path, name: str) -> IndexedFile:
    found = (root / name).stat()
    return IndexedFile(FileRef("notes", encode_os_path(name)), found.st_size, found.st_mtime_ns / 1e9, 1)


@pytest.fixture
def root(home: Path) -> Path:
    root = home / "notes"
    root.mkdir()
    for name in ("a.md", "b%41.md", "c.md", "d.md"):
        (root / name).write_text("text\n")
        os.utime(root / name, ns=(1_700_000_000_123_456_789, 1_700_000_000_123_456_789))
    return root


def test_files_that_changed_or_are_gone_are_counted(root: Path) -> None:
    files = [indexed(root, name) for name in ("a.md", "b%41.md", "c.md", "d.md")]
    assert stale(files, {"notes": str(root)}) == (0, 0)
    (root / "a.md").write_text("longer text\n")
    os.utime(root / "b%41.md", ns=(0, 1_700_000_001_000_000_000))
    (root / "c.md").unlink()
    assert stale(files, {"notes": str(root)}) == (2, 1)


def test_stale_files_are_a_warning_with_the_next_command(
    root: Path, engines: FakeEngines, monkeypatch: pytest.MonkeyPatch
) -> None:
    status = replace(STATUS, folders=(FolderStatus(Folder("notes", str(root)), Coverage()),))
    files = [indexed(root, name) for name in ("a.md", "b%41.md", "c.md")]
    monkeypatch.setattr(engines, "indexed_files", lambda: files)
    [finding] = check_stale(engines, status)
    assert (finding.severity, finding.message) == (Severity.OK, "3 files on disk as indexed")
    (root / "a.md").unlink()
    [finding] = check_stale(engines, status)
    assert (finding.severity, finding.message) == (
        Severity.WARNING, "of 3 files that are indexed, 1 gone since",
    )  # fmt: skip
    assert "`everfind index`" in finding.hint
    assert check_stale(engines, STATUS) == []
    engines.error = IndexMissingError("there is no index")
    monkeypatch.undo()
    assert check_stale(engines, status) == []


def test_status_says_what_is_found_by_meaning_and_what_leaves_the_machine(
    everfind: Callable[..., Outcome], engines: FakeEngines
) -> None:
    told = everfind("status").out
    assert "\nsemantic   all chunks have vectors\n" in told
    assert "\noutgoing   nothing leaves this machine\n" in told
    assert "\noutgoing   what you ask goes to far:1\n" in everfind("--server", "far:1", "status").out
