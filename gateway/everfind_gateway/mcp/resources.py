"""Folders and files as MCP resources: `everfind://folder/NAME` and `everfind://file/NAME/PATH`.

Where a server answers from several workspaces, `?workspace=W` after either names another than its own.
"""

from __future__ import annotations

import json
import mimetypes
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import quote, unquote

from everfind_core.answers.json_form import coverage_json, folder_json
from everfind_core.errors import FileNotIndexableError, FolderNotFoundError, InvalidRequestError
from everfind_core.file_pages import file_page
from everfind_core.model import Folder, FolderStatus, IndexedFile, ReadFileRequest
from everfind_gateway.mcp import file_cursor
from everfind_gateway.mcp.arguments import WORKSPACE
from everfind_gateway.mcp.calls import Call

FOLDER = "everfind://folder/"
FILE = "everfind://file/"
FOLDER_TEMPLATE = f"{FOLDER}{{folder}}"
FILE_TEMPLATE = f"{FILE}{{folder}}/{{+path}}"
IN_WORKSPACE = f"{{?{WORKSPACE}}}"
"""What each template ends with on a server of several workspaces."""
MAX_URI = 8_192
PAGE_FILES = 500
"""Files on a page of the list."""
MAX_PAGES = 40
"""Reads of a file at most, each of as many lines as the port gives at once."""


class Meant(NamedTuple):
    """What a URI means. ``path`` is empty for a folder, ``workspace`` for the server's own."""

    folder: str
    path: str
    workspace: str = ""


def folder_uri(name: str, workspace: str = "") -> str:
    """The URI of a folder."""
    return FOLDER + quote(name, safe="") + _query(workspace)


def file_uri(folder: str, path: str, workspace: str = "") -> str:
    """The URI of a file; ``path`` in string form, so that a literal ``%`` in it becomes ``%25``."""
    return f"{FILE}{quote(folder, safe='')}/{quote(path, safe='/')}{_query(workspace)}"


def parse_uri(uri: str) -> Meant:
    """What a URI means.

    Each part is decoded once. What a path relative to a folder cannot be is refused, not repaired.

    Raises:
        InvalidRequestError: it is no URI of everfind.
    """
    place, question, query = uri.partition("?")
    if len(uri) > MAX_URI or any(one in uri for one in "#\\") or not uri.isprintable():
        raise _no_resource(uri)
    if place.startswith(FOLDER):
        segments = [place.removeprefix(FOLDER)]
    elif place.startswith(FILE) and "/" in place.removeprefix(FILE):
        segments = place.removeprefix(FILE).split("/")
    else:
        raise _no_resource(uri)
    named = query.removeprefix(f"{WORKSPACE}=")
    if question and (named == query or "&" in named):
        raise _no_resource(uri)
    try:
        *decoded, workspace = [unquote(part, errors="strict") for part in (*segments, named)]
    except UnicodeDecodeError:
        raise _no_resource(uri) from None
    if any(part in ("", ".", "..") or "/" in part or "\0" in part for part in decoded):
        raise _no_resource(uri)
    if question and (not workspace or "\0" in workspace):
        raise _no_resource(uri)
    return Meant(decoded[0], "/".join(decoded[1:]), workspace)


@dataclass(frozen=True, slots=True)
class Page:
    """Resources of one page, and the cursor of the next; empty on the last."""

    folders: Sequence[Folder]
    files: Sequence[IndexedFile]
    next_cursor: str


def listed(call: Call, cursor: str) -> Page:
    """The page that ``cursor`` names, the first if it is empty: all folders, then the indexed files in order.

    Raises:
        InvalidRequestError: no page gave this cursor.
    """
    after = file_cursor.decoded(cursor)
    with call.corpus.call() as opened:
        folders = opened.workspace.indexer.folders()
        names = {folder.name for folder in folders}
        shown, more = file_page(opened.workspace.indexer, names.__contains__, PAGE_FILES, after=after)
    following = file_cursor.encoded(shown[-1].ref) if more else ""
    return Page(folders=folders if after is None else (), files=shown, next_cursor=following)


def read(call: Call, meant: Meant) -> tuple[str, str]:
    """A resource's text and its MIME type.

    Raises:
        FolderNotFoundError, FileNotIndexableError: there is no such resource.
    """
    if meant.path:
        return _read_file(call, meant.folder, meant.path), mime_type(meant.path)
    return _read_folder(call, meant), "application/json"


def mime_type(path: str) -> str:
    """A file's MIME type by its name, of those that are text."""
    if path.endswith((".md", ".markdown")):
        return "text/markdown"
    guessed = mimetypes.guess_type(path)[0] or ""
    is_text = guessed.startswith("text/") or guessed in ("application/json", "application/xml")
    return guessed if is_text else "text/plain"


def _read_folder(call: Call, meant: Meant) -> str:
    with call.corpus.call() as opened:
        found = opened.workspace.indexer.status()
    for one in found.folders:
        if one.added and one.folder.name == meant.folder:
            return _folder_text(one, meant.workspace)
    raise FolderNotFoundError(f"no folder is called {meant.folder!r}")


def _folder_text(status: FolderStatus, workspace: str) -> str:
    form = {
        **folder_json(status.folder),
        "usable": status.usable,
        "coverage": coverage_json(status.coverage),
        "files": f"{FILE}{quote(status.folder.name, safe='')}/{{+path}}{_query(workspace)}",
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


def _query(workspace: str) -> str:
    return f"?{WORKSPACE}={quote(workspace, safe='')}" if workspace else ""


def _no_resource(uri: str) -> InvalidRequestError:
    return InvalidRequestError.of(
        "uri",
        f"{uri[:200]!r} is no resource of this server",
        hint=f"They are {FOLDER_TEMPLATE} and {FILE_TEMPLATE}, each part percent-encoded.",
    )
