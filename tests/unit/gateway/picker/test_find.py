"""The picker: what is typed, what is shown, and what is opened."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from contextlib import nullcontext

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.pilot import Pilot
from textual.widgets import OptionList, Static

from everfind_core.cancellation import Cancellation
from everfind_core.errors import ConfigError, IndexMissingError
from everfind_core.model import Hit, SearchAnswer
from everfind_gateway.cli import find
from everfind_gateway.cli.find import asker
from everfind_gateway.config.settings import Settings, load_settings
from everfind_gateway.picker.app import Picker
from everfind_gateway.picker.typed import Typed, parse
from everfind_gateway.requests import SearchOptions
from tests.support.gateway import FakeEngines, Outcome, make_hit

FIRST, SECOND = make_hit(), make_hit("docs/b.md", symbol="", heading="Tokens > Refresh", start_line=2, end_line=3)


def test_filters_are_typed_among_the_words() -> None:
    filters = "lang:go does folder:api path:src/** -path:old kind:function status:accepted"
    typed = parse(f"how {filters} std::vector retry lang:")
    assert typed == Typed(
        "how does std::vector retry", ("api",), ("src/**",), ("go",), ("function",), ("accepted",), ("old",)
    )
    options = typed.options(SearchOptions(folders=("web",), languages=("python",)))
    assert (options.folders, options.languages, options.exclude) == (("web", "api"), ("python", "go"), ("old",))


@given(st.text())
def test_words_that_are_no_filters_stay(text: str) -> None:
    if not any(f"{name}:" in text for name in ("folder", "path", "lang", "kind", "status")):
        assert parse(text).question == " ".join(text.split())


@pytest.fixture(autouse=True)
def no_terminal_to_leave(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Picker, "suspend", lambda _picker: nullcontext())


class Screen:
    """A picker over fake engines, as a test drives it."""

    def __init__(self, engines: FakeEngines, *, typed: str = "", print_only: bool = False) -> None:
        self.opened: list[Hit] = []
        self.error: ConfigError | None = None
        ask = asker(engines, load_settings(), SearchOptions())
        self.app = Picker(ask, engines, self._open, typed=typed, print_only=print_only)

    def _open(self, hit: Hit) -> None:
        if self.error is not None:
            raise self.error
        self.opened.append(hit)

    def drive(self, steps: Callable[[Pilot[Hit]], Awaitable[None]]) -> Hit | None:
        async def run() -> None:
            async with self.app.run_test(size=(120, 30)) as pilot:
                await steps(pilot)

        asyncio.run(run())
        return self.app.return_value

    async def until(self, pilot: Pilot[Hit], condition: Callable[[], bool]) -> None:
        for _ in range(3000):
            if condition():
                return
            await pilot.pause(0.01)
        raise AssertionError(f"never: hits {self.app.hits}, remark {self.remark()!r}")

    def remark(self) -> str:
        return str(self.app.query_one("#remark", Static).content)

    def entries(self) -> list[str]:
        return [str(option.prompt) for option in self.app.query_one("#found", OptionList).options]

    def file(self) -> str:
        shown = self.app.query_one("#file", Static).content
        return str(getattr(shown, "code", shown))


def test_it_searches_while_one_types_and_shows_the_chosen_file(engines: FakeEngines) -> None:
    screen = Screen(engines, typed="retry lang:g")
    engines.hits = ()

    async def steps(pilot: Pilot[Hit]) -> None:
        await screen.until(pilot, lambda: screen.remark().startswith("no results"))
        engines.hits = (FIRST, SECOND)
        await pilot.press("o")
        await screen.until(pilot, lambda: len(screen.app.hits) == 2 and bool(screen.file()))
        assert screen.entries() == [
            "api/src/auth.py:42  [both 0.712]\n  refresh_token",
            "api/docs/b.md:2  [both 0.712]\n  Tokens > Refresh",
        ]
        assert screen.file() == "one\ntwo\n"
        assert engines.reads[-1].path == "src/auth.py"
        await pilot.press("down", "down")
        await screen.until(pilot, lambda: engines.reads[-1].path == "docs/b.md")
        await pilot.press("enter")
        await screen.until(pilot, lambda: screen.opened == [SECOND])
        assert screen.remark() == "opened api/docs/b.md"
        await pilot.press("up", "enter", "escape")

    assert screen.drive(steps) is None
    assert screen.opened == [SECOND, FIRST]
    assert (engines.searches[-1].query, engines.searches[-1].filters.languages) == ("retry", ("go",))


def test_print_ends_with_the_chosen_hit(engines: FakeEngines) -> None:
    engines.hits = (FIRST, SECOND)
    screen = Screen(engines, typed="retry", print_only=True)

    async def steps(pilot: Pilot[Hit]) -> None:
        await screen.until(pilot, lambda: len(screen.app.hits) == 2)
        await pilot.press("down", "enter")

    assert screen.drive(steps) is SECOND
    assert screen.opened == []


def test_an_answer_after_enter_does_not_change_the_choice(engines: FakeEngines) -> None:
    engines.hits = (FIRST, SECOND)
    screen = Screen(engines, typed="retry", print_only=True)
    ask, may_answer = screen.app._ask, threading.Event()

    def slow(typed: str, cancel: Cancellation) -> SearchAnswer | None:
        if typed != "retry":
            engines.hits = (SECOND,)
            may_answer.wait(60)
        return ask(typed, cancel)

    screen.app._ask = slow

    async def steps(pilot: Pilot[Hit]) -> None:
        await screen.until(pilot, lambda: len(screen.app.hits) == 2)
        await pilot.press("x")
        await screen.until(pilot, lambda: engines.hits == (SECOND,))
        await pilot.press("enter")
        may_answer.set()

    assert screen.drive(steps) is FIRST
    assert screen.app.hits == (FIRST, SECOND)


def test_what_is_wrong_is_said_and_the_picker_goes_on(engines: FakeEngines) -> None:
    engines.error = IndexMissingError("there is no index", hint="Run `everfind index`.")
    screen = Screen(engines, typed="retry")
    screen.error = ConfigError("'ed' is not installed", hint="Set VISUAL.")

    async def steps(pilot: Pilot[Hit]) -> None:
        await screen.until(pilot, lambda: screen.remark() == "there is no index. Run `everfind index`.")
        engines.error = None
        engines.hits = ()
        await pilot.press("s")
        await screen.until(pilot, lambda: screen.remark().startswith("no results: searched 1,203 files"))
        engines.hits = (FIRST,)
        await pilot.press("x")
        await screen.until(pilot, lambda: screen.app.hits == (FIRST,))
        await pilot.press("enter")
        await screen.until(pilot, lambda: screen.remark() == "'ed' is not installed. Set VISUAL.")

    assert screen.drive(steps) is None


def test_an_answer_to_what_is_no_longer_typed_is_not_shown(engines: FakeEngines) -> None:
    screen = Screen(engines)
    answers: list[SearchAnswer] = []
    ask = screen.app._ask

    def late(typed: str, cancel: object) -> SearchAnswer | None:
        answer = ask(typed, cancel)  # type: ignore[arg-type]  # it is the picker's own
        if typed == "a":
            screen.app._cancel.cancel()  # as the next key does
        if answer is not None:
            answers.append(answer)
        return answer

    screen.app._ask = late

    async def steps(pilot: Pilot[Hit]) -> None:
        await pilot.press("a")
        await screen.until(pilot, lambda: len(answers) == 1)
        assert screen.entries() == []
        await pilot.press("b")
        await screen.until(pilot, lambda: len(screen.entries()) == 1)

    screen.drive(steps)
    assert [answer.query for answer in answers] == ["a", "ab"]


def test_a_fault_ends_the_picker_and_is_told(engines: FakeEngines) -> None:
    engines.fault = RuntimeError("boom")
    screen = Screen(engines, typed="retry")

    async def steps(pilot: Pilot[Hit]) -> None:
        await screen.until(pilot, lambda: screen.app.fault is not None)

    assert screen.drive(steps) is None
    assert str(screen.app.fault) == "boom"


def test_without_a_terminal_or_the_extra_it_says_what_to_do(
    everfind: Callable[..., Outcome], engines: FakeEngines, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = everfind("find", "x")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("everfind: the interactive picker needs a terminal\n  hint: `everfind search`")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    ended = everfind("find", "x")
    assert ended.code == 3
    assert "`pip install 'everfind[tui]'`" in ended.err


def test_it_leaves_a_server_for_the_next_one_where_that_is_wanted(
    everfind: Callable[..., Outcome], engines: FakeEngines, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[tuple[float, list[str]]] = []

    def start(settings: Settings, options: list[str]) -> bool:
        started.append((settings.autostart_seconds, options))
        return True

    monkeypatch.setattr("everfind_gateway.wiring.autostart.start_server", start)
    monkeypatch.setattr(find, "_check_terminal", lambda: None)
    monkeypatch.setattr(find, "_pick", lambda *_arguments, **_options: FIRST)
    assert everfind("find", "retry").code == 0
    assert started == []
    monkeypatch.setenv("EVERFIND_AUTOSTART_SECONDS", "60")
    assert everfind("find", "retry").code == 0
    assert started == [(60, [])]
