"""JSON from files and clients: whatever is wrong with it is a ValueError, and nobody parses it another way."""

from __future__ import annotations

import ast
import base64
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

import pytest

from everfind_core.errors import InvalidRequestError
from everfind_core.files.parsed_json import convert, parse_json
from everfind_core.index.watch_state import WATCH_STATE, WatchState, following, read_watch_state
from everfind_core.model import SearchRequest
from everfind_rpc.serving.paging import key_of
from everfind_searcher.answering.cursor import decode_cursor
from tests.support.repository import ROOT

DEEP = "[" * 100_000
ENCODED = base64.urlsafe_b64encode(DEEP.encode()).decode()


@pytest.mark.parametrize("text", [DEEP, '{"a":' * 100_000, "", "{", b"\xff", "1" * 100_000])
def test_what_is_wrong_is_a_value_error(text: str | bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_json(text)


def test_what_is_right_comes_back() -> None:
    assert parse_json(b'{"a": [1, null, "\\u00e9"]}') == {"a": [1, None, "é"]}


class Colour(StrEnum):
    """A value of a record."""

    RED = "red"


@dataclass(frozen=True)
class Inner:
    """A record in a record."""

    size: int
    note: str | None = None


@dataclass(frozen=True)
class Outer:
    """A record with a field of each kind that is written."""

    at: float
    colour: Colour
    inner: tuple[Inner, ...] = ()
    names: frozenset[str] = frozenset()
    counts: Mapping[str, int] = field(default_factory=dict)
    rest: Any = None


def test_a_record_comes_back_as_it_was_written() -> None:
    outer = Outer(1.5, Colour.RED, (Inner(1, "x"), Inner(2)), frozenset({"a"}), {"b": 3}, [None])
    text = json.dumps(asdict(outer) | {"names": ["a"], "of a newer version": 1})
    assert convert(parse_json(text), Outer) == outer
    assert convert(parse_json(b'{"at": 2, "colour": "red"}'), Outer) == Outer(2.0, Colour.RED)
    assert [type(number) for number in convert([True], tuple[int, ...])] == [int]


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ({"size": "1"}, Inner),
        ({"size": 1.0}, Inner),
        ({"note": "without a size"}, Inner),
        ({"size": 1, "note": 2}, Inner),
        ([["size", 1]], Inner),
        ({"at": "1", "colour": "red"}, Outer),
        ({"at": float("inf"), "colour": "red"}, Outer),
        ({"at": 1, "colour": "blue"}, Outer),
        ({"at": 1, "colour": "red", "inner": [1]}, Outer),
        ({"at": 1, "colour": "red", "names": "ab"}, Outer),
        ({"at": 1, "colour": "red", "counts": {"b": None}}, Outer),
        ({"at": 1, "colour": "red", "counts": []}, Outer),
        ("ab", tuple[str, ...]),
    ],
)
def test_a_record_of_another_shape_is_an_error(value: Any, kind: type[Any]) -> None:
    with pytest.raises((TypeError, ValueError), match=r"."):
        convert(value, kind)


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
    assert parsing == {"core/everfind_core/files/parsed_json.py"}
