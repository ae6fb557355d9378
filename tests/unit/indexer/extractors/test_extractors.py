"""Documents from files: languages by name and first line, notebooks by cell."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everfind_core.model import Document, LineKind, SkipReason
from everfind_core.ports import NotExtractedError
from everfind_indexer.discovery import discover
from everfind_indexer.extractors import Extraction


def extract(path: str, raw: bytes) -> Document:
    with Extraction() as extraction:
        return extraction.extract(path, raw)


CODE, CONFIG, MARKDOWN, PROSE = LineKind.CODE, LineKind.CONFIG, LineKind.MARKDOWN, LineKind.PROSE


@pytest.mark.parametrize(
    ("path", "language", "kind"),
    [
        ("a/b.py", "python", CODE), ("x.pyi", "python", CODE), ("x.js", "javascript", CODE),
        ("x.jsx", "javascript", CODE),
        ("x.ts", "typescript", CODE), ("x.tsx", "tsx", CODE), ("x.go", "go", CODE), ("x.rs", "rust", CODE),
        ("X.java", "java", CODE), ("x.kt", "kotlin", CODE), ("x.c", "c", CODE), ("x.h", "c", CODE),
        ("x.cpp", "cpp", CODE),
        ("x.hpp", "cpp", CODE), ("x.cs", "csharp", CODE), ("x.rb", "ruby", CODE), ("x.php", "php", CODE),
        ("x.swift", "swift", CODE), ("x.scala", "scala", CODE), ("x.sh", "bash", CODE), ("x.lua", "lua", CODE),
        ("x.SQL", "sql", CODE), ("Dockerfile", "dockerfile", CODE), ("Dockerfile.dev", "dockerfile", CODE),
        ("Makefile", "make", CODE), ("CMakeLists.txt", "cmake", CODE), ("Gemfile", "ruby", CODE),
        ("README.md", "markdown", MARKDOWN), ("x.mdx", "markdown", MARKDOWN), (".cursorrules", "markdown", MARKDOWN),
        ("x.json", "json", CONFIG), ("x.yml", "yaml", CONFIG), ("x.toml", "toml", CONFIG), ("x.ini", "ini", CONFIG),
        ("x.xml", "xml", CONFIG), ("go.mod", "gomod", CONFIG), (".env", "dotenv", CONFIG),
        (".env.local", "dotenv", CONFIG),
        (".gitignore", "ignore", CONFIG), ("x.txt", "text", PROSE), ("x.rst", "restructuredtext", PROSE),
        ("x.html", "html", PROSE), ("LICENSE", "", PROSE), ("x.unknown", "", PROSE), ("py", "", PROSE),
        (".py", "", PROSE),
        ("dir.py/notes", "", PROSE),
    ],
)  # fmt: skip
def test_form_by_name(path: str, language: str, kind: LineKind) -> None:
    document = extract(path, b"text\n")
    assert (document.language, document.kind, document.text) == (language, kind, "text\n")


@pytest.mark.parametrize(
    ("first", "language"),
    [
        ("#!/usr/bin/env python3", "python"), ("#!/usr/bin/python3.11 -u", "python"), ("#!/bin/sh", "bash"),
        ("#! /bin/bash -eu", "bash"), ("#!/usr/bin/env -S node --no-warnings", "javascript"),
        ("#!/usr/bin/env FOO=1 ruby", "ruby"), ("#!/usr/bin/perl5.36", "perl"), ("#!/usr/bin/env Rscript", "r"),
    ],
)  # fmt: skip
def test_form_by_first_line(first: str, language: str) -> None:
    document = extract("bin/tool", f"{first}\nx\n".encode())
    assert (document.language, document.kind) == (language, LineKind.CODE)


@pytest.mark.parametrize("first", ["#!", "#!/usr/bin/env", "#!/usr/bin/env -S", "#!/opt/own/thing", "# !/bin/sh"])
def test_an_unknown_interpreter_is_prose(first: str) -> None:
    assert extract("tool", f"{first}\n".encode()).kind is LineKind.PROSE


def test_binary_content_is_refused_whatever_the_name() -> None:
    with pytest.raises(NotExtractedError) as caught:
        extract("x.py", b"\x7fELF\0\0")
    assert caught.value.reason is SkipReason.BINARY


def notebook(cells: list[dict[str, Any]], **rest: Any) -> bytes:
    return json.dumps({"cells": cells, "nbformat": 4, **rest}).encode()


def test_notebook_cells_without_outputs() -> None:
    raw = notebook(
        [
            {"cell_type": "markdown", "source": ["# Title\n", "words"]},
            {"cell_type": "code", "source": "x = 1\r\ny = 2\n", "outputs": [{"text": "SECRET OUTPUT"}]},
            {"cell_type": "code", "source": ["'''\n", "```py\n", "'''"]},
            {"cell_type": "raw", "source": "raw"},
            {"cell_type": "code", "source": []},
        ],
        metadata={"kernelspec": {"language": "R"}},
    )
    document = extract("a.ipynb", raw)
    assert document.text == "# Title\nwords\n\n```r\nx = 1\ny = 2\n```\n\n````r\n'''\n```py\n'''\n````\n\nraw\n"
    assert (document.language, document.kind) == ("r", LineKind.MARKDOWN)


def test_notebook_of_format_3() -> None:
    cells = [{"cell_type": "heading", "level": 2, "source": "H"}, {"cell_type": "code", "input": ["print(1)"]}]
    document = extract("a.ipynb", json.dumps({"worksheets": [{"cells": cells}], "nbformat": 3}).encode())
    assert document.text == "## H\n\n```python\nprint(1)\n```\n"


@pytest.mark.parametrize(
    "raw",
    [b"{not json", b"[]", b"{}", b'{"cells": 1}', b'{"cells": [1]}', b'{"worksheets": [1]}', b"[" * 100_000, b"null"],
)
def test_a_broken_notebook_is_text(raw: bytes) -> None:
    document = extract("a.ipynb", raw)
    assert (document.text, document.kind, document.language) == (raw.decode(), LineKind.CONFIG, "json")


def test_a_notebook_without_text_says_so() -> None:
    with pytest.raises(NotExtractedError) as caught:
        extract("a.ipynb", notebook([{"cell_type": "code", "source": ""}]))
    assert caught.value.reason is SkipReason.NO_TEXT


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["cells", "worksheets", "source", "input", "cell_type", "metadata", "kernelspec", "level"]),
            inner,
        )
    ),
    max_leaves=12,
)


@given(JSON)
def test_any_json_is_a_document_or_has_no_text(value: Any) -> None:
    raw = json.dumps(value).encode()
    try:
        assert extract("a.ipynb", raw).text
    except NotExtractedError as refused:
        reason = refused.reason
    else:
        reason = SkipReason.NO_TEXT
    assert reason is SkipReason.NO_TEXT


def test_document_formats_are_found_although_they_are_binary(tmp_path: Path) -> None:
    for name in ("a.PDF", "b.docx", "c.doc", "d.epub", "e.eml"):
        (tmp_path / name).write_bytes(b"\0")
    found = discover(tmp_path)
    assert [file.path for file in found.files] == ["a.PDF", "b.docx", "d.epub", "e.eml"]
    assert [(entry.ref.path, entry.reason) for entry in found.skipped] == [("c.doc", SkipReason.BINARY)]
