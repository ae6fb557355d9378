"""What is found in each language, against what a person says of a small file.

``calls/<language>.txt`` lists the definitions (first and last line, kind, qualified name) and the uses (line, the
definition that they stand in, receiver, name, origin) of the file beside it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from everfind_indexer.syntax.grammars import LANGUAGES
from everfind_indexer.syntax.parsing import parse

FILES = sorted(path for path in (Path(__file__).parent / "calls").iterdir() if path.suffix != ".txt")


def described(text: str, language: str) -> Iterator[str]:
    symbols = parse(text.split("\n"), text, language).symbols
    for d in symbols.definitions:
        yield f"define {d.line}-{d.end_line} {d.kind} {d.qualified}"
    for line, use in symbols.uses:
        verb = "call" if use.called else "refer"
        name = f"{use.receiver}.{use.name}" if use.receiver else use.name
        yield f"{verb} {line} {use.within or '-'}: {name} {use.origin}".rstrip()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_definitions_and_uses(path: Path) -> None:
    expected = path.with_suffix(".txt").read_text("utf-8").splitlines()
    assert list(described(path.read_text("utf-8"), path.stem)) == expected


def test_the_languages_that_a_call_graph_is_made_for() -> None:
    assert {path.stem for path in FILES} == {
        *("bash", "c", "cpp", "csharp", "go", "java", "javascript", "kotlin", "lua", "php", "python", "ruby", "rust"),
        *("scala", "sql", "swift", "tsx", "typescript"),
    }
    assert {path.stem for path in FILES} == LANGUAGES
