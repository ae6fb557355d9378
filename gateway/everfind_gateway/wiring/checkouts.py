"""A server's folders where they lie on this machine: the same answers, with paths that open in the user's editor."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from everfind_core.model import FileText, Folder, GatherAnswer, GrepAnswer, Hit, RelatedAnswer, SearchAnswer

if TYPE_CHECKING:
    from everfind_core.cancellation import Cancellation
    from everfind_core.model import (
        AddFolderRequest,
        Calibration,
        FileRef,
        GatherRequest,
        GrepRequest,
        IndexedFile,
        IndexReport,
        IndexRequest,
        ReadFileRequest,
        RelatedRequest,
        RemovedFolder,
        RemoveFolderRequest,
        SearchRequest,
        WorkspaceStatus,
    )
    from everfind_core.ports import EventSink, Indexer, Searcher


@dataclass(frozen=True, slots=True)
class Checkouts:
    """Where folders lie on this machine: ``roots`` in string form, by folder name. Others stay where they are."""

    roots: Mapping[str, str]

    def place(self, folder: str, path: str, theirs: str) -> str:
        """The absolute path of a file here; ``theirs`` is the server's."""
        root = self.roots.get(folder)
        return theirs if root is None else f"{root.rstrip('/')}/{path}"

    def folders(self, folders: Iterable[Folder]) -> Sequence[Folder]:
        """The folders with their roots here."""
        return [replace(folder, root=self.roots.get(folder.name, folder.root)) for folder in folders]

    def hit(self, hit: Hit) -> Hit:
        """The hit with its place here."""
        return replace(hit, absolute_path=self.place(hit.folder, hit.path, hit.absolute_path))

    def answer(self, answer: SearchAnswer) -> SearchAnswer:
        """The answer with its hits' places here."""
        return replace(answer, hits=tuple(map(self.hit, answer.hits)))


@dataclass(frozen=True, slots=True)
class CheckedOutSearcher:
    """An :class:`everfind_core.ports.Searcher` whose hits lie where the checkouts are."""

    searcher: Searcher
    checkouts: Checkouts

    def search(self, request: SearchRequest, *, cancel: Cancellation | None = None) -> SearchAnswer:
        """See :meth:`everfind_core.ports.Searcher.search`."""
        return self.checkouts.answer(self.searcher.search(request, cancel=cancel))

    def gather(self, request: GatherRequest, *, cancel: Cancellation | None = None) -> GatherAnswer:
        """See :meth:`everfind_core.ports.Searcher.gather`."""
        found = self.searcher.gather(request, cancel=cancel)
        passages = tuple(replace(passage, hit=self.checkouts.hit(passage.hit)) for passage in found.passages)
        return replace(found, answer=self.checkouts.answer(found.answer), passages=passages)

    def related(self, request: RelatedRequest, *, cancel: Cancellation | None = None) -> RelatedAnswer:
        """See :meth:`everfind_core.ports.Searcher.related`."""
        found = self.searcher.related(request, cancel=cancel)
        related = tuple(replace(one, hit=self.checkouts.hit(one.hit)) for one in found.related)
        return replace(found, targets=tuple(map(self.checkouts.hit, found.targets)), related=related)

    def close(self) -> None:
        """See :meth:`everfind_core.ports.Searcher.close`."""
        self.searcher.close()


@dataclass(frozen=True, slots=True)
class CheckedOutIndexer:
    """An :class:`everfind_core.ports.Indexer` whose files lie where the checkouts are."""

    indexer: Indexer
    checkouts: Checkouts

    def folders(self) -> Sequence[Folder]:
        """See :meth:`everfind_core.ports.Indexer.folders`."""
        return self.checkouts.folders(self.indexer.folders())

    def index(self, request: IndexRequest, on_event: EventSink, *, cancel: Cancellation | None = None) -> IndexReport:
        """See :meth:`everfind_core.ports.Indexer.index`."""
        return self.indexer.index(request, on_event, cancel=cancel)

    def add_folder(self, request: AddFolderRequest) -> Folder:
        """See :meth:`everfind_core.ports.Indexer.add_folder`; its root is the server's."""
        return self.indexer.add_folder(request)

    def remove_folder(self, request: RemoveFolderRequest, *, cancel: Cancellation | None = None) -> RemovedFolder:
        """See :meth:`everfind_core.ports.Indexer.remove_folder`; its root is the server's."""
        return self.indexer.remove_folder(request, cancel=cancel)

    def read_file(self, request: ReadFileRequest) -> FileText:
        """See :meth:`everfind_core.ports.SourceReader.read_file`."""
        found = self.indexer.read_file(request)
        here = self.checkouts.place(found.ref.folder, found.ref.path, found.absolute_path)
        return replace(found, absolute_path=here)

    def grep(self, request: GrepRequest, *, cancel: Cancellation | None = None) -> GrepAnswer:
        """See :meth:`everfind_core.ports.Indexer.grep`."""
        found = self.indexer.grep(request, cancel=cancel)
        place = self.checkouts.place
        matches = (replace(m, absolute_path=place(m.ref.folder, m.ref.path, m.absolute_path)) for m in found.matches)
        return replace(found, matches=tuple(matches))

    def calibrate(self, *, cancel: Cancellation | None = None) -> Calibration:
        """See :meth:`everfind_core.ports.Indexer.calibrate`."""
        return self.indexer.calibrate(cancel=cancel)

    def indexed_files(
        self, *, folder: str = "", globs: Sequence[str] = (), after: FileRef | None = None, limit: int = 0
    ) -> Sequence[IndexedFile]:
        """See :meth:`everfind_core.ports.Indexer.indexed_files`."""
        return self.indexer.indexed_files(folder=folder, globs=globs, after=after, limit=limit)

    def status(self, *, skipped_files: bool = False, verify: bool = False, compare: bool = False) -> WorkspaceStatus:
        """See :meth:`everfind_core.ports.Indexer.status`; roots are the server's, whose state it is."""
        return self.indexer.status(skipped_files=skipped_files, verify=verify, compare=compare)
