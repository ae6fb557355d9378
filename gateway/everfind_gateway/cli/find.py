"""`find`: pick a hit while typing."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from everfind_core.errors import ConfigError, InvalidRequestError
from everfind_gateway.cli import runtime
from everfind_gateway.cli.options import Folders, Include, ModeOption
from everfind_gateway.cli.search import Everything, Exclude, Languages, Limit
from everfind_gateway.render.streams import emit

if TYPE_CHECKING:
    from everfind_core.cancellation import Cancellation
    from everfind_core.model import Hit, SearchAnswer
    from everfind_core.ports import Searcher
    from everfind_gateway.config.settings import Settings
    from everfind_gateway.picker.app import Ask
    from everfind_gateway.requests import SearchOptions
    from everfind_gateway.wiring.workspace import Workspace

Start: TypeAlias = Annotated[
    list[str] | None, typer.Argument(metavar="QUERY", help="What to start with.", show_default=False)
]
Print: TypeAlias = Annotated[
    bool, typer.Option("--print", help="Print the chosen place and end, in place of opening it.")
]


def find(
    context: typer.Context,
    query: Start = None,
    *,
    limit: Limit = None,
    mode: ModeOption = None,
    folder: Folders = None,
    include: Include = None,
    exclude: Exclude = None,
    language: Languages = None,
    everything: Everything = False,
    print_only: Print = False,
) -> None:
    """Search while you type, look at the hits, and open one in your editor.

    Filters can be typed among the words: folder:NAME, path:GLOB, -path:GLOB, lang:NAME, kind:KIND, status:NAME.
    Needs a terminal, and the extra `tui` (`pip install 'everfind[tui]'`).
    """
    from everfind_gateway.requests import SearchOptions

    _check_terminal()
    settings = runtime.runtime_of(context).settings(limit=limit, mode=mode)
    given = SearchOptions(
        folders=folder or (), include=include or (), exclude=exclude or (), languages=language or (),
        everything=everything,
    )  # fmt: skip
    with runtime.open_workspace(settings) as workspace:
        ask = asker(workspace.searcher, settings, given)
        chosen = _pick(workspace, ask, " ".join(query or ()), print_only=print_only)
    runtime.runtime_of(context).autostart(settings)
    if chosen is not None:
        from everfind_gateway.render.hits import location

        emit(f"{location(chosen.folder, chosen.path)}:{chosen.start_line}")


def _check_terminal() -> None:
    from importlib.util import find_spec

    if find_spec("textual") is None:
        raise ConfigError(
            "the interactive picker is not installed", hint="Install it with `pip install 'everfind[tui]'`."
        )
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise InvalidRequestError(
            "the interactive picker needs a terminal", hint="`everfind search` answers in a pipe."
        )


def asker(searcher: Searcher, settings: Settings, given: SearchOptions) -> Ask:
    """Asks the engine, which stays warm; folders' names are checked as everywhere."""
    from everfind_gateway.picker.typed import parse
    from everfind_gateway.requests import search_request

    def ask(text: str, cancel: Cancellation) -> SearchAnswer | None:
        typed = parse(text)
        if not typed.question:
            return None
        return searcher.search(search_request(settings, typed.question, typed.options(given)), cancel=cancel)

    return ask


def _pick(workspace: Workspace, ask: Ask, typed: str, *, print_only: bool) -> Hit | None:
    from everfind_gateway.editor import open_place
    from everfind_gateway.picker.app import Picker

    def open_hit(hit: Hit) -> None:
        open_place(hit.absolute_path, hit.start_line)

    picker = Picker(ask, workspace.indexer, open_hit, typed=typed, print_only=print_only)
    chosen = picker.run()
    if picker.fault is not None:
        raise picker.fault
    return chosen
