"""Folders and files as MCP resources: `everfind://folder/NAME` and `everfind://file/NAME/PATH`."""

from __future__ import annotations

import base64
import json
import mimetypes
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote, unquote

from everfind_core.errors import FileNotIndexableError, FolderNotFoundError, InvalidRequestError
from everfind_core.file_pages import file_page
from everfind_core.json_form import coverage_json, folder_json
from everfind_core.model import FileRef, Folder, FolderStatus, IndexedFile, ReadFileRequest
from everfind_core.parsed_json import parse_json
from everfind_gateway.mcp.calls import Call

FOLDER = "everfind://folder/"
FILE = "everfind://file/"
FOLDER_TEMPLATE = f"{FOLDER}{{folder}}"
FILE_TEMPLATE = f"{FILE}{{folder}}/{{+path}}"
MAX_URI = 8_192
PAGE_FILES = 500
"""Files on a page of the list."""
MAX_PAGES = 40
"""Reads of a file at most, each of as many lines as the port gives at once."""


def folder_uri(name: str) -> str:
    """The URI of a folder."""
    return FOLDER + quote(name, safe="")


def file_uri(folder: str, path: str) -> str:
    """The URI of a file; ``path`` in string form, so that a literal ``%`` in it becomes ``%25``."""
    return f"{FILE}{quote(folder, safe='')}/{quote(path, safe='/')}"


def parse_uri(uri: str) -> tuple[str, str]:
    """The folder's name and the path that a URI means; the path is empty for a folder.

    Each part is decoded once. What a path relative to a folder cannot be is refused, not repaired.

    Raises:
        InvalidRequestError: it is no URI of everfind.
    """
    if len(uri) > MAX_URI or "?" in uri or "#" in uri or "\\" in uri or not uri.isprintable():
        raise _no_resource(uri)
    if uri.startswith(FOLDER):
        segments = [uri.removeprefix(FOLDER)]
    elif uri.startswith(FILE) and "/" in uri.removeprefix(FILE):
        segments = uri.removeprefix(FILE).split("/")
    else:
        raise _no_resource(uri)
    try:
        decoded = [unquote(segment, errors="strict") for segment in segments]
    except UnicodeDecodeError:
        raise _no_resource(uri) from None
    if any(part in ("", ".", "..") or "/" in part or "\0" in part for part in decoded):
        raise _no_resource(uri)
    return decoded[0], "/".join(decoded[1:])


@dataclass(frozen=True, slots=True)
class Page:
    """Resources of one page, and the cursor of the next; empty on the last."""

    folders: Sequence[Folder]
    files: Sequence[IndexedFile]
    next_cursor: str


def listed(call: Call, cursor: str) -> Page:
    """The page that ``cursor`` names, the first if it is empty: all folders, then the indexed files in order.

    A cursor names the last file before its page, so that a page follows whatever the index has become meanwhile.

    Raises:
        InvalidRequestError: no page gave this cursor.
    """
    after = _decoded(cursor)
    with call.corpus.call() as opened:
        folders = opened.workspace.indexer.folders()
        names = {folder.name for folder in folders}
        shown, more = file_page(opened.workspace.indexer, names.__contains__, PAGE_FILES, after=after)
    return Page(
        folders=folders if after is None else (), files=shown, next_cursor=_encoded(shown[-1].ref) if more else ""
    )


def read(call: Call, uri: str) -> tuple[str, str]:
    """A resource's text and its MIME type.

    Raises:
        InvalidRequestError, FolderNotFoundError, FileNotIndexableError: there is no such resource.
    """
    name, path = parse_uri(uri)
    return (_read_file(call, name, path), mime_type(path)) if path else (_read_folder(call, name), "application/json")


def mime_type(path: str) -> str:
    """A file's MIME type by its name, of those that are text."""
    if path.endswith((".md", ".markdown")):
        return "text/markdown"
    guessed = mimetypes.guess_type(path)[0] or ""
    is_text = guessed.startswith("text/") or guessed in ("application/json", "application/xml")
    return guessed if is_text else "text/plain"


def _encoded(last: FileRef) -> str:
    return base64.urlsafe_b64encode(json.dumps((last.folder, last.path)).encode()).decode()


def _decoded(cursor: str) -> FileRef | None:
    """The file that a cursor names; None on the first page."""
    if not cursor:
        return None
    try:
        folder, path = parse_json(base64.b64decode(cursor, altchars=b"-_", validate=True))
    except (ValueError, TypeError):
        folder = path = None
    if not isinstance(folder, str) or not isinstance(path, str):
        raise InvalidRequestError.of("cursor", "no page of this list gave it", hint="List again without a cursor.")
    return FileRef(folder, path)


def _read_folder(call: Call, name: str) -> str:
    with call.corpus.call() as opened:
        found = opened.workspace.indexer.status()
    for one in found.folders:
        if one.added and one.folder.name == name:
            return _folder_text(one)
    raise FolderNotFoundError(f"no folder is called {name!r}")


def _folder_text(status: FolderStatus) -> str:
    form = {
        **folder_json(status.folder),
        "usable": status.usable,
        "coverage": coverage_json(status.coverage),
        "files": f"{FILE}{quote(status.folder.name, safe='')}/{{path}}",
    }
    return json.dumps(form, ensure_ascii=False, indent=2)


def _read_file(call: Call, folder: str, path: str) -> str:
    """A whole file, in as many reads as that takes."""
    parts: list[str] = []
    start = 1
    with call.corpus.call() as opened:
        for _ in range(MAX_PAGES):
            call.cancel.check()
            page = opened.workspace.indexer.read_file(ReadFileRequest(folder, path, start))
            parts.append(page.text)
            start = page.end_line + 1
            if not page.truncated or start > page.total_lines:
                return "\n".join(parts)
    raise FileNotIndexableError(
        f"{path} in folder {folder} is too large for a resource", hint="Read it in parts with cat_file."
    )


def _no_resource(uri: str) -> InvalidRequestError:
    return InvalidRequestError.of(
        "uri",
        f"{uri[:200]!r} is no resource of this server",
        hint=f"They are {FOLDER_TEMPLATE} and {FILE_TEMPLATE}, each part percent-encoded.",
    )
