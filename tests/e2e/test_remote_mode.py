"""The command line against `everfind serve` and against the three services, as real processes."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

import pytest

from tests.support.corpus import write_corpus
from tests.support.processes import Home, free_address, process

pytestmark = pytest.mark.slow


@pytest.fixture
def home(tmp_path: Path) -> Home:
    write_corpus(tmp_path)
    home = Home(tmp_path)
    home.run("add", str(tmp_path / "code"), str(tmp_path / "docs"))
    return home


def test_a_served_corpus_answers_as_the_local_one(home: Home) -> None:
    address, by_hand = free_address(), {"EVERFIND_WATCH": "false", "EVERFIND_FOLDER_ROOTS": str(home.base)}
    with process(home, "everfind_gateway", "serve", "--listen", address, ready="serving on", env=by_hand):
        remote = {"EVERFIND_SERVER": address}
        assert home.json("index", env=remote)["files"]["indexed"] == 10
        for command in (
            ("search", "token refresh", "--folder", "docs"),
            ("search", "登录鉴权"),
            ("gather", "WriteAtomic", "--context-lines", "3"),
            ("grep", "refresh_token"),
            ("cat", "code/src/session.py:3-5"),
            ("cat", str(home.base / "docs" / "auth.md")),
            ("list",),
        ):
            assert home.json(*command, env=remote) == home.json(*command), command
        assert home.json("index", "docs", env=remote)["files"]["unchanged"] == 6
        assert home.json("status", env=remote)["coverage"] == home.json("status")["coverage"]
        outside = Home(home.base / "elsewhere")
        outside.base.mkdir()
        assert "no token" in outside.run("search", "capybara", env=remote, code=9).stderr
        assert "no token" in outside.run("remove", "docs", env=remote, code=9).stderr
        remote["EVERFIND_SERVER_TOKEN"] = home.run("token", "create", "ops", "--scope", "admin").stdout.strip()
        assert outside.json("search", "capybara", env=remote)["hits"] == home.json("search", "capybara")["hits"]
        (home.base / "more").mkdir()
        outside.run("add", str(home.base / "more"), env=remote)
        assert [f["name"] for f in home.json("list")["folders"]] == ["code", "docs", "more"]
        outside.run("remove", "more", env=remote)
        assert [f["name"] for f in home.json("list")["folders"]] == ["code", "docs"]
        assert "not /" in outside.run("add", "/", env=remote, code=9).stderr


def test_a_running_server_answers_by_itself(home: Home) -> None:
    home.run("index")
    alone = home.json("search", "token refresh")
    address = free_address()
    serve = ("everfind_gateway", "serve", "--listen", address, "--log-level", "info")
    with process(home, *serve, ready="serving on") as first:
        for beside in (address, "127.0.0.1:0"):
            second = home.run("serve", "--listen", beside, code=6).stderr
            assert f"`everfind serve` runs for this corpus already: process {first.pid}, {address}\n" in second
            assert "everfind serve --stop" in second
        log = home.base / "info.log"

        def asked() -> int:
            return log.read_text().count("SearcherService/Search")

        assert home.json("search", "token refresh") == alone
        assert asked() == 1
        home.run("--no-server", "search", "token refresh")
        home.run("search", "token refresh", env={"EVERFIND_FUSION": "rrf"})
        home.run("search", "token refresh", env={"EVERFIND_LOCAL_SERVER": "false"})
        assert asked() == 1
        everything = home.run("token", "create", "ops").stdout.strip()
        assert home.json("search", "token refresh") == alone
        assert asked() == 2
        assert everything not in (home.index_directory / "server.json").read_text()
        (home.base / "later").mkdir()
        (home.base / "later" / "animals.md").write_text("# Aardvarks\n\nAn aardvark digs for termites.\n")
        home.run("add", str(home.base / "later"))
        ends = time.monotonic() + 240
        while not home.json("search", "aardvark")["hits"] or asked() == 2:
            assert time.monotonic() < ends, log.read_text()
        home.run("remove", "later")
    after = home.json("search", "token refresh")
    assert {**after, "generation": alone["generation"]} == alone  # the index has had another folder meanwhile
    assert not (home.index_directory / "server.json").exists()


def test_connect_makes_every_command_ask_the_server(home: Home) -> None:
    home.run("index")
    address = free_address()
    laptop = Home(home.base / "laptop")
    laptop.base.mkdir()
    with process(home, "everfind_gateway", "serve", "--listen", address, ready="serving on"):
        assert "no token" in laptop.run("connect", address, code=9).stderr
        token = laptop.base / "token"
        token.write_text(home.run("token", "create", "laptop", "--scope", "search").stdout)
        assert "folders     code, docs\n" in laptop.run("connect", address, "--token-file", str(token)).stdout
        assert [f["name"] for f in laptop.json("list")["folders"]] == ["code", "docs"]
        found = laptop.json("search", "capybara")["hits"]
        assert found == home.json("search", "capybara")["hits"]
        here = laptop.json("search", "capybara", env={"EVERFIND_CHECKOUTS": f"docs={laptop.base}"})["hits"]
        assert [hit["absolute_path"] for hit in here if hit["folder"] == "docs"] == [
            f"{laptop.base}/{hit['path']}" for hit in found if hit["folder"] == "docs"
        ]
    laptop.run("search", "capybara", code=10)
    laptop.run("connect", "--off")
    laptop.run("search", "capybara", code=5)


def test_what_cannot_work_remotely_says_why(home: Home) -> None:
    remote = {"EVERFIND_SERVER": free_address()}
    for command in (("add", "."), ("serve",), ("token", "list"), ("eval", ".")):
        assert "where the server runs" in home.run(*command, code=2, env=remote).stderr
    assert "no everfind answers at" in home.run("search", "x", code=10, env=remote).stderr
    assert "is no HOST[:PORT]" in home.run("--server", "http://x", "search", "x", code=3).stderr


def test_a_token_limits_its_caller(home: Home) -> None:
    home.run("index")
    assert "without a token" in home.run("serve", "--listen", "0.0.0.0:0", code=3).stderr
    everything = home.run("token", "create", "ops", "--scope", "admin").stdout.strip()
    limited = home.run("token", "create", "guest", "--folder", "docs").stdout.strip()
    listed = home.run("token", "list").stdout
    assert everything not in listed
    assert "guest" in listed
    address = free_address()
    with process(home, "everfind_gateway", "serve", "--listen", address, ready="serving on"):
        asked = {"EVERFIND_SERVER": address}
        assert "unknown" in home.run("search", "x", code=9, env={**asked, "EVERFIND_SERVER_TOKEN": "evf_other"}).stderr
        guest = {**asked, "EVERFIND_SERVER_TOKEN": limited}
        assert [f["name"] for f in home.json("list", env=guest)["folders"]] == ["docs"]
        assert "lacks the scope" in home.run("index", code=9, env=guest).stderr
        ops = {**asked, "EVERFIND_SERVER_TOKEN": everything}
        assert len(home.json("list", env=ops)["folders"]) == 2
        home.run("token", "revoke", "guest")
        assert "unknown or was revoked" in home.run("list", code=9, env=guest).stderr


def test_three_services_answer_as_one_process_does(home: Home) -> None:
    home.run("index")
    embedder, indexer, searcher = free_address(), free_address(), free_address()
    services = {
        "EVERFIND_INDEX_DIR": str(home.base / "team"),
        "EVERFIND_FOLDERS": f"{home.base / 'code'},docs={home.base / 'docs'}",
        "EVERFIND_EMBEDDER": embedder,
        "EVERFIND_INDEXER": indexer,
        "EVERFIND_WATCH": "false",
    }
    pids: dict[str, int] = {}
    with contextlib.ExitStack() as stack:
        for module, address in (("embedder", embedder), ("indexer", indexer), ("searcher", searcher)):
            env = {**services, "EVERFIND_LISTEN": address}
            started = stack.enter_context(process(home, f"everfind_{module}", ready="listening", env=env))
            pids[module] = started.pid
        report = home.json("index", env={"EVERFIND_SERVER": indexer})
        assert report["files"]["indexed"] == 10
        local, remote = (home.json("search", "token refresh", env=env) for env in ({}, {"EVERFIND_SERVER": searcher}))
        assert [(h["path"], h["score"]) for h in remote["hits"]] == [(h["path"], h["score"]) for h in local["hits"]]
        maps = {name: Path(f"/proc/{pid}/maps").read_text() for name, pid in pids.items()}
        assert "onnxruntime" not in maps["indexer"] + maps["searcher"]
        assert "lance" not in maps["embedder"]
