"""What is found in Python, against Python's own parser."""

from __future__ import annotations

import ast
import sysconfig
from collections import Counter
from pathlib import Path

import pytest

from everfind_core.callgraph.symbols import is_name
from everfind_core.model.symbols import NO_SYMBOLS
from everfind_indexer.syntax.parsing import parse

STDLIB = Path(sysconfig.get_path("stdlib"))
SAMPLE = sorted(STDLIB.glob("*.py"))[::8]
MORE = sorted({*STDLIB.glob("*.py"), *STDLIB.glob("[a-z]*/*.py")} - set(SAMPLE))[::12]
KNOWN_GAPS = {"type"}
"""``type`` is also a statement of Python 3.12, which the grammar prefers where both are possible."""


def check(text: str) -> None:
    tree = ast.parse(text)
    lines = text.split("\n")
    found = parse(lines, text, "python").symbols
    defined = {(d.name, d.line): d.end_line for d in found.definitions}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            beyond = lines[node.end_lineno or 0 : defined[node.name, node.lineno]]
            assert all(not line.strip() or line.lstrip().startswith("#") for line in beyond)
    aliases = {
        alias.asname: alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname
    }
    called = Counter((aliases.get(key.name, key.name), line) for line, key in found.uses if key.called)
    expected = Counter((aliases.get(name, name), line) for name, line in calls(tree))
    different = {name for name, _ in (expected - called) | (called - expected)}
    assert {name for name in different if is_name(name)} <= KNOWN_GAPS | set(aliases.values())


def calls(tree: ast.AST) -> list[tuple[str, int]]:
    """Each call of a name or attribute: the last name, and the line that it ends in."""
    return [
        (node.func.id if isinstance(node.func, ast.Name) else node.func.attr, node.func.end_lineno or 0)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute)
    ]


def is_readable(text: str) -> bool:
    """Whether this interpreter and the grammar read all of it."""
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return not any(parse(text.split("\n"), text, "python").unread)


@pytest.mark.parametrize("path", SAMPLE, ids=lambda path: path.stem)
def test_definitions_and_calls_of_the_standard_library(path: Path) -> None:
    check(path.read_text("utf-8"))


@pytest.mark.slow
@pytest.mark.parametrize("path", MORE, ids=lambda path: f"{path.parent.name}.{path.stem}")
def test_definitions_and_calls_of_more_of_it(path: Path) -> None:
    text = path.read_text("utf-8", "replace")
    if not is_readable(text):
        pytest.skip("no Python to this interpreter or to the grammar")
    check(text)


def test_each_chunk_has_what_its_own_lines_define_and_use() -> None:
    lines = ["def a(): ...", "", "b()"]
    first, between, last = parse(lines, "\n".join(lines), "python").symbols.by_chunk([1, 2, 3])
    assert ([one.name for one in first.definitions], first.uses) == (["a"], ())
    assert between == NO_SYMBOLS
    assert (last.definitions, [(use.name, use.lines) for use in last.uses]) == ((), [("b", (3,))])
