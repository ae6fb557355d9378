"""What happens to a team whose parts die, hang or go missing: an index as if nothing had been, and no wrong answer."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from everfind_core.errors import (
    DeadlineExceededError,
    EverfindError,
    IndexMissingError,
    OverloadedError,
    UnavailableError,
)
from everfind_core.model import FileProcessed, IndexReport, IndexRequest, RunEvent, SearchRequest
from everfind_rpc.clients.indexer import RemoteIndexer
from tests.containers.conftest import FILES, QUERIES, Truth, places
from tests.support.index_content import content_of
from tests.support.serving import Remote
from tests.support.team import Team

pytestmark = [pytest.mark.containers, pytest.mark.timeout(900)]

SERVICES = ("embedder", "indexer", "searcher", "gateway")
OUTAGE = (UnavailableError, DeadlineExceededError, OverloadedError, IndexMissingError)
"""What a client may see while something is missing; the last before the first commit."""


EMPTY = """
import os, shutil
for entry in os.scandir(os.environ["EVERFIND_INDEX_DIR"]):
    shutil.rmtree(entry) if entry.is_dir() else os.unlink(entry)
"""


@dataclass
class Client:
    """Somebody who asks all the time, and checks each answer that says that nothing is waiting."""

    team: Team
    truth: Truth
    answers: int = 0
    errors: list[EverfindError] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def ask(self, stop: threading.Event) -> None:
        with self.team.client() as remote:
            while not stop.is_set():
                for query in QUERIES:
                    try:
                        answer = remote.searcher.search(SearchRequest(query))
                    except OUTAGE as error:
                        self.errors.append(error)
                        time.sleep(0.2)
                        continue
                    self.answers += 1
                    whole = answer.coverage.files == FILES and not answer.coverage.pending
                    if whole and places(answer) != self.truth.answers[query]:
                        self.wrong.append(query)


@contextlib.contextmanager
def asking(team: Team, truth: Truth) -> Iterator[Client]:
    """A client at work during the block."""
    client, stop = Client(team, truth), threading.Event()
    with ThreadPoolExecutor(1) as thread:
        asked = thread.submit(client.ask, stop)
        try:
            yield client
        finally:
            stop.set()
        asked.result(120)
    assert client.wrong == []
    assert client.answers


def empty(team: Team) -> None:
    """Drop the index, as if it had never been."""
    (indexer,) = team.containers("indexer")
    code, output = indexer.exec_run(["python", "-c", EMPTY])
    assert code == 0, output


def run_with(team: Team, fault: Callable[[], None]) -> IndexReport:
    """A run from nothing, with a fault after its first commit."""
    empty(team)
    begun = threading.Event()

    def on_event(event: RunEvent) -> None:
        if isinstance(event, FileProcessed):
            begun.set()

    with team.client() as remote, ThreadPoolExecutor(1) as thread:
        patient = RemoteIndexer(remote.connection, patience=300.0)  # a busy machine restarts services slowly
        report = thread.submit(patient.index, IndexRequest(), on_event)
        assert begun.wait(300)
        assert not report.done()
        fault()
        return report.result(600)


def until_answered(remote: Remote) -> None:
    """Until the gateway has found the searchers again: it looks for lost ones every two seconds."""
    ends = time.monotonic() + 30
    while True:
        try:
            remote.searcher.search(SearchRequest(QUERIES[0]))
        except OUTAGE:
            assert time.monotonic() < ends
            time.sleep(0.2)
        else:
            return


def check_whole(team: Team, base: Path, truth: Truth) -> None:
    """The index is as an undisturbed one, and so are its answers."""
    assert content_of(base / "index") == truth.content
    with team.client() as remote:
        report = remote.indexer.index(IndexRequest(), lambda _event: None)
        assert (report.indexed, report.unchanged, report.warnings) == (0, FILES, ())
        until_answered(remote)
        for query in QUERIES:
            assert places(remote.searcher.search(SearchRequest(query))) == truth.answers[query]


def test_a_work_tree_of_another_owner_is_listed_by_git(running: Team, base: Path, truth: Truth) -> None:
    empty(running)  # whatever other tests have made
    with running.client() as remote:
        report = remote.indexer.index(IndexRequest(), lambda _event: None)
        assert (report.indexed, report.warnings) == (FILES, ())
        paths = {hit.path for hit in remote.searcher.search(SearchRequest("wombat pangolin", limit=50)).hits}
        assert "ignored-but-tracked.txt" in paths
        assert "ignored.txt" not in paths
    check_whole(running, base, truth)


def kill(team: Team, service: str, *, seconds: float = 1.0) -> None:
    """Kill a service, and bring it back after a while: nothing else does."""
    (container,) = team.containers(service)
    container.kill()
    time.sleep(seconds)
    container.start()


def test_each_service_is_killed_in_a_run(running: Team, base: Path, truth: Truth) -> None:
    def fault() -> None:
        for service in SERVICES:
            kill(running, service)

    with asking(running, truth):
        report = run_with(running, fault)
    assert report.generation
    running.up()
    check_whole(running, base, truth)


def test_each_service_is_restarted_in_a_run(running: Team, base: Path, truth: Truth) -> None:
    def fault() -> None:
        for service in SERVICES:
            running.run("restart", service)

    with asking(running, truth):
        run_with(running, fault)
    running.up()
    check_whole(running, base, truth)


@pytest.mark.long
@pytest.mark.parametrize("service", SERVICES)
@pytest.mark.parametrize("seconds", [0.0, 5.0, 20.0])
def test_one_service_is_killed_in_a_run(running: Team, base: Path, truth: Truth, service: str, seconds: float) -> None:
    with asking(running, truth):
        run_with(running, lambda: kill(running, service, seconds=seconds))
    running.up()
    check_whole(running, base, truth)


def cut_off(team: Team, service: str, *, seconds: float = 5.0) -> None:
    """Take a service off the inner network for a while; nobody tells the others."""
    import docker

    (container,) = team.containers(service)
    (name,) = (n for n in container.attrs["NetworkSettings"]["Networks"] if n.endswith("_back"))
    network = docker.from_env().networks.get(name)
    network.disconnect(container)
    time.sleep(seconds)
    network.connect(container, aliases=[service])


def test_an_embedder_out_of_reach_is_waited_for(running: Team, base: Path, truth: Truth) -> None:
    run_with(running, lambda: cut_off(running, "embedder"))
    check_whole(running, base, truth)


@pytest.mark.long
@pytest.mark.parametrize("service", SERVICES)
@pytest.mark.parametrize("seconds", [5.0, 60.0])
def test_one_service_is_cut_off_in_a_run(running: Team, base: Path, truth: Truth, service: str, seconds: float) -> None:
    with asking(running, truth):
        run_with(running, lambda: cut_off(running, service, seconds=seconds))
    check_whole(running, base, truth)


def test_a_hanging_service_is_an_outage_and_no_wrong_answer(running: Team, base: Path, truth: Truth) -> None:
    (searcher,) = running.containers("searcher")
    with asking(running, truth) as client:
        searcher.pause()
        time.sleep(3)
        searcher.unpause()
        before = client.answers
        ends = time.monotonic() + 60
        while client.answers < before + len(QUERIES):
            assert time.monotonic() < ends
            time.sleep(0.1)
    check_whole(running, base, truth)


def test_searchers_and_embedders_come_and_go_under_load(running: Team, truth: Truth) -> None:
    replicas = {"searcher": 3, "embedder": 2}
    with asking(running, truth) as client, running.client() as other:
        running.up(*(part for name, count in replicas.items() for part in ("--scale", f"{name}={count}")))
        ends = time.monotonic() + 60
        for name, count in replicas.items():
            assert len(running.containers(name)) == count
            call = f'"call": "everfind.{name}'.encode()
            while not all(call in one.logs(tail=20) for one in running.containers(name)):
                assert time.monotonic() < ends, f"a new {name} gets no calls"
                other.searcher.search(SearchRequest(f"what nobody asked before {time.monotonic()}"))  # or none embeds
                time.sleep(0.5)
        running.up("--scale", "searcher=1", "--scale", "embedder=1")
        time.sleep(4)
        assert client.errors == []
