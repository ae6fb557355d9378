"""The tools that index: `index`, and the aliases that other search servers' users know."""

from __future__ import annotations

import os
import shlex
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from everfind_core.errors import FolderNotFoundError, IndexLockedError, InvalidRequestError
from everfind_core.json_form import index_json, search_json
from everfind_core.model import (
    FolderFinished,
    FolderStarted,
    IndexPhase,
    IndexProgress,
    IndexReport,
    IndexRequest,
    RunEvent,
)
from everfind_core.paths import encode_os_path
from everfind_core.text_form import search_text
from everfind_core.watch_state import read_watch_state
from everfind_gateway.folders import add_folders, existing_path
from everfind_gateway.mcp import arguments as args
from everfind_gateway.mcp import outputs, text
from everfind_gateway.mcp.calls import Call, Progress, Result
from everfind_gateway.mcp.corpus import Corpus, Opened
from everfind_gateway.mcp.tools import Tool
from everfind_gateway.reports import run_in_turn
from everfind_gateway.requests import SearchOptions, added_folders, index_requests, search_request
from everfind_gateway.settings import Settings

FRESH_SECONDS = 20.0
"""How long `codebase_search` takes a directory that it has brought up to date for fresh."""
WAIT_SECONDS = 5.0
"""How long `codebase_search` waits for changes that the follower has not taken in yet."""
_WORDS_SHARE = 0.1
"""Of an index run that takes files in twice, what the first pass counts as."""
_AFTER = {None: "", IndexPhase.WORDS: " found by their words", IndexPhase.VECTORS: " found by meaning"}
_GLOB_CHARACTERS = "\\*?[]!#"

_adding = threading.Lock()


def index(call: Call, given: args.IndexArguments) -> Result:
    """Answer `index`."""
    allow(call.corpus, given.paths)
    with call.corpus.call() as opened:
        requests = index_requests(opened.settings, given.paths, force=given.force, max_files=given.max_files)
        report = run(opened, requests, call)
    return Result(index_json(report), text.index_text(report))


def search_notes(call: Call, given: args.SearchNotesArguments) -> Result:
    """Answer `search_notes`."""
    with call.corpus.call() as opened:
        options = SearchOptions(exclude=given.exclude, everything=given.searchAll)
        answer = opened.workspace.searcher.search(
            search_request(opened.settings, given.query, options), cancel=call.cancel
        )
    return Result(search_json(answer), search_text(answer))


class CodebaseSearch:
    """Answers `codebase_search`, and remembers which directories it has just brought up to date."""

    def __init__(self) -> None:
        self._fresh: dict[tuple[str, str], float] = {}

    def __call__(self, call: Call, given: args.CodebaseSearchArguments) -> Result:
        """Bring the directory's index up to date, and search it."""
        if not Path(existing_path(given.directory_path)).is_absolute():
            raise InvalidRequestError.of("directory_path", f"{given.directory_path!r} is not an absolute path")
        allow(call.corpus, [given.directory_path])
        with call.corpus.call() as opened:
            (request,) = index_requests(opened.settings, [given.directory_path])
            place = (request.folders[0], request.below)
            if not self._is_fresh(opened.settings, *place):
                run(opened, [request], call)
                self._fresh[place] = time.monotonic()
            below = f"/{_literal(request.below)}/**"
            options = SearchOptions(include=[below] if request.below else ())
            question = search_request(opened.settings, given.information_request, options)
            filters = replace(question.filters, folders=request.folders)
            question = replace(question, filters=filters, wait_seconds=max(question.wait_seconds, WAIT_SECONDS))
            answer = opened.workspace.searcher.search(question, cancel=call.cancel)
        return Result(search_json(answer), search_text(answer))

    def _is_fresh(self, settings: Settings, folder: str, below: str) -> bool:
        """Whether the directory needs no run: it had one just now, or one before and is followed since."""
        last = self._fresh.get((folder, below))
        if last is None:
            return False
        watch = None if settings.server else read_watch_state(settings.index_dir)
        followed = watch is not None and not watch.is_behind((folder,))
        return followed or time.monotonic() - last < FRESH_SECONDS


def allow(corpus: Corpus, paths: Sequence[str]) -> None:
    """Add each of ``paths`` that lies in no folder, but is a directory below one of the user's ``workspace_roots``.

    Raises:
        FolderNotFoundError: one lies in no folder and below no root; the hint is the command that adds it.
    """
    for path in paths:
        with _adding, corpus.call() as opened:
            try:
                index_requests(opened.settings, [path])
            except FolderNotFoundError as error:
                directory = os.path.realpath(existing_path(path))
                if not _in_workspace_roots(opened.settings, directory):
                    raise _refused(opened.settings, path, directory, error) from None
                add_folders(opened.settings.files.folders_file, [directory], index_dir=opened.settings.index_dir)


def _in_workspace_roots(settings: Settings, directory: str) -> bool:
    """Whether a resolved directory is one of the user's ``workspace_roots`` or lies below one.

    Never on a server: its directories are other ones, and its operator adds them.
    """
    if settings.server:
        return False
    roots = [Path(os.path.realpath(root)) for root in settings.workspace_roots]
    return any(Path(directory).is_relative_to(root) for root in roots)


