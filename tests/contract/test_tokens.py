"""Tokens over the wire: scopes, rotation, and folders that do not exist for a limited token, whatever it calls."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.message import Message

from everfind.indexer.v1 import indexer_service_pb2 as indexer_pb
from everfind.indexer.v1.indexer_service_pb2_grpc import IndexerServiceStub
from everfind_core.errors import (
    EverfindError,
    FolderNotFoundError,
    InvalidRequestError,
    PermissionDeniedError,
    RunNotFoundError,
    UnauthenticatedError,
    UnavailableError,
)
from everfind_core.model import (
    AddFolderRequest,
    Filters,
    Folder,
    GatherRequest,
    GrepRequest,
    IndexRequest,
    InputKind,
    ReadFileRequest,
    RelatedRequest,
    RemoveFolderRequest,
    RunEvent,
    SearchRequest,
)
from everfind_core.ports import Embedder
from everfind_indexer.engine import IndexEngine
from everfind_indexer.settings import IndexerSettings
from everfind_indexer.store import open_writer
from everfind_indexer.syntax import SyntaxChunker
from everfind_rpc.auth import Scope, TokenFile
from everfind_rpc.clients.calls import Calls
from everfind_rpc.serving.server import ServerSettings
from everfind_searcher.engine import SearchEngine
from everfind_searcher.settings import SearcherSettings
from everfind_searcher.store import open_reader
from tests.contract.conftest import Engines
from tests.support.corpus import FILES, write_corpus
from tests.support.serving import Remote, connected, serves, serving

SECRET = ("zebra", "/code", "WriteAtomic", "session", "getUserName", "1.0.21")
"""What only the other folder holds: its name, its place, its files and words."""


@dataclass
class Team:
    tokens: TokenFile
    address: str
    base: Path
    stack: contextlib.ExitStack

    def connect(self, *scopes: Scope, folders: tuple[str, ...] = ()) -> Remote:
        _, secret = self.tokens.create("someone", scopes, folders)
        return self.stack.enter_context(connected(self.address, secret))


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory, embedder: Embedder) -> Iterator[Team]:
    base = tmp_path_factory.mktemp("team")
    write_corpus(base)
    (base / "code" / "zebra.bin").write_bytes(b"\0")
    folders = (Folder("zebra", str(base / "code")), Folder("docs", str(base / "docs")))
    indexer = IndexEngine(IndexerSettings(base / "index", folders), embedder, SyntaxChunker(), open_writer)
    indexer.index(IndexRequest(), lambda _event: None)
    searcher = SearchEngine(SearcherSettings(base / "index"), embedder, indexer, open_reader)
    engines = Engines(embedder, indexer, searcher, base)
    tokens = TokenFile(base / "tokens.json")
    tokens.create("operator", [Scope.ADMIN])
    settings = ServerSettings("127.0.0.1:0", tokens, drain_seconds=0.0, grace_seconds=5.0)
    with contextlib.ExitStack() as stack:
        address = stack.enter_context(serving(engines.services(), settings))
        yield Team(tokens, address, base, stack)
    searcher.close()


CALLS: dict[str, tuple[Callable[[Remote], object], set[Scope]]] = {
    "search": (lambda r: r.searcher.search(SearchRequest("token")), {Scope.SEARCH}),
    "gather": (lambda r: r.searcher.gather(GatherRequest(SearchRequest("token"))), {Scope.SEARCH}),
    "related": (lambda r: r.searcher.related(RelatedRequest(symbol="x")), {Scope.SEARCH}),
    "searcher status": (lambda r: r.searcher.status(), {Scope.SEARCH}),
    "read": (lambda r: r.indexer.read_file(ReadFileRequest("docs", "auth.md")), {Scope.SEARCH}),
    "grep": (lambda r: r.indexer.grep(GrepRequest("token")), {Scope.SEARCH}),
    "files": (lambda r: r.indexer.indexed_files(), {Scope.SEARCH, Scope.INDEX}),
    "folders": (lambda r: r.indexer.folders(), {Scope.SEARCH, Scope.INDEX}),
    "status": (lambda r: r.indexer.status(skipped_files=True), {Scope.SEARCH, Scope.INDEX}),
    "index": (lambda r: r.indexer.index(IndexRequest(), lambda _event: None), {Scope.INDEX}),
    "add folder": (lambda r: _unless_invalid(lambda: r.indexer.add_folder(AddFolderRequest(""))), set()),
    "remove folder": (lambda r: _unless_invalid(lambda: r.indexer.remove_folder(RemoveFolderRequest(""))), set()),
    "verify": (lambda r: r.indexer.status(verify=True), set()),
    "compare": (lambda r: r.indexer.status(compare=True), set()),
    "repair": (lambda r: r.indexer.index(IndexRequest(repair=True), lambda _event: None), set()),
    "model": (lambda r: r.embedder.model(), {Scope.SEARCH, Scope.INDEX}),
    "tokenizer": (lambda r: r.embedder.tokenizer(), {Scope.SEARCH, Scope.INDEX}),
    "embed": (lambda r: r.embedder.embed(["x"], InputKind.QUERY), {Scope.SEARCH, Scope.INDEX}),
}


def _unless_invalid(call: Callable[[], object]) -> None:
    """A call that changes nothing, whoever makes it."""
    with contextlib.suppress(InvalidRequestError):
        call()


@pytest.mark.parametrize("name", CALLS)
def test_a_call_needs_its_scope(team: Team, name: str) -> None:
    call, scopes = CALLS[name]
    for scope in Scope:
        remote = team.connect(scope)
        if scope in scopes or scope is Scope.ADMIN:
            call(remote)
        else:
            with pytest.raises(PermissionDeniedError, match="scope"):
                call(remote)


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("token", ["", "evf_wrong", "é", " "])
def test_no_call_works_without_a_known_token(team: Team, name: str, token: str) -> None:
    token = token.encode("ascii", "replace").decode()
    with connected(team.address, token) as remote, pytest.raises(UnauthenticatedError):
        CALLS[name][0](remote)


def test_a_token_that_is_limited_to_folders_changes_none(team: Team) -> None:
    limited = team.connect(Scope.ADMIN, folders=("docs",))
    before = team.connect(Scope.ADMIN).indexer.folders()
    for root in (team.base / "more", team.base / "absent"):
        with pytest.raises(PermissionDeniedError, match="limited to folders cannot add folders"):
            limited.indexer.add_folder(AddFolderRequest(str(root)))
    for folder in ("docs", "zebra", "nowhere", str(team.base / "code")):
        with pytest.raises(PermissionDeniedError, match="limited to folders cannot remove folders"):
            limited.indexer.remove_folder(RemoveFolderRequest(folder))
    assert team.connect(Scope.ADMIN).indexer.folders() == before


def test_health_needs_no_token(team: Team) -> None:
    with connected(team.address) as remote:
        assert serves(remote.connection, "")


def test_a_revoked_token_is_refused_from_then_on(team: Team) -> None:
    token, secret = team.tokens.create("leaver", [Scope.SEARCH])
    with connected(team.address, secret) as remote:
        remote.searcher.search(SearchRequest("token"))
        team.tokens.revoke(token.id)
        with pytest.raises(UnauthenticatedError):
            remote.searcher.search(SearchRequest("token"))


def test_a_token_file_that_breaks_lets_nobody_in_and_is_not_shown(team: Team) -> None:
    remote = team.connect(Scope.SEARCH)
    kept = team.tokens.path.read_text()
    try:
        team.tokens.path.write_text("{")
        with pytest.raises(UnavailableError) as caught:
            remote.searcher.search(SearchRequest("token"))
        assert "tokens.json" not in f"{caught.value} {caught.value.hint} {caught.value.details}"
        team.tokens.path.unlink()
        with connected(team.address) as nobody:
            nobody.searcher.search(SearchRequest("token"))  # on loopback, as before the first token
    finally:
        team.tokens.path.write_text(kept)
    remote.searcher.search(SearchRequest("token"))


# --- folders --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def limited(team: Team) -> Remote:
    return team.connect(Scope.SEARCH, Scope.INDEX, folders=("docs",))


def test_all_of_the_own_folder_is_there(limited: Remote) -> None:
    docs = {name.removeprefix("docs/") for name in FILES if name.startswith("docs/")}
    answer = limited.searcher.search(SearchRequest("token", limit=100, min_score=-1.0))
    assert {hit.path for hit in answer.hits} == docs
    assert answer.coverage.files == len(docs)
    assert [folder.name for folder in limited.indexer.folders()] == ["docs"]
    assert limited.indexer.grep(GrepRequest("e")).files_searched == len(docs)
    status = limited.indexer.status(skipped_files=True)
    assert [f.folder.name for f in status.folders] == ["docs"]
    assert status.coverage.files == len(docs)
    assert status.coverage.skipped == {}
    report = limited.indexer.index(IndexRequest(), lambda _event: None)
    assert report.unchanged == len(docs)


ABOVE = "../code/src/storage/atomic.go"
Probe = Callable[[Remote, str], object]

PROBES: dict[str, Probe] = {
    "search": lambda r, f: r.searcher.search(SearchRequest(f"atomic write {f}", limit=100)),
    "search by path": lambda r, f: r.searcher.search(SearchRequest("x", filters=Filters(include=("*.go", f)))),
    "search all": lambda r, f: r.searcher.search(SearchRequest("x", limit=100, filters=Filters(all_statuses=True))),
    "gather": lambda r, f: r.searcher.gather(GatherRequest(SearchRequest("x", limit=100), context_lines=200)),
    "search with a hop": lambda r, f: r.searcher.search(SearchRequest(f"write {f}", limit=100, graph_hops=1)),
    "related": lambda r, f: r.searcher.related(RelatedRequest(symbol="refresh_token", limit=100)),
    "related to a place": lambda r, f: r.searcher.related(RelatedRequest(folder="docs", path=ABOVE, line=4)),
    "similar": lambda r, f: r.searcher.related(RelatedRequest(folder="docs", path="auth.md", line=3, limit=100)),
    "searcher status": lambda r, f: r.searcher.status(),
    "read above": lambda r, f: r.indexer.read_file(ReadFileRequest("docs", ABOVE)),
    "read absolute": lambda r, f: r.indexer.read_file(ReadFileRequest("docs", "/etc/passwd")),
    "grep": lambda r, f: r.indexer.grep(GrepRequest("def ")),
    "grep by path": lambda r, f: r.indexer.grep(GrepRequest("e", globs=("*.py", "*.go", "src", f))),
    "folders": lambda r, f: r.indexer.folders(),
    "files": lambda r, f: r.indexer.indexed_files(),
    "files by path": lambda r, f: r.indexer.indexed_files(globs=("*.py", "*.go", "src", f)),
    "status": lambda r, f: r.indexer.status(skipped_files=True),
    "index": lambda r, f: _events(r, IndexRequest(force=True)),
    "rebuild": lambda r, f: _events(r, IndexRequest(rebuild=True)),
    "repair": lambda r, f: _events(r, IndexRequest(repair=True)),
}
"""Calls that name no folder, or hide one in another field."""

NAMED: dict[str, Probe] = {
    "search": lambda r, f: r.searcher.search(SearchRequest("x", filters=Filters(folders=(f,)))),
    "search beside": lambda r, f: r.searcher.search(SearchRequest("x", filters=Filters(folders=("docs", f)))),
    "gather": lambda r, f: r.searcher.gather(GatherRequest(SearchRequest("x", filters=Filters(folders=(f,))))),
    "related": lambda r, f: r.searcher.related(RelatedRequest(symbol="x", filters=Filters(folders=(f,)))),
    "related in": lambda r, f: r.searcher.related(RelatedRequest(symbol="refresh_token", folder=f)),
    "related to a place": lambda r, f: r.searcher.related(RelatedRequest(folder=f, path="src/session.py", line=6)),
    "read": lambda r, f: r.indexer.read_file(ReadFileRequest(f, "src/storage/atomic.go")),
    "read absent": lambda r, f: r.indexer.read_file(ReadFileRequest(f, "absent")),
    "grep": lambda r, f: r.indexer.grep(GrepRequest("def", folders=(f,))),
    "grep beside": lambda r, f: r.indexer.grep(GrepRequest("def", folders=("docs", f))),
    "index": lambda r, f: _events(r, IndexRequest(folders=(f,))),
    "index below": lambda r, f: _events(r, IndexRequest(folders=(f,), below="src")),
    "files": lambda r, f: r.indexer.indexed_files(folder=f),
    "skipped": lambda r, f: _raw(r, "ListSkippedFiles", indexer_pb.ListSkippedFilesRequest(folder=f)),
}
"""Calls that name one."""

NAMES = ("zebra", "nope", "ZEBRA", "docs/../zebra", "\0", "' OR '1'='1", "*")


@pytest.mark.parametrize("name", PROBES)
@pytest.mark.parametrize("folder", NAMES)
def test_no_call_shows_another_folder(limited: Remote, name: str, folder: str) -> None:
    text = _outcome(limited, PROBES[name], folder).replace(repr(folder)[1:-1], "?")
    assert not [word for word in SECRET if word in text]


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("folder", ["zebra", "ZEBRA", "docs/../zebra"])
def test_another_folder_is_refused_as_one_that_is_not_there(limited: Remote, name: str, folder: str) -> None:
    there, nowhere = (_outcome(limited, NAMED[name], f).replace(repr(f), "?") for f in (folder, "nowhere"))
    assert there == nowhere
    assert "Error" in there


def _outcome(remote: Remote, probe: Probe, folder: str) -> str:
    """What the caller gets to see, whether answer or error; without what it has put into its own request."""
    try:
        return repr(probe(remote, folder))
    except EverfindError as error:
        text = f"{type(error).__name__} {error.message} {error.hint} {error.details} {error.violations}"
        return text.replace(ABOVE, "")


def _raw(remote: Remote, method: str, request: Message) -> Any:
    """A call that the ports do not have."""
    calls, stub = Calls(remote.connection), IndexerServiceStub(remote.connection.channel)
    return calls.unary(getattr(stub, method), request, seconds=5)


def _events(remote: Remote, request: IndexRequest) -> list[RunEvent]:
    events: list[RunEvent] = []
    remote.indexer.index(request, events.append)
    return events


def test_the_runs_of_others_do_not_exist(team: Team, limited: Remote) -> None:
    operator = team.connect(Scope.INDEX)
    operator.indexer.index(IndexRequest(request_id="theirs"), lambda _event: None)
    limited.indexer.index(IndexRequest(request_id="ours"), lambda _event: None)
    everything, ours = (
        {run.request.request_id: run.id for run in _raw(r, "ListIndexRuns", indexer_pb.ListIndexRunsRequest()).runs}
        for r in (operator, limited)
    )
    assert {"theirs", "ours"} <= set(everything)
    assert "ours" in ours
    assert "theirs" not in ours
    for call in (
        lambda: limited.indexer.cancel_run(everything["theirs"]),
        lambda: _raw(limited, "GetIndexRun", indexer_pb.GetIndexRunRequest(run_id=everything["theirs"])),
    ):
        with pytest.raises(RunNotFoundError):
            call()


def test_a_limited_token_whose_folders_are_not_there_sees_nothing(team: Team) -> None:
    remote = team.connect(Scope.SEARCH, Scope.INDEX, folders=("later",))
    assert remote.indexer.folders() == []
    assert remote.indexer.status().coverage.files == 0
    for name in ("search", "gather", "grep", "index"):
        with pytest.raises(FolderNotFoundError, match="none of this token's folders"):
            PROBES[name](remote, "later")
