"""The corpus for Python programs: the calls of the command line, with its names and its answers (docs/python.md)."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Self, Unpack

from everfind_core.errors import InvalidRequestError, UnavailableError
from everfind_core.model import (
    FileRef,
    FileText,
    Folder,
    GatherAnswer,
    GatherRequest,
    GrepAnswer,
    IndexedFile,
    IndexReport,
    RelatedAnswer,
    Relation,
    RemovedFolder,
    RunEvent,
    SearchAnswer,
    WorkspaceStatus,
)
from everfind_core.workspaces import is_directory
from everfind_gateway.adding import add_to_corpus, remove_from_corpus
from everfind_gateway.checked import checked
from everfind_gateway.config.files import working_directory
from everfind_gateway.config.settings import load_settings
from everfind_gateway.listing import indexed_files
from everfind_gateway.live_workspace import LiveWorkspace, Opened
from everfind_gateway.reading import read_lines
from everfind_gateway.reports import run_in_turn
from everfind_gateway.requests import SearchOptions, added_folders
from everfind_gateway.search_keywords import Folders, Names, RelationName, SearchKeywords, names_of, request_of
from everfind_gateway.target_requests import check_any_folder, grep_request, index_requests, related_request
from everfind_gateway.wiring.workspace import open_followed_workspace, open_workspace

if TYPE_CHECKING:
    from everfind_core.cancellation import Cancellation


class Corpus:
    """An opened corpus, in this process or on a server. Thread-safe; use it as a context manager.

    Every call raises classes of :mod:`everfind_core.errors`. Changes of the settings, such as by `everfind add`, take
    effect with the next call.
    """

    def __init__(self, source: LiveWorkspace, cancel: Cancellation | None = None) -> None:
        """Ask ``source``, until ``cancel`` says otherwise."""
        self._source = source
        self._cancel = cancel

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @checked
    def search(
        self, query: str, *, cursor: str = "", explain: bool = False, **asked: Unpack[SearchKeywords]
    ) -> SearchAnswer:
        """The chunks that a question is about, best first.

        ``cursor`` is ``next_cursor`` of the page before; ``explain`` says what each score is the sum of.

        Raises:
            InvalidRequestError: an argument cannot be used; the message names it.
            FolderNotFoundError: a folder is neither added nor in the index.
            IndexMissingError, IndexIncompatibleError, IndexDamagedError: the index cannot be searched.
            UnavailableError: the corpus is closed, or its server does not answer.
        """
        with self._call() as opened:
            request = request_of(opened.settings, query, asked, cursor=cursor, explain=explain)
            return opened.workspace.searcher.search(request, cancel=self._cancel)

    @checked
    def gather(self, query: str, *, context_lines: int = 0, **asked: Unpack[SearchKeywords]) -> GatherAnswer:
        """The same as passages with ``context_lines`` around each hit, and as one block of Markdown.

        Raises:
            EverfindError: as :meth:`search`.
        """
        with self._call() as opened:
            request = GatherRequest(request_of(opened.settings, query, asked), context_lines)
            return opened.workspace.searcher.gather(request, cancel=self._cancel)

    @checked
    def related(
        self,
        target: str,
        *,
        relation: RelationName | Sequence[RelationName] = (),
        limit: int | None = None,
        folder: Folders = (),
        include: Names = (),
        exclude: Names = (),
        language: Names = (),
        cursor: str = "",
    ) -> RelatedAnswer:
        """What calls ``target`` (a symbol, or ``FOLDER/PATH:LINE``), what it calls, refers to it, or is like it.

        Raises:
            FileNotIndexableError: the index has no such file.
            EverfindError: as :meth:`search`.
        """
        options = SearchOptions(
            names_of(folder), names_of(include), names_of(exclude), names_of(language), limit=limit, cursor=cursor
        )
        with self._call() as opened:
            request = related_request(opened.settings, target, map(Relation, names_of(relation)), options)
            return opened.workspace.searcher.related(request, cancel=self._cancel)

    @checked
    def grep(
        self,
        pattern: str,
        *,
        regex: bool = False,
        ignore_case: bool = False,
        folder: Folders = (),
        include: Names = (),
        max_results: int = 100,
    ) -> GrepAnswer:
        """The lines of the indexable files that hold ``pattern``, secrets masked.

        Raises:
            InvalidRequestError: an argument cannot be used; the message names it.
            FolderNotFoundError: no folder was added by this name or path.
        """
        with self._call() as opened:
            request = grep_request(
                opened.settings,
                pattern,
                regex=regex,
                ignore_case=ignore_case,
                folders=names_of(folder),
                include=names_of(include),
                max_results=max_results,
            )
            return opened.workspace.indexer.grep(request, cancel=self._cancel)

    @checked
    def cat(self, file: str | Path, *, start_line: int = 0, end_line: int = 0) -> FileText:
        """An indexable file, secrets masked: ``FOLDER/PATH`` as a hit names it, or a path.

        Lines count from 1, both ends included. Left out, all are read, or those in ``FOLDER/PATH:10-20``.

        Raises:
            InvalidRequestError: such lines cannot be; the message names the argument.
            FileNotIndexableError: it is no file that the index would take.
        """
        if start_line < 0 or end_line < 0 or (end_line and end_line < start_line):
            raise InvalidRequestError.of(
                "start_line", f"lines count from 1, and {start_line}-{end_line} is no range of them"
            )
        with self._call() as opened:
            folders = added_folders(opened.settings)
            return read_lines(opened.workspace.indexer, folders, os.fspath(file), start_line, end_line)

    @checked
    def add(self, *paths: str | Path, name: str = "", include: Names = ()) -> tuple[Folder, ...]:
        """Add directories to what is searched, all or none; :meth:`index` makes them searchable.

        ``name`` is that of one folder, in place of its directory's; ``include`` are globs of what is indexed of it.
        With a server they are directories of its own.

        Raises:
            FolderUnusableError: a path is no directory that can be read, or lies in the index.
            FolderExistsError: a directory or the name is taken.
            PermissionDeniedError: the server takes no folder there, or not from this token.
        """
        given = [os.fspath(path) for path in paths]
        if not given:
            raise InvalidRequestError.of("paths", "no directory is named")
        with self._call() as opened:
            return add_to_corpus(
                opened.settings,
                lambda: opened.workspace.indexer,
                given,
                name=name,
                include=names_of(include),
                tell=warnings.warn,
            )

    @checked
    def remove(
        self, folder: str | Path, *, keep_index: bool = False, purge: bool = False, wait: bool = True
    ) -> RemovedFolder:
        """Remove a folder, by its name or path, and its text from the index; its files stay as they are.

        ``keep_index`` leaves what is indexed of it searchable; ``purge`` leaves no old version of the index, either.
        ``wait`` waits for another process that writes.

        Raises:
            FolderNotFoundError: there is none.
            IndexLockedError: another process writes, and ``wait`` is false; the message names it.
            InvalidRequestError: the two contradict each other.
        """
        with self._call() as opened:
            return remove_from_corpus(
                opened.settings,
                opened.workspace.indexer,
                os.fspath(folder),
                keep_index=keep_index,
                purge=purge,
                wait=wait,
                cancel=self._cancel,
            )

    def folders(self) -> tuple[Folder, ...]:
        """The added folders."""
        with self._call() as opened:
            return added_folders(opened.settings)

    @checked
    def files(
        self, *, folder: Folders = (), include: Names = (), limit: int = 0, after: FileRef | None = None
    ) -> tuple[IndexedFile, ...]:
        """The files that the index holds, by folder and path; with ``limit`` a page of so many at most.

        ``after`` is the ``ref`` of the last file of the page before.

        Raises:
            InvalidRequestError: an argument cannot be used; the message names it.
            FolderNotFoundError: a folder is neither added nor in the index.
        """
        if limit < 0:
            raise InvalidRequestError.of("limit", f"{limit} is negative; 0 means all")
        with self._call() as opened:
            found, _ = indexed_files(
                opened.settings,
                opened.workspace.indexer,
                folders=names_of(folder),
                include=names_of(include),
                after=after,
                limit=limit,
            )
            return tuple(found)

    @checked
    def status(self, *, skipped: bool = False) -> WorkspaceStatus:
        """What is indexed, by folder, and what needs attention; with each thing left out if ``skipped``.

        Raises:
            IndexDamagedError: not even that can be told.
        """
        with self._call() as opened:
            return opened.workspace.indexer.status(skipped_files=skipped)

    @checked
    def index(
        self,
        *targets: str | Path,
        force: bool = False,
        rebuild: bool = False,
        max_files: int = 0,
        wait: bool = True,
        on_event: Callable[[RunEvent], None] | None = None,
    ) -> IndexReport:
        """Bring ``targets`` up to date: folders, or paths below one; all folders if none is named.

        ``on_event`` hears of each file as it is done. ``wait`` waits for another process that writes.

        Raises:
            FolderNotFoundError: there is no folder, or a target lies in none.
            IndexLockedError: another process writes, and ``wait`` is false.
            StorageError, ModelUnusableError, UnavailableError, CancelledError: as they say; what was committed stays.
        """
        with self._call() as opened:
            check_any_folder(opened.settings)
            requests = index_requests(
                opened.settings,
                [os.fspath(target) for target in targets],
                force=force,
                rebuild=rebuild,
                max_files=max_files,
                wait=wait,
            )
            run = partial(opened.workspace.indexer.index, on_event=on_event or _unheard, cancel=self._cancel)
            return run_in_turn(requests, run)

    def close(self) -> None:
        """Let no further call begin; what is open closes with the last call that is under way."""
        self._source.close()

    @contextmanager
    def _call(self) -> Iterator[Opened]:
        if self._source.closed:
            raise UnavailableError("the corpus is closed", hint="Open it again with open_corpus().")
        with self._source.call() as opened:
            yield opened


def open_corpus(
    config: str | Path | None = None, *, server: str | None = None, workspace: str = "", watch: bool = False
) -> Corpus:
    """The corpus that the settings in effect describe, as the command line would use it here and now.

    ``config`` is a project, or a settings file in place of the user's; ``server`` is ``HOST[:PORT]``, or empty for this
    machine's index; ``workspace`` names a workspace apart from the added folders, here or on the ``server``, or is a
    directory in a project. Models load with the first question. ``watch`` keeps an index that was made up with its
    folders from the first call until the corpus is closed; a server does that by itself.

    Warns:
        UserWarning: a setting is not known, and not used.

    Raises:
        ConfigError: settings cannot be used as they are.
        InvalidRequestError: ``config`` and ``workspace`` contradict each other.
        WorkspaceNotFoundError: there is no such workspace.
    """
    source, told = open_source(config, server, workspace, watch)
    for warning in told:
        warnings.warn(warning, stacklevel=2)
    return Corpus(source)


@checked
def open_source(
    config: str | Path | None, server: str | None, workspace: str, watch: bool
) -> tuple[LiveWorkspace, tuple[str, ...]]:
    """What both kinds of corpus ask, and what is odd about its settings."""
    if config is not None and is_directory(workspace):
        raise InvalidRequestError.of("workspace", "a directory selects its project: give either config or workspace")
    path = None if config is None else Path(config)
    flags = (
        {} if server is None else {"server": server, "server_workspace": workspace if server and workspace else None}
    )
    here = "" if server else workspace
    load = partial(load_settings, path, flags=flags, cwd=working_directory(), workspace=here)
    return LiveWorkspace(load, open_followed_workspace if watch else open_workspace), load().warnings


def _unheard(_event: RunEvent) -> None:
    return None
