"""URIs: each file has one, and each leads back to its file or nowhere."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everfind_core.errors import InvalidRequestError
from everfind_core.paths import check_relative
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
    assert parse_uri(uri) == (folder, path)


@given(NAMES)
def test_a_folders_uri_leads_back_to_it(folder: str) -> None:
    assert parse_uri(folder_uri(folder)) == (folder, "")


@given(st.text(max_size=60).map(lambda tail: f"everfind://file/{tail}") | st.text(max_size=60))
def test_any_other_text_gives_a_clean_path_or_is_refused(uri: str) -> None:
    try:
        _, path = parse_uri(uri)
    except InvalidRequestError:
        return
    segments = path.split("/") if path else []
    assert not {"", ".", ".."} & set(segments)
    assert "\0" not in path


def test_a_path_with_escapes_of_its_own_stays_what_it_is() -> None:
    uri = file_uri("docs", "100% %FF.md")
    assert uri == "everfind://file/docs/100%25%20%25FF.md"
    assert parse_uri(uri) == ("docs", "100% %FF.md")
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


def test_a_long_file_is_cut_with_a_sentence(served: Served, engines: FakeEngines) -> None:
    engines.text = "x" * 70_000
    result = served.call("cat_file", {"path": "api/a.py"})
    assert len(result.structured_content["text"]) == 60_000
    assert result.structured_content["truncated"] is True
    assert "[cut here, at line 1 of 2: continue with start_line=2]" in text_of(result)
    assert engines.reads[-1].end_line == 400
    served.call("cat_file", {"path": "api/a.py", "start_line": 10})
    assert (engines.reads[-1].start_line, engines.reads[-1].end_line) == (10, 2009)
