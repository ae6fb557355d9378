"""The tool `codebase_search`: brings a directory's index up to date, and searches it."""

from __future__ import annotations

import threading
import time
from collections.abc import MutableMapping
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias
from weakref import WeakKeyDictionary

from everfind_core.answers.json_form import search_json
from everfind_core.answers.text_form import search_text
from everfind_core.errors import InvalidRequestError
from everfind_core.index.watch_state import read_watch_state
from everfind_core.model import IndexRequest
from everfind_gateway.config.folders import existing_path
from everfind_gateway.config.settings import Settings
from everfind_gateway.live_workspace import LiveWorkspace
from everfind_gateway.mcp import arguments as args
from everfind_gateway.mcp.allowing import allow
from everfind_gateway.mcp.background import BackgroundRun
from everfind_gateway.mcp.calls import Call, Result
from everfind_gateway.requests import SearchOptions, search_request
from everfind_gateway.target_requests import index_requests

FRESH_SECONDS = 20.0
"""How long a directory that was brought up to date is taken for fresh."""
WAIT_SECONDS = 5.0
"""How long a call waits for changes that the follower has not taken in yet."""
_GLOB_CHARACTERS = "\\*?[]!#"

_Place: TypeAlias = tuple[str, str]
"""A folder, and a directory below it."""


class CodebaseSearch:
    """Answers `codebase_search`, and remembers which directories it has just brought up to date."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._runs: MutableMapping[LiveWorkspace, dict[_Place, BackgroundRun]] = WeakKeyDictionary()

    def __call__(self, call: Call, given: args.CodebaseSearchArguments) -> Result:
        """Bring the directory's index up to date, and search it; while vectors are awaited, by its words."""
        if not Path(existing_path(given.directory_path)).is_absolute():
            raise InvalidRequestError.of("directory_path", f"{given.directory_path!r} is not an absolute path")
        allow(call.corpus, [given.directory_path])
        with call.corpus.call() as opened:
            (request,) = index_requests(opened.settings, [given.directory_path])
            run = self._run(call.corpus, opened.settings, request)
            run.wait_for_words(call)
            below = f"/{_literal(request.below)}/**"
            options = SearchOptions(include=[below] if request.below else ())
            question = search_request(opened.settings, given.information_request, options)
            wait = max(question.wait_seconds, WAIT_SECONDS) if run.ended else question.wait_seconds
            question = replace(question, filters=replace(question.filters, folders=request.folders), wait_seconds=wait)
            answer = opened.workspace.searcher.search(question, cancel=call.cancel)
        return Result(search_json(answer), search_text(answer))

    def _run(self, corpus: LiveWorkspace, settings: Settings, request: IndexRequest) -> BackgroundRun:
        """The run that brings the directory up to date, joined: one under way, one just now, or a new one."""
        place = (request.folders[0], request.below)
        with self._guard:
            runs = self._runs.setdefault(corpus, {})
            run = runs.get(place)
            if run is None or (run.ended and not _is_fresh(settings, place, run)) or not run.join():
                run = runs[place] = BackgroundRun(corpus, request)
            return run


def _is_fresh(settings: Settings, place: _Place, run: BackgroundRun) -> bool:
    """Whether the directory needs no run: it had one just now, or one before and is followed since."""
    if run.done_at is None:
        return False
    watch = None if settings.server else read_watch_state(settings.index_dir)
    followed = watch is not None and not watch.is_behind(place[:1])
    return followed or time.monotonic() - run.done_at < FRESH_SECONDS


def _literal(path: str) -> str:
    """A glob that matches exactly this path."""
    return "".join(f"\\{c}" if c in _GLOB_CHARACTERS else c for c in path)
