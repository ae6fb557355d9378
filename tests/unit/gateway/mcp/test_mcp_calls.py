"""One call: its errors, its progress, its cancellation, and the workspace it is answered from."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
import pytest
from mcp import Client

from everfind_core.cancellation import Cancellation
from everfind_core.errors import EverfindError, UnavailableError, error_classes
from everfind_core.model import Filters, RelatedRequest, Relation
from everfind_gateway.config.settings import Settings
from everfind_gateway.mcp.calls import PROGRESS_SECONDS
from everfind_gateway.setting_groups.serving import DEFAULT_TOOLS
from tests.support.agents import MODES, Served, serve_engines, text_of, write_config
from tests.support.gateway import FakeEngines


@pytest.mark.parametrize("cls", [*error_classes().values(), EverfindError], ids=lambda cls: cls.__name__)
def test_every_error_is_one_sentence_for_the_model(
    served: Served, engines: FakeEngines, cls: type[EverfindError]
) -> None:
    engines.error = cls("this\nis wrong", hint="Do that.")
    for tool, arguments in (("search", {"query": "x"}), ("grep", {"pattern": "x"}), ("index", {}), ("status", {})):
        assert served.refusal(tool, arguments) == "this is wrong. Do that."


def test_related_takes_a_symbol_or_a_place(served: Served, engines: FakeEngines) -> None:
    first = served.call("related", {"target": "Session.refresh", "relations": "caller", "folders": ["api"]})
    assert text_of(first).splitlines() == [
        "target: api/src/auth.py:42 refresh_token",
        "api/src/auth.py:43  0.90 [caller]  Outer.caller: ",
    ]
    served.call("related", {"target": "api/src/auth.py:42", "limit": 3})
    assert engines.relations == [
        RelatedRequest(symbol="Session.refresh", relations=(Relation.CALLER,), filters=Filters(folders=("api",))),
        RelatedRequest(folder="api", path="src/auth.py", line=42, limit=3),
    ]
    assert "is not one of 'caller', 'callee'" in served.refusal("related", {"target": "x", "relations": ["sibling"]})


def test_search_asks_for_one_hop(served: Served, engines: FakeEngines) -> None:
    served.call("search", {"query": "x", "graph": True})
    asked = [search for search in engines.searches if search.query == "x"]  # the server may warm up beside it
    assert [search.graph_hops for search in asked] == [1]


def test_a_fault_is_a_short_sentence_and_the_log_has_the_rest(
    served: Served, engines: FakeEngines, caplog: pytest.LogCaptureFixture
) -> None:
    engines.fault = RuntimeError("secret detail")
    expected = "search failed by a fault of everfind (RuntimeError); the server's log has the details"
    assert served.refusal("search", {"query": "x"}) == expected
    assert "secret detail" in caplog.text
    assert "Traceback" in caplog.text


@pytest.mark.parametrize("mode", MODES)
def test_progress_increases_until_the_end(served: Served, engines: FakeEngines, mode: str) -> None:
    heard = threading.Event()

    def work(_cancel: Cancellation | None) -> None:
        assert heard.wait(60)

    engines.on_run = work
    told: list[tuple[float, float | None, str | None]] = []

    async def tell(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, total, message))
        if progress > 0:
            heard.set()

    async def use(client: Client) -> None:
        result = await client.call_tool("index", {}, progress_callback=tell)
        assert not result.is_error

    served.ask(use, mode=mode)
    assert told
    values = [progress for progress, _, _ in told]
    assert values == sorted(set(values))
    assert all(total == 1 and progress <= total for progress, total, _ in told)
    assert (0.25, 1, "api: 1 of 2 files, 8 chunks") in told


@pytest.mark.parametrize("mode", MODES)
def test_a_cancelled_call_stops_the_work(served: Served, engines: FakeEngines, mode: str) -> None:
    began, stopped = threading.Event(), threading.Event()

    def work(cancel: Cancellation | None) -> None:
        assert cancel is not None
        began.set()
        while not cancel.cancelled:
            time.sleep(0.01)
        stopped.set()

    engines.on_run = work

    async def use(client: Client) -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "index", {})
            await anyio.to_thread.run_sync(began.wait)
            group.cancel_scope.cancel()
        with anyio.CancelScope(shield=True):
            assert await anyio.to_thread.run_sync(stopped.wait, 60)
        assert not (await client.call_tool("search", {"query": "still there"})).is_error

    served.ask(use, mode=mode)


def test_a_folder_added_meanwhile_is_seen_by_the_next_call(served: Served, home: Path, engines: FakeEngines) -> None:
    (home / "web").mkdir()

    async def use(client: Client) -> tuple[str, str]:
        before = text_of(await client.call_tool("grep", {"pattern": "x", "folders": ["web"]}))
        write_config(served.config, folders={"api": home / "api", "web": home / "web"})
        await client.call_tool("grep", {"pattern": "x", "folders": ["web"]})
        return before, text_of(await client.call_tool("grep", {"pattern": "x", "folders": ["no"]}))

    before, after = served.ask(use)
    assert before.endswith("the folders are: api")
    assert engines.greps[-1].folders == ("web",)
    assert after.endswith("the folders are: api, web")


def test_settings_that_cannot_be_read_any_more_are_told(served: Served) -> None:
    async def use(client: Client) -> tuple[str, bool]:
        good = served.config.read_text(encoding="utf-8")
        served.config.write_text("limit = [", encoding="utf-8")
        broken = text_of(await client.call_tool("search", {"query": "x"}))
        served.config.write_text(good, encoding="utf-8")
        return broken, bool((await client.call_tool("search", {"query": "x"})).is_error)

    broken, still_broken = served.ask(use)
    assert f"{served.config}:1: not valid TOML" in broken
    assert not still_broken


def test_workspaces_close_after_their_last_call(served: Served, home: Path) -> None:
    events: list[str] = []

    @contextmanager
    def open_workspace(settings: Settings) -> Iterator[FakeEngines]:
        name = f"{len(settings.folders)} folders"
        events.append(f"open {name}")
        yield FakeEngines()
        events.append(f"close {name}")

    corpus = Served(served.config, open_workspace).corpus()
    with corpus.call() as first:
        with corpus.call() as second:
            assert second is first
        (home / "web").mkdir()
        write_config(served.config, folders={"api": home / "api", "web": home / "web"})
        with corpus.call() as third:
            assert third is not first
        assert events == ["open 1 folders", "open 2 folders"]
    assert events[-1] == "close 1 folders"
    corpus.close()
    assert events[-1] == "close 2 folders"
    with pytest.raises(EverfindError, match="the server is ending"), corpus.call():
        pass


def test_warming_up_asks_once_and_hides_its_errors(served: Served, engines: FakeEngines) -> None:
    corpus = served.corpus()
    corpus.warm_up()
    corpus.warm_up()
    deadline = time.monotonic() + 30
    while not engines.searches and time.monotonic() < deadline:
        time.sleep(0.01)
    corpus.close()
    assert len(engines.searches) == 1


def test_logging_goes_through_the_servers_logger() -> None:
    assert logging.getLogger("everfind.mcp").propagate


def test_another_writer_is_named_while_waiting(served: Served, engines: FakeEngines) -> None:
    engines.locked_by = "process 7 (`index`)"
    engines.on_run = lambda _cancel: time.sleep(PROGRESS_SECONDS * 2)
    assert not served.call("index").is_error
    assert engines.runs[0].wait


def test_no_server_needs_the_workspace_to_list_its_tools(served: Served) -> None:
    def refuse(_settings: Settings) -> object:
        raise UnavailableError("opened")

    server = serve_engines(served.config, None)

    async def use(client: Client) -> int:
        return len((await client.list_tools()).tools)

    assert Served(server.config, refuse).ask(use) == len(DEFAULT_TOOLS)  # type: ignore[arg-type]  # it is never entered
