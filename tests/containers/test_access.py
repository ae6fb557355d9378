"""Who may ask what, from outside: tokens, their rotation, deadlines, request ids."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from everfind.indexer.v1 import run_pb2
from everfind.indexer.v1.indexer_service_pb2_grpc import IndexerServiceStub
from everfind_core.cancellation import Cancellation
from everfind_core.errors import (
    DeadlineExceededError,
    FolderNotFoundError,
    UnauthenticatedError,
    WorkspaceNotFoundError,
)
from everfind_core.errors import PermissionDeniedError as ScopeError
from everfind_core.model import GrepRequest, IndexRequest, ReadFileRequest, SearchRequest
from everfind_rpc.clients.calls import Calls
from everfind_rpc.clients.indexer import RemoteIndexer
from everfind_rpc.clients.searcher import RemoteSearcher
from tests.containers.conftest import FILES
from tests.support.team import Team

pytestmark = [pytest.mark.containers, pytest.mark.timeout(900)]

EVERYTHING = IndexRequest()


@pytest.fixture(scope="module", autouse=True)
def indexed(running: Team) -> None:
    with running.client() as remote:
        remote.indexer.index(EVERYTHING, lambda _event: None)


def create(team: Team, *arguments: str) -> str:
    return team.run("run", "--rm", "everfind", "token", "create", *arguments).strip()


@pytest.mark.parametrize("token", ["", "evf_wrong", "x"])
def test_without_a_known_token_nothing_is_answered(running: Team, token: str) -> None:
    with running.client(token) as remote:
        for call in (
            lambda: remote.searcher.search(SearchRequest("x")),
            remote.searcher.status,
            remote.indexer.folders,
            lambda: remote.indexer.grep(GrepRequest("x")),
            lambda: remote.indexer.read_file(ReadFileRequest("modules", "abc.py")),
            lambda: remote.indexer.index(EVERYTHING, lambda _event: None),
            remote.embedder.model,
        ):
            with pytest.raises(UnauthenticatedError):
                call()


def test_a_token_allows_its_scopes_and_folders_only(running: Team) -> None:
    with running.client(create(running, "reader")) as remote:
        assert remote.searcher.search(SearchRequest("copy a file")).hits
        with pytest.raises(ScopeError):
            remote.indexer.index(EVERYTHING, lambda _event: None)
    with running.client(create(running, "guest", "--folder", "other")) as remote:
        assert list(remote.indexer.folders()) == []
        with pytest.raises(FolderNotFoundError):
            remote.indexer.read_file(ReadFileRequest("modules", "abc.py"))
        with pytest.raises(FolderNotFoundError):
            remote.searcher.search(SearchRequest("copy a file"))


def test_tokens_are_rotated_under_load(running: Team) -> None:
    old, stop = create(running, "rotated"), threading.Event()

    def ask(token: str) -> int:
        """How many answers there were before the token was refused."""
        answers = 0
        with running.client(token) as remote:
            while not stop.is_set():
                try:
                    remote.searcher.search(SearchRequest("copy a file"))
                except UnauthenticatedError:
                    return answers
                answers += 1
        return -1

    with ThreadPoolExecutor(1) as thread:
        asked = thread.submit(ask, old)
        new = create(running, "rotated-2")
        running.run("run", "--rm", "everfind", "token", "revoke", "rotated")
        try:
            assert asked.result(30) > 0
        finally:
            stop.set()
    with running.client(new) as remote:
        assert remote.searcher.search(SearchRequest("copy a file")).hits


def test_the_services_own_token_is_rotated_without_an_outage(running: Team) -> None:
    rotate = ("python", "-m", "everfind_rpc.service_token", "--rotate", "/var/lib/everfind/tokens/services")
    with running.client() as remote:
        for _ in range(2):
            running.run("run", "--rm", "--entrypoint", rotate[0], "tokens", *rotate[1:])
            assert remote.searcher.search(SearchRequest("copy a file")).hits
            report = remote.indexer.index(replace(EVERYTHING, force=True, max_files=5), lambda _event: None)
            assert report.indexed == 5


def test_a_team_has_one_workspace_which_its_directories_name(running: Team, base: Path) -> None:
    with running.client() as remote:
        expected = remote.searcher.search(SearchRequest("copy a file"))
        for asked in ("", str(base / "modules"), str(base / "modules" / "sub")):
            assert RemoteSearcher(remote.connection, asked).search(SearchRequest("copy a file")).hits == expected.hits
            assert [folder.name for folder in RemoteIndexer(remote.connection, asked).folders()] == ["modules"]
        for asked in ("nope", "/etc", str(base)):
            with pytest.raises(WorkspaceNotFoundError):
                RemoteSearcher(remote.connection, asked).search(SearchRequest("copy a file"))
            with pytest.raises(WorkspaceNotFoundError):
                RemoteIndexer(remote.connection, asked).index(EVERYTHING, lambda _event: None)


def test_a_deadline_that_is_over_is_told(running: Team) -> None:
    with running.client() as remote:
        for seconds in (0.0, 0.001):
            with pytest.raises(DeadlineExceededError):
                remote.searcher.search(SearchRequest("x"), cancel=Cancellation(time.monotonic() + seconds))
        assert remote.searcher.search(SearchRequest("copy a file")).hits


def test_a_replayed_request_id_is_the_same_run_until_the_indexer_forgets_it(running: Team) -> None:
    request = run_pb2.CreateIndexRunRequest(request_id="once")
    with running.client() as remote:
        calls, stub = Calls(remote.connection), IndexerServiceStub(remote.connection.channel)
        created = [calls.unary(stub.CreateIndexRun, request, seconds=10).run.id for _ in range(5)]
        assert len(set(created)) == 1
        report = remote.indexer.index(replace(EVERYTHING, request_id="once"), lambda _event: None)
        again = remote.indexer.index(replace(EVERYTHING, request_id="once"), lambda _event: None)
        assert again == report
        running.run("restart", "indexer")
        running.up()
        after = remote.indexer.index(replace(EVERYTHING, request_id="once"), lambda _event: None)
        assert (after.indexed, after.unchanged) == (0, FILES)
