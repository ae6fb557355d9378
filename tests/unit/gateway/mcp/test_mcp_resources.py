"""URIs: each file has one, and each leads back to its file or nowhere."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import mcp_types as types
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp import Client
from mcp.shared.exceptions import MCPError

from everfind_core.errors import InvalidRequestError
from everfind_core.files.paths import check_relative
from everfind_core.model import FileRef, Folder, IndexedFile
from everfind_gateway.mcp import resources
from everfind_gateway.mcp.resources import file_uri, folder_uri, mime_type, parse_uri
from tests.support.agents import Served, text_of
from tests.support.gateway import FakeEngines

NAMES = st.text(st.characters(codec="utf-8", exclude_characters="/\0"), min_size=1, max_size=20).filter(
    lambda name: name not in (".", "..")
)


@given(NAMES, st.lists(NAMES, min_size=1, max_size=4))
def test_a_files_uri_leads_back_to_it(folder: str, segments: list[str]) -> None:
    path = "/".join(segments)
    uri = file_uri(folder, path)
    assert uri.isascii()
    assert parse_uri(uri) == (folder, path, "")


@given(NAMES)
def test_a_folders_uri_leads_back_to_it(folder: str) -> None:
    assert parse_uri(folder_uri(folder)) == (folder, "", "")


WORKSPACES = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=20)


@given(NAMES, NAMES, WORKSPACES)
def test_a_uri_names_its_workspace(folder: str, path: str, workspace: str) -> None:
    for uri, expected in ((file_uri(folder, path, workspace), path), (folder_uri(folder, workspace), "")):
        assert parse_uri(uri) == (folder, expected, workspace)


@pytest.mark.parametrize(
    "query", ["", "workspace", "workspace=", "workspace=a&b=c", "x=a", "workspace=%00", "WORKSPACE=a"]
)
def test_no_other_query_is_taken(query: str) -> None:
    with pytest.raises(InvalidRequestError, match="no resource"):
        parse_uri(f"everfind://file/docs/a.md?{query}")


@given(st.text(max_size=60).map(lambda tail: f"everfind://file/{tail}") | st.text(max_size=60))
def test_any_other_text_gives_a_clean_path_or_is_refused(uri: str) -> None:
    try:
        path = parse_uri(uri).path
    except InvalidRequestError:
        return
    segments = path.split("/") if path else []
    assert not {"", ".", ".."} & set(segments)
    assert "\0" not in path


def test_a_path_with_escapes_of_its_own_stays_what_it_is() -> None:
    uri = file_uri("docs", "100% %FF.md")
    assert uri == "everfind://file/docs/100%25%20%25FF.md"
    assert parse_uri(uri) == ("docs", "100% %FF.md", "")
    assert check_relative("100% %FF.md")


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("a.md", "text/markdown"),
        ("a.py", "text/x-python"),
        ("a.json", "application/json"),
        ("Makefile", "text/plain"),
        ("a.png", "text/plain"),
        ("a.html", "text/html"),
    ],
)
def test_mime_types_are_those_of_text(path: str, expected: str) -> None:
    assert mime_type(path) == expected


def a_page(
    held: Sequence[IndexedFile],
    *,
    folder: str,
    globs: Sequence[str],
    after: FileRef | None,
    limit: int,
) -> list[IndexedFile]:
    assert (folder, list(globs)) == ("", [])
    place = (after.folder, after.path) if after else ("", "")
    return [file for file in sorted(held, key=key) if key(file) > place][:limit]


def key(file: IndexedFile) -> tuple[str, str]:
    return file.ref.folder, file.ref.path


def test_files_are_listed_page_by_page(
    served: Served, home: Path, engines: FakeEngines, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"src/{n:04}.py" for n in range(2 * resources.PAGE_FILES + 1)]
    held = [IndexedFile(FileRef(folder, name), 7, 0.0, 1, 2) for folder in ("api", "removed") for name in names]
    monkeypatch.setattr(engines, "indexed_files", partial(a_page, held))
    monkeypatch.setattr(engines, "folders", lambda: (Folder("api", str(home / "api")),))

    async def use(client: Client) -> list[str]:
        found: list[str] = []
        cursor: str | None = None
        while True:
            page = await client.list_resources(cursor=cursor)
            found += [str(resource.uri) for resource in page.resources]
            held.insert(0, IndexedFile(FileRef("api", f"a{len(found)}.py"), 7, 0.0, 1, 2))  # the index goes on
            if not (cursor := page.next_cursor):
                return found

    assert served.ask(use) == ["everfind://folder/api", *(f"everfind://file/api/{name}" for name in names)]


@pytest.mark.parametrize("cursor", ["x", "bnVsbA==", "WzEsMl0=", "W10="])
def test_a_cursor_of_no_page_is_refused(served: Served, cursor: str) -> None:
    async def use(client: Client) -> MCPError:
        with pytest.raises(MCPError) as caught:
            await client.list_resources(cursor=cursor)
        return caught.value

    error = served.ask(use).error
    assert (error.code, error.message.startswith("cursor: no page")) == (types.INVALID_PARAMS, True)


def test_a_long_file_is_cut_with_a_sentence(served: Served, engines: FakeEngines) -> None:
    engines.text = "x" * 70_000
    result = served.call("cat_file", {"path": "api/a.py"})
    assert len(result.structured_content["text"]) == 60_000
    assert result.structured_content["truncated"] is True
    assert "[cut here, at line 1 of 2: continue with start_line=2]" in text_of(result)
    assert engines.reads[-1].end_line == 400
    served.call("cat_file", {"path": "api/a.py", "start_line": 10})
    assert (engines.reads[-1].start_line, engines.reads[-1].end_line) == (10, 2009)