def _refused(settings: Settings, given: str, directory: str, error: FolderNotFoundError) -> FolderNotFoundError:
    """The same for a directory that is there and one that is not: nobody learns which there are."""
    if "/" not in given:
        names = ", ".join(folder.name for folder in added_folders(settings)) or "none yet"
        return FolderNotFoundError(error.message, hint=f"The folders are: {names}.")
    shown = encode_os_path(directory)
    if settings.server:
        return FolderNotFoundError(
            f"{shown} is in no folder of the server", hint="Whoever has its admin token adds folders."
        )
    return FolderNotFoundError(
        f"{shown} is in no added folder", hint=f"The user adds it with: everfind add {shlex.quote(shown)}"
    )


def run(opened: Opened, requests: Sequence[IndexRequest], call: Call) -> IndexReport:
    """Run one request after the other; their progress is told as that of one run."""
    told = _Told(call.progress, len(requests))

    def run_one(request: IndexRequest) -> IndexReport:
        report = _run_one(opened, request, call, told)
        told.next_request()
        return report

    return run_in_turn(requests, run_one)


def _run_one(opened: Opened, request: IndexRequest, call: Call, told: _Told) -> IndexReport:
    indexer = opened.workspace.indexer
    try:
        return indexer.index(replace(request, wait=False), told.on_event, cancel=call.cancel)
    except IndexLockedError as error:
        told.waiting(f"{error.message}; waiting for it to end")
        return indexer.index(request, told.on_event, cancel=call.cancel)


class _Told:
    """Turns a run's events into progress: one unit a request, its parts by folders and files."""

    def __init__(self, progress: Progress, total: int) -> None:
        self._progress = progress
        self._total = total
        self._requests = 0
        self._position, self._count = 0, 1
        self._furthest = 0.0

    def waiting(self, message: str) -> None:
        """Another process writes."""
        self._progress.report(float(self._requests), self._total, message)

    def next_request(self) -> None:
        """A request is done."""
        self._requests += 1
        self._position, self._count = 0, 1

    def on_event(self, event: RunEvent) -> None:
        """Take one event of a run."""
        if isinstance(event, FolderStarted):
            self._position, self._count = event.position - 1, event.count
            self._report(0.0, f"{event.name}: looking for changes")
        elif isinstance(event, IndexProgress):
            self._report(
                _done(event),
                f"{event.folder}: {event.files_done:,} of {event.files_total:,} files{_AFTER[event.phase]}, "
                f"{event.chunks:,} chunks",
            )
        elif isinstance(event, FolderFinished):
            self._report(1.0, f"{event.name}: {event.indexed:,} indexed, {event.unchanged:,} unchanged")

    def _report(self, part: float, message: str) -> None:
        done = self._requests + (self._position + part) / max(1, self._count)
        self._furthest = max(self._furthest, done)  # a first pass over several folders comes before the first folder
        self._progress.report(self._furthest, self._total, message)


def _done(event: IndexProgress) -> float:
    """The share of a folder that is done, where words come before vectors a small one of it."""
    part = min(event.files_done / event.files_total, 1.0) if event.files_total else 0.0
    match event.phase:
        case IndexPhase.WORDS:
            return _WORDS_SHARE * part
        case IndexPhase.VECTORS:
            return _WORDS_SHARE + (1 - _WORDS_SHARE) * part
        case None:
            return part


def _literal(path: str) -> str:
    """A glob that matches exactly this path."""
    return "".join(f"\\{c}" if c in _GLOB_CHARACTERS else c for c in path)


INDEX_TOOL = Tool(
    "index",
    "Bring the index up to date",
    "Index what is new or changed in the folders, and forget what is gone; unchanged files cost next to nothing. Use "
    "it after files were changed, or when an answer says that files are not up to date. It reports progress and can be "
    "cancelled; what was done stays. A directory that is in no folder is refused, with the command that the user runs "
    "to add it.",
    args.IndexArguments,
    outputs.IndexOutput,
    index,
    read_only=False,
)


def aliases() -> tuple[Tool, ...]:
    """The tools of single-purpose servers, which `mcp_tools` can name."""
    return (
        Tool(
            "search_notes",
            "Search notes",
            "Find the passages of the user's documents that a question is about. `exclude` leaves out paths with these "
            "segments; `searchAll` brings back what is left out by default, such as superseded documents. Nothing "
            "found means that nothing relevant is indexed.",
            args.SearchNotesArguments,
            outputs.SearchOutput,
            search_notes,
        ),
        Tool(
            "codebase_search",
            "Search a code base",
            "Find the code of a directory that a request is about. The first call for a directory indexes it, with "
            "progress; later ones only what has changed. A directory that the user has not allowed is refused, with "
            "the command that allows it.",
            args.CodebaseSearchArguments,
            outputs.SearchOutput,
            CodebaseSearch(),
            read_only=False,
        ),
    )
