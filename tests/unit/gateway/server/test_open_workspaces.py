"""Which workspaces a server has open: found by name or directory, opened once, closed only when nobody uses them."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from everfind_core.cancellation import Cancellation
from everfind_core.errors import ConfigError, EverfindError, OverloadedError, UnavailableError, WorkspaceNotFoundError
from everfind_core.model import Folder, Severity
from everfind_gateway.config.folders import add_folders
from everfind_gateway.config.named_workspaces import named_workspace
from everfind_gateway.config.settings import Settings
from everfind_gateway.server.open_workspaces import OpenServices, OpenWorkspaces, Own
from everfind_gateway.server.served import Served, ServedWorkspace
from everfind_rpc.auth import LOCAL, Principal, Scope
from everfind_rpc.clients import searcher
from everfind_rpc.serving.service import Call, Service

SECONDS = 30.0


@dataclass
class Opener:
    """Opens nothing, and keeps what it was asked for."""

    opened: list[str] = field(default_factory=list)
    closed: list[str] = field(default_factory=list)
    renewed: list[str] = field(default_factory=list)
    running: set[str] = field(default_factory=set)
    stopped: list[str] = field(default_factory=list)

    def open(self, place: ServedWorkspace, _settings: Settings) -> OpenServices:
        self.opened.append(place.id)
        service = Service(
            searcher.SERVICE,
            {},
            stop=lambda: self.stopped.append(place.id),
            busy=lambda: place.id in self.running,
        )
        return OpenServices([service], self.renewed.append, lambda: self.closed.append(place.id))


@pytest.fixture
def opener() -> Opener:
    return Opener()


def make_project(root: Path, settings: str = "folders = []\n") -> str:
    (root / ".everfind").mkdir(parents=True)
    (root / ".everfind" / "config.toml").write_text(settings)
    return str(root)


def call(principal: Principal = LOCAL) -> Call:
    return Call(principal, Cancellation(), "r")


def workspaces(
    opener: Opener,
    *served: str,
    limit: int = 8,
    own: Sequence[Folder] = (),
    own_index: str = "/own",
    patience: float = SECONDS,
) -> OpenWorkspaces:
    mine = Own([Service(searcher.SERVICE, {})], lambda: own, Path(own_index))
    return OpenWorkspaces(mine, Served(served), opener.open, limit=limit, patience=patience)


def held(spaces: OpenWorkspaces, asked: str, principal: Principal = LOCAL) -> str:
    with spaces.hold(asked, call(principal)) as one:
        return one.id


@pytest.fixture
def srv(home: Path) -> Path:
    """Where projects are served: ``a`` and ``b`` with ``b/inner`` in it; ``plain`` is none."""
    for name in ("a", "b", "b/inner"):
        make_project(home / "srv" / name)
    (home / "srv" / "plain").mkdir()
    make_project(home / "other")
    return home / "srv"


def test_a_directory_is_of_the_innermost_project(opener: Opener, srv: Path) -> None:
    (srv / "b" / "inner" / "src").mkdir()
    (srv / "link").symlink_to(srv / "a")
    (srv / "out").symlink_to(srv.parent / "other")
    spaces = workspaces(opener, f"{srv}", own=[Folder("srv", str(srv / "plain")), Folder("deep", f"{srv}/a/deep")])
    found = {
        "": "",
        "a": str(srv / "a"),
        "a/": str(srv / "a"),
        "a/not/there": str(srv / "a"),
        "a/deep/x": "",  # a folder of the server's own lies further in
        "b/inner/src": str(srv / "b" / "inner"),
        "b/other": str(srv / "b"),
        "link/x": str(srv / "a"),
        "plain": "",
        "a/../b": str(srv / "b"),
    }
    assert {path: held(spaces, path and f"{srv}/{path}") for path in found} == found
    for path in (f"{srv}/ax", f"{srv}", "/", f"{srv.parent}/other", f"{srv}/out", "a", "./a", "\ud800", "/%", "/a\0"):
        with pytest.raises(WorkspaceNotFoundError):
            held(spaces, path)


def test_names_are_those_that_were_listed(opener: Opener, home: Path) -> None:
    for name in ("lib", "secret"):
        (home / name).mkdir()
        workspace = named_workspace(name, may_be_missing=True)
        add_folders(workspace.file, [str(home / name)], index_dir=workspace.index_dir)
    spaces = workspaces(opener, "lib")
    assert held(spaces, "lib") == "lib"
    for asked in ("secret", "lib/", str(home / "lib")):
        with pytest.raises(WorkspaceNotFoundError):
            held(spaces, asked)
    with pytest.raises(WorkspaceNotFoundError, match="no workspace is named 'lob'"):
        Served(["lob"])
    with pytest.raises(ConfigError, match="is no directory"):
        Served([f"{home}/absent"])


def test_what_does_not_exist_for_a_token(opener: Opener, srv: Path) -> None:
    spaces = workspaces(opener, f"{srv}", own=[Folder("docs", "/docs"), Folder("wiki", "/wiki")])
    scopes = frozenset({Scope.SEARCH})
    of_a = Principal("a", scopes, None, frozenset({f"{srv}/a"}))
    of_docs = Principal("d", scopes, frozenset({"docs"}), frozenset({""}))
    assert held(spaces, f"{srv}/a/x", of_a) == f"{srv}/a"
    assert held(spaces, "/docs/x", of_docs) == ""
    assert held(spaces, f"{srv}/b", Principal("s", scopes, None, frozenset({f"{srv}"}))) == f"{srv}/b"
    for principal, asked in (
        (of_a, ""),
        (of_a, f"{srv}/b"),
        (of_a, "/docs"),
        (of_docs, f"{srv}/a"),
        (of_docs, "/wiki"),
    ):
        with pytest.raises(WorkspaceNotFoundError):
            held(spaces, asked, principal)
    assert opener.opened == [f"{srv}/a", f"{srv}/b"]


def test_the_one_used_longest_ago_is_closed_for_another(opener: Opener, srv: Path) -> None:
    a, b, inner = f"{srv}/a", f"{srv}/b", f"{srv}/b/inner"
    spaces = workspaces(opener, f"{srv}", limit=2)
    for asked in (a, b, a, inner, a, b):
        held(spaces, asked)
    assert opener.opened == [a, b, inner, b]
    assert opener.closed == [b, inner]
    assert [one.workspace for one in spaces.opened()] == ["", b, a]
    spaces.close()
    assert sorted(opener.closed) == sorted([b, inner, a, b])
    with pytest.raises(UnavailableError):
        held(spaces, a)


def test_what_is_in_use_is_not_closed(opener: Opener, srv: Path) -> None:
    a, b = f"{srv}/a", f"{srv}/b"
    spaces = workspaces(opener, f"{srv}", limit=1)
    with ThreadPoolExecutor() as threads, spaces.hold(a, call()):
        waiting = threads.submit(held, spaces, b)
        while not waiting.running():
            time.sleep(0.001)
        assert held(spaces, a) == a
        assert opener.closed == []
        assert not waiting.done()
    assert waiting.result(SECONDS) == b
    assert opener.closed == [a]


def test_nobody_waits_for_ever(opener: Opener, srv: Path) -> None:
    spaces = workspaces(opener, f"{srv}", limit=1, patience=0.0)
    with spaces.hold(f"{srv}/a", call()), pytest.raises(OverloadedError, match="has 1 workspaces in use"):
        held(spaces, f"{srv}/b")


def test_a_run_keeps_its_workspace_open(opener: Opener, srv: Path) -> None:
    a, b = f"{srv}/a", f"{srv}/b"
    spaces = workspaces(opener, f"{srv}", limit=1)
    opener.running.add(a)
    held(spaces, a)
    with pytest.raises(OverloadedError):  # at once: a run may take hours
        held(spaces, b)
    assert [(one.workspace, one.indexing) for one in spaces.opened()] == [("", False), (a, True)]
    opener.running.clear()
    assert held(spaces, b) == b
    assert opener.closed == [a]


def test_a_call_that_is_cancelled_waits_no_longer(opener: Opener, srv: Path) -> None:
    spaces = workspaces(opener, f"{srv}", limit=1)
    late = Call(LOCAL, Cancellation(time.monotonic() - 1), "r")
    with spaces.hold(f"{srv}/a", call()), pytest.raises(Exception, match="deadline"), spaces.hold(f"{srv}/b", late):
        pass


def test_many_that_ask_at_once_open_one(srv: Path) -> None:
    opener = Opener()
    spaces = workspaces(opener, f"{srv}", limit=2)
    asked = [f"{srv}/{name}" for name in ("a", "b", "b/inner")] * 20

    def use(place: str) -> str:
        with spaces.hold(place, call()) as one:
            assert opener.closed.count(one.id) < opener.opened.count(one.id), "closed under a call"
            return one.id

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(use, asked, timeout=SECONDS)) == asked
    assert len(spaces.opened()) <= 3
    spaces.close()
    assert sorted(opener.opened) == sorted(opener.closed)


@pytest.mark.parametrize(
    ("written", "again"),
    [('folders = [{ path = "docs" }]\n', False), ("folders = []\nchunk_tokens = 100\n", True)],
)
def test_settings_that_change_take_effect(opener: Opener, srv: Path, written: str, again: bool) -> None:
    spaces = workspaces(opener, f"{srv}")
    with spaces.hold(f"{srv}/a", call()):
        (srv / "a" / ".everfind" / "config.toml").write_text(written)
        assert held(spaces, f"{srv}/a") == f"{srv}/a"
        assert opener.closed == [], "a call was under way"
    spaces.look()
    assert opener.opened == [f"{srv}/a"] * (1 + again)
    assert opener.closed == [f"{srv}/a"] * again
    assert len(opener.renewed) == (not again)
    assert len(spaces.opened()) == 2


def test_a_project_that_cannot_be_used_says_so(opener: Opener, srv: Path) -> None:
    (srv / "a" / ".everfind" / "config.toml").write_text("folders = []\nserver = 'evil:1'\n")
    spaces = workspaces(opener, f"{srv}")
    with pytest.raises(ConfigError, match="must not set 'server'"):
        held(spaces, f"{srv}/a")
    assert held(spaces, f"{srv}/b") == f"{srv}/b"
    spaces.look()


def test_a_variable_does_not_give_all_one_index(opener: Opener, srv: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVERFIND_INDEX_DIR", str(srv / "one"))
    with pytest.raises(ConfigError, match="would give all projects of the server one index"):
        held(workspaces(opener, f"{srv}"), f"{srv}/a")


def test_the_servers_own_project_is_not_opened_again(opener: Opener, srv: Path) -> None:
    spaces = workspaces(opener, f"{srv}", f"{srv}/a", f"{srv}/b", own_index=f"{srv}/a/.everfind/index")
    refused: list[EverfindError] = []
    spaces.open_listed(refused.append)
    assert (opener.opened, refused) == ([f"{srv}/b"], [])
    assert held(spaces, f"{srv}/a/x") == ""


def test_one_that_cannot_be_opened_keeps_no_other_closed(opener: Opener, srv: Path) -> None:
    (srv / "a/.everfind/config.toml").write_text("folders = []\nserver = 'elsewhere:1'\n")
    refused: list[EverfindError] = []
    workspaces(opener, f"{srv}/a", f"{srv}/b").open_listed(refused.append)
    assert opener.opened == [f"{srv}/b"]
    assert ["must not set 'server'" in error.message for error in refused] == [True]


def test_a_file_that_cannot_be_read_is_of_its_own_workspace_alone(opener: Opener, srv: Path) -> None:
    (srv / "a/.everfind/config.toml").write_text("folders = [\n")
    broken = named_workspace("broken", may_be_missing=True)
    broken.file.path.parent.mkdir(parents=True)
    broken.file.path.write_bytes(b"folders = '\xff'\n")
    spaces = workspaces(opener, f"{srv}/a", f"{srv}/b", "broken")
    refused: list[EverfindError] = []
    spaces.open_listed(refused.append)
    assert opener.opened == [f"{srv}/b"]
    assert len(refused) == 2
    told = dict(spaces.findings())
    assert list(told) == ["broken", f"{srv}/a"]
    for asked, where in (("broken", broken.file.path), (f"{srv}/a/x", srv / "a/.everfind/config.toml")):
        with pytest.raises(ConfigError, match=re.escape(f"{where}:")):
            held(spaces, asked)
    assert told[f"{srv}/a"].severity is Severity.ERROR
    assert f"{srv}/a: " in told[f"{srv}/a"].message
    (srv / "a/.everfind/config.toml").write_text("folders = []\n")
    assert list(dict(spaces.findings())) == ["broken"]
    assert held(spaces, f"{srv}/a/x") == f"{srv}/a"


def test_a_file_that_cannot_be_looked_at_is_said_and_not_taken_for_absent(opener: Opener, srv: Path) -> None:
    shutil.rmtree(srv / "a/.everfind")
    (srv / "a/.everfind").symlink_to(".everfind")  # a loop; a directory of another user is the same
    spaces = workspaces(opener, f"{srv}/a", f"{srv}/b")
    refused: list[EverfindError] = []
    spaces.open_listed(refused.append)
    assert opener.opened == [f"{srv}/b"]
    why = f"cannot read the settings file {srv}/a/.everfind/config.toml: "
    assert [error.message.startswith(why) for error in refused] == [True]
    with pytest.raises(ConfigError, match=re.escape(why)):
        held(spaces, f"{srv}/a/x")
    assert why in dict(spaces.findings())[f"{srv}/a"].message


def test_one_index_is_not_opened_under_two_names(opener: Opener, home: Path) -> None:
    (home / "lib").mkdir()
    workspace = named_workspace("lib", may_be_missing=True)
    add_folders(workspace.file, [str(home / "lib")], index_dir=workspace.index_dir)
    workspace.file.root.with_name("alias").symlink_to(workspace.file.root)
    spaces = workspaces(opener, "lib", "alias")
    assert held(spaces, "lib") == "lib"
    with pytest.raises(ConfigError, match="the workspaces lib and alias have one index directory"):
        held(spaces, "alias")
    mine = workspaces(opener, "alias", own_index=str(workspace.index_dir))
    assert held(mine, "alias") == ""


@pytest.mark.parametrize("end", [OpenWorkspaces.stop, OpenWorkspaces.close])
def test_stopping_ends_what_outlives_calls(opener: Opener, srv: Path, end: Callable[[OpenWorkspaces], None]) -> None:
    spaces = workspaces(opener, f"{srv}")
    held(spaces, f"{srv}/a")
    end(spaces)
    assert opener.stopped == [f"{srv}/a"]


def test_what_may_be_kept_in_memory_is_shared_out(srv: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVERFIND_RESIDENT_BYTES", "8000")
    monkeypatch.setenv("EVERFIND_MAX_WORKSPACES", "4")
    served = Served([str(srv)])
    place = served.find(f"{srv}/a")
    assert place is not None
    assert served.load(place).resident_bytes == 2000
