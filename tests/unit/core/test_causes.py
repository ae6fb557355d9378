"""The end of a sentence about a file is the reason alone, in all of the code."""

from __future__ import annotations

import ast
import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from everfind_core.causes import cause
from tests.support.repository import ROOT

ROOMS = ("core", "rpc", "services", "gateway")


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(errno.EISDIR, os.strerror(errno.EISDIR), "/home/me/run.json"), "Is a directory"),
        (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"), "it is not UTF-8"),
        (ValueError("one\n  two"), "one two"),
        (IndexError(), "IndexError"),
    ],
)
def test_a_cause_is_one_line_without_number_and_path(error: Exception, said: str) -> None:
    assert cause(error) == said


def test_no_sentence_ends_with_the_systems_number_and_path() -> None:
    files = [file for room in ROOMS for file in (ROOT / room).rglob("*.py")]
    assert len(files) > 300
    assert [place for file in files for place in leaks(file)] == []


def leaks(file: Path) -> Iterator[str]:
    """Places where a handler that may have caught an OSError puts the error itself into a text."""
    for handler in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if not isinstance(handler, ast.ExceptHandler) or handler.name is None or handler.type is None:
            continue
        caught = {node.id for node in ast.walk(handler.type) if isinstance(node, ast.Name)}
        if caught.isdisjoint({"OSError", "PermissionError", "FileNotFoundError"}):
            continue
        for node in ast.walk(handler):
            shown = node.value if isinstance(node, ast.FormattedValue) else None
            if isinstance(shown, ast.Name) and shown.id == handler.name:
                yield f"{file.relative_to(ROOT)}:{shown.lineno}"
