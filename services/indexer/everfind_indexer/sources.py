"""The files of a workspace's folders: found, and read as the index reads them. What is not indexable cannot be read."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from everfind_core.cancellation import Cancellation
from everfind_core.errors import FileNotIndexableError, FolderNotFoundError, FolderUnusableError, InvalidRequestError
from everfind_core.files.paths import check_relative, encode_os_path
from everfind_core.model import Document, FileRef, FileText, Folder, ReadFileRequest, SkippedFile
from everfind_core.ports import NotExtractedError
from everfind_core.text.secrets import mask_secrets
from everfind_indexer.discovery import Discovery, discover
from everfind_indexer.extractors import Extraction, claims
from everfind_indexer.extractors.formats import extension_of
from everfind_indexer.files.reading import RawFile, open_root, read_file
from everfind_indexer.files.sizes import SizeLimits
from everfind_indexer.recent import RecentDocuments
from everfind_indexer.settings import IndexerSettings

MAX_LINES = 5_000
MAX_CHARACTERS = 500_000


@dataclass(frozen=True, slots=True)
class SourceText:
    """A file's text as the index sees it (extracted, secrets masked), and the hash of its bytes.

    ``page_starts`` are the lines (from 1) at which its pages start; ``extracted_from`` names the format of a document.
    """

    text: str
    content_hash: str
    redactions: int
    page_starts: tuple[int, ...] = ()
    extracted_from: str = ""


class _Rules(TypedDict):
    exclude_roots: tuple[str, ...]
    include: tuple[str, ...]
    user_ignore: Path | None
    sizes: SizeLimits


class Sources:
    """Reads a workspace's folders."""

    def __init__(self, settings: IndexerSettings, recent: RecentDocuments | None = None) -> None:
        self._settings = settings
        self._by_name = {folder.name: folder for folder in settings.folders}
        self._recent = recent or RecentDocuments()
        self.sizes = settings.sizes

    def by_name(self) -> dict[str, Folder]:
        """The added folders."""
        return dict(self._by_name)

    def folder(self, name: str) -> Folder:
        """The added folder of this name.

        Raises:
            FolderNotFoundError: there is none.
        """
        if name not in self._by_name:
            raise FolderNotFoundError(
                f"no folder is called {name!r}; there are {', '.join(sorted(self._by_name)) or 'none'}",
                hint="See `everfind list`, or add one with `everfind add DIR`.",
            )
        return self._by_name[name]

    def usable(self, folder: Folder) -> bool:
        """Whether a folder's directory can be listed now."""
        try:
            os.close(open_root(folder.root))
        except FolderUnusableError:
            return False
        return True

    def discover(self, folder: Folder, *, below: Sequence[str] = (), cancel: Cancellation | None = None) -> Discovery:
        """A folder's files; those of an added folder inside it belong to that one.

        Raises:
            FolderUnusableError: its directory is missing or cannot be listed.
        """
        try:
            os.close(open_root(folder.root))
            return discover(folder.root, folder=folder.name, below=below, cancel=cancel, **self._rules(folder))
        except FolderUnusableError as error:
            raise FolderUnusableError(
                f"folder {folder.name}: {error.message}",
                hint=f"Bring the directory back, or drop it with `everfind remove {folder.name}`.",
                details=error.details,
            ) from error

    def read(self, ref: FileRef, extraction: Extraction) -> SourceText:
        """A file's text; the caller has made sure that it is indexable.

        Raises:
            NotExtractedError: it has none.
        """
        raw = read_file(self.folder(ref.folder).root, ref.path, self.sizes.of(ref.path))
        document = self._document(ref.path, raw, extraction)
        text, redactions = mask_secrets(document.text) if self._settings.redact_secrets else (document.text, 0)
        return SourceText(text, raw.content_hash, redactions, document.page_starts, document.extracted_from)

    def _document(self, path: str, raw: RawFile, extraction: Extraction) -> Document:
        extension = extension_of(path)
        if not claims(extension):
            return extraction.extract(path, raw.data)
        known = self._recent.get(extension, raw.content_hash)
        if known is not None:
            return known
        try:
            document = extraction.extract(path, raw.data)
        except NotExtractedError as error:
            self._recent.keep(extension, raw.content_hash, error)
            raise
        self._recent.keep(extension, raw.content_hash, document)
        return document

    def read_lines(self, request: ReadFileRequest, indexed_hash: Callable[[str, str], str]) -> FileText:
        """Lines of an indexable file.

        Raises:
            FolderNotFoundError, FileNotIndexableError: it is not one of ours.
            InvalidRequestError: the range is no range.
        """
        folder = self.folder(request.folder)
        check_relative(request.path)
        if request.start_line < 1 or (request.end_line and request.end_line < request.start_line):
            given = f"{request.start_line}-{request.end_line} is no range of them"
            what = given if request.end_line else f"{request.start_line} is none"
            raise InvalidRequestError.of("start_line", f"lines count from 1, and {what}")
        ref = FileRef(folder.name, request.path)
        source = self._indexable(folder, ref)
        lines = source.text.split("\n")
        if lines[-1] == "" and len(lines) > 1:
            lines.pop()
        end = min(request.end_line or len(lines), len(lines))
        wanted, truncated = _bounded(lines[request.start_line - 1 : end])
        return FileText(
            ref=ref,
            absolute_path=absolute_path(folder, request.path),
            start_line=request.start_line,
            end_line=request.start_line + len(wanted) - 1,
            total_lines=len(lines),
            text="\n".join(wanted),
            truncated=truncated,
            indexed=source.content_hash == indexed_hash(folder.name, request.path),
            redactions=source.redactions,
            extracted_from=source.extracted_from,
        )

    def _indexable(self, folder: Folder, ref: FileRef) -> SourceText:
        found = discover(folder.root, below=ref.path, **self._rules(folder))
        if all(file.path != ref.path for file in found.files):
            raise _not_indexable(ref, _why_left_out(ref.path, found.skipped))
        try:
            with Extraction() as extraction:
                return self.read(ref, extraction)
        except NotExtractedError as error:
            raise _not_indexable(ref, error.message or error.reason.value) from error

    def _rules(self, folder: Folder) -> _Rules:
        """What decides, beside the folder itself, which of its files are indexable."""
        others = (other.root for other in self._settings.folders if other.name != folder.name)
        index = encode_os_path(self._settings.index_directory.absolute())
        return _Rules(
            exclude_roots=(*others, index),
            include=folder.include,
            user_ignore=self._settings.user_ignore,
            sizes=self.sizes,
        )


