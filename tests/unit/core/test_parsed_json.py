"""JSON from files and clients: whatever is wrong with it is a ValueError, and nobody parses it another way."""

from __future__ import annotations

import ast
import base64
from collections.abc import Callable
from pathlib import Path

import pytest

from everfind_core.errors import InvalidRequestError
from everfind_core.model import SearchRequest
from everfind_core.parsed_json import parse_json
from everfind_core.watch_state import WATCH_STATE, WatchState, following, read_watch_state
from everfind_rpc.paging import key_of
from everfind_searcher.cursor import decode_cursor

ROOT = Path(__file__).resolve().parents[3]
DEEP = "[" * 100_000
ENCODED = base64.urlsafe_b64encode(DEEP.encode()).decode()


@pytest.mark.parametrize("text", [DEEP, '{"a":' * 100_000, "", "{", b"\xff", "1" * 100_000])
def test_what_is_wrong_is_a_value_error(text: str | bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_json(text)


def test_what_is_right_comes_back() -> None:
    assert parse_json(b'{"a": [1, null, "\\u00e9"]}') == {"a": [1, None, "é"]}


@pytest.mark.parametrize("decode", [lambda: decode_cursor(SearchRequest("x", cursor=ENCODED)), lambda: key_of(ENCODED)])
def test_a_deep_cursor_of_a_client_is_refused(decode: Callable[[], object]) -> None:
    with pytest.raises(InvalidRequestError):
        decode()


@pytest.mark.parametrize("text", [DEEP, '{"pending": {"docs": 1e999}, "behind": []}'])
def test_a_followers_state_that_says_nothing_counts_as_one_that_has_just_begun(tmp_path: Path, text: str) -> None:
    with following(tmp_path) as first:
        assert first
        (tmp_path / WATCH_STATE).write_text(text)
        assert read_watch_state(tmp_path) == WatchState()


def test_there_is_one_parser() -> None:
    parsing = {
        str(path.relative_to(ROOT))
        for room in ("core", "rpc", "services", "gateway")
        for path in (ROOT / room).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute)
        and node.attr in ("load", "loads")
        and isinstance(node.value, ast.Name)
        and node.value.id == "json"
    }
    assert parsing == {"core/everfind_core/parsed_json.py"}
