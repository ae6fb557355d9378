"""Word of a running server: found when it is the same index, settings and version, and alive; ignored otherwise."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from everfind_core.errors import InvalidRequestError
from everfind_core.files.locks import is_locked
from everfind_core.model import SearchRequest
from everfind_gateway.wiring.running import (
    FILE,
    LOCK,
    Announcement,
    RunningServer,
    announced_server,
    own_token,
    running_server,
    server_lock,
)
from everfind_gateway.wiring.warm import WarmSearcher
from tests.support.gateway import FakeEngines

ADDRESS = "127.0.0.1:50051"


def test_a_server_is_found_while_it_runs(tmp_path: Path) -> None:
    index = tmp_path / "index"
    with Announcement(index, "d1") as announced:
        assert running_server(index, "d1") is None  # it does not listen yet
        announced.publish(ADDRESS)
        found = running_server(index, "d1")
        assert found is not None
        assert (found.address, found.token) == (ADDRESS, announced.token)
        assert (index / FILE).stat().st_mode & 0o777 == 0o600
        assert running_server(index, "d2") is None
        assert running_server(tmp_path, "d1") is None
    assert running_server(index, "d1") is None
    assert not (index / FILE).exists()


@pytest.mark.parametrize(
    ("address", "same"),
    [
        (ADDRESS, True),
        ("localhost:50051", True),
        ("[::1]:50051", True),
        ("127.0.0.1:50052", False),
        ("192.0.2.7:50051", False),
        ("localhost.example.org:50051", False),
    ],
)
def test_its_token_goes_to_the_address_where_it_listens_and_nowhere_else(
    tmp_path: Path, address: str, same: bool
) -> None:
    with Announcement(tmp_path, "d") as announced:
        announced.publish(ADDRESS)
        assert own_token(tmp_path, address) == (announced.token if same else "")
    assert own_token(tmp_path, address) == ""


def test_of_two_servers_the_first_is_found(tmp_path: Path) -> None:
    with Announcement(tmp_path, "d") as first:
        first.publish(ADDRESS)
        with Announcement(tmp_path, "d") as second:
            assert not second.publish("127.0.0.1:9")
            assert second.taken
        assert not first.taken
        found = running_server(tmp_path, "d")
        assert found is not None
        assert found.address == ADDRESS


@pytest.mark.parametrize(
    "spoil",
    [
        lambda file: file.write_text("{"),
        lambda file: file.write_text("[]"),
        lambda file: file.write_text("[" * 9_000),
        lambda file: file.write_text(json.dumps({**json.loads(file.read_text()), "address": 1})),
        lambda file: file.write_text(json.dumps({**json.loads(file.read_text()), "pid": -1})),
        lambda file: file.write_text(json.dumps({**json.loads(file.read_text()), "pid": "1"})),
        lambda file: file.write_text(json.dumps({**json.loads(file.read_text()), "version": "0.0.1"})),
        lambda file: file.chmod(0o640),
        lambda file: (file.rename(file.with_name("other")), file.symlink_to("other")),
        lambda file: (file.unlink(), file.mkdir()),
    ],
)
def test_what_another_could_have_written_is_ignored(tmp_path: Path, spoil: Callable[[Path], object]) -> None:
    with Announcement(tmp_path, "d") as announced:
        announced.publish(ADDRESS)
        spoil(tmp_path / FILE)
        assert running_server(tmp_path, "d") is None
        if (tmp_path / FILE).is_dir():
            (tmp_path / FILE).rmdir()


def test_a_server_of_a_later_version_is_known_to_run(tmp_path: Path) -> None:
    with Announcement(tmp_path, "d") as announced:
        announced.publish(ADDRESS)
        word = json.loads((tmp_path / FILE).read_text())
        (tmp_path / FILE).write_text(json.dumps({**word, "version": "99.0", "more": 1}))
        found = announced_server(tmp_path)
        assert found is not None
        assert (found.version, found.address) == ("99.0", ADDRESS)
        assert running_server(tmp_path, "d") is None


def test_word_of_a_killed_server_is_stale(tmp_path: Path) -> None:
    with Announcement(tmp_path, "d") as announced:
        announced.publish(ADDRESS)
        left = (tmp_path / FILE).read_text()
    (tmp_path / FILE).write_text(left)
    (tmp_path / FILE).chmod(0o600)
    assert running_server(tmp_path, "d") is None


def test_an_index_directory_that_cannot_be_made_announces_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with Announcement(tmp_path / "file" / "index", "d") as announced:
        assert not announced.publish(ADDRESS)
        assert not announced.first
        assert not announced.taken


def test_a_lock_is_handed_on_to_the_process_that_serves(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text("word of one that was killed")
    with server_lock(tmp_path) as lock:
        assert lock is not None
        assert not (tmp_path / FILE).exists()
        inherited = os.dup(lock)
        os.set_inheritable(inherited, True)  # as it arrives in a child
    assert is_locked(tmp_path / LOCK)
    with server_lock(tmp_path) as second:
        assert second is None
    with Announcement(tmp_path, "d", held=inherited) as announced:
        assert announced.first
        assert not os.get_inheritable(inherited)
        assert announced.publish(ADDRESS)
        assert announced_server(tmp_path) is not None
    assert not is_locked(tmp_path / LOCK)


def test_a_lock_of_another_index_is_none(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    with server_lock(tmp_path / "other") as lock:
        assert lock is not None
        inherited = os.dup(lock)
    for index in ("other", "mine"):
        (tmp_path / index / LOCK).unlink(missing_ok=True)  # another file of that name is another lock, too
        with Announcement(tmp_path / index, "d", held=os.dup(inherited)) as announced:
            assert not announced.first
            assert not announced.publish(ADDRESS)
    os.close(inherited)


def server_at(address: str) -> RunningServer:
    return RunningServer(address, "t", "/index", "d", "1", 1)


def test_without_a_server_or_with_a_dead_one_this_process_answers() -> None:
    local = FakeEngines()
    for server in (None, server_at("127.0.0.1:1")):
        searcher = WarmSearcher(lambda server=server: server, lambda: local)  # type: ignore[misc]  # a default binds it
        assert searcher.search(SearchRequest("x")).query == "x"
        searcher.close()
    assert len(local.searches) == 2


def test_what_the_server_says_is_wrong_is_not_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    local, remote = FakeEngines(), FakeEngines(error=InvalidRequestError.of("query", "it is empty"))
    searcher = WarmSearcher(lambda: server_at(ADDRESS), lambda: local)
    monkeypatch.setattr(searcher, "_remote", lambda _server: remote)
    with pytest.raises(InvalidRequestError, match="it is empty"):
        searcher.search(SearchRequest(""))
    assert local.searches == []