def absolute_path(folder: Folder, path: str) -> str:
    """Where a file lies, in string form."""
    return f"{folder.root.rstrip('/')}/{path}"


def _bounded(lines: list[str]) -> tuple[list[str], bool]:
    """As many whole lines as the limits of one answer allow, and whether that cut some off."""
    kept: list[str] = []
    characters = 0
    for line in lines[:MAX_LINES]:
        characters += len(line) + 1
        if characters > MAX_CHARACTERS and kept:
            return kept, True
        kept.append(line)
    return kept, len(lines) > len(kept)


def _why_left_out(path: str, skipped: Iterable[SkippedFile]) -> str:
    """Why discovery does not list a file: the reason of its own, or of a directory around it."""
    for one in skipped:
        if one.ref.path == path or (one.ref.path.endswith("/") and path.startswith(one.ref.path)):
            reason = one.reason.value.replace("_", " ")
            what = one.message if one.message.startswith(reason) else f"{reason}{one.message and ', '}{one.message}"
            return f"it is left out of the index: {what}"
    return "it is absent, or nothing that is ever listed (a directory, a file of git's own)"


def _not_indexable(ref: FileRef, why: str) -> FileNotIndexableError:
    return FileNotIndexableError(
        f"{ref.path} in folder {ref.folder} cannot be read: {why}",
        hint="See `everfind status --skipped` for what was left out and why.",
    )
