"""What import statements bring into a file."""

from __future__ import annotations

import ast

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from everfind_indexer.syntax.imports import imported

LANGUAGES = (
    "python",
    "javascript",
    "typescript",
    "tsx",
    "go",
    "java",
    "csharp",
    "rust",
    "php",
    "cpp",
    "kotlin",
    "scala",
    "lua",
)


@pytest.mark.parametrize(
    ("language", "statement", "expected"),
    [
        ("python", "import a.b.c", ["a <- a"]),
        ("python", "import a.b as c, d", ["c <- a.b", "d <- d"]),
        ("python", "from . import x", ["x <- .:x"]),
        ("python", "from ..a import (  # why\n    b as c,\n    d,\n)", ["c <- ..a:b", "d <- ..a:d"]),
        ("python", "from a import *", []),
        ("javascript", 'import a from "./a.js"', ["a <- ./a"]),
        ("javascript", "import a, { b as c, d } from './m/index'", ["c <- ./m:b", "d <- ./m:d", "a <- ./m"]),
        ("javascript", "import * as ns from 'm'", ["ns <- m"]),
        ("javascript", "import d, * as ns from 'm'", ["d <- m", "ns <- m"]),
        ("javascript", "import 'side-effect'", []),
        ("javascript", "import x from 'https://esm.sh/x'", ["x <- https://esm.sh/x"]),
        ("javascript", "{ a, b: c } = require('../m')", ["a <- ../m:a", "c <- ../m:b"]),
        ("javascript", "m = require('m')", ["m <- m"]),
        ("typescript", "import type { A } from '@app/a'", ["A <- @app/a:A"]),
        ("typescript", "import { type A, b } from './a.ts'", ["A <- ./a:A", "b <- ./a:b"]),
        ("go", '"net/http"', ["http <- net/http"]),
        ("go", 'kv "x.io/kv/v2"', ["kv <- x.io/kv/v2"]),
        ("go", '"x.io/go-redis/v9"', ["redis <- x.io/go-redis/v9"]),
        ("go", '"gopkg.in/yaml.v3"', ["yaml <- gopkg.in/yaml.v3"]),
        ("go", '"v2"', ["v2 <- v2"]),
        ("go", '_ "x.io/driver"', []),
        ("java", "import a.b.C;", ["C <- a.b:C"]),
        ("java", "import static a.b.C.of;", ["of <- a.b.C:of"]),
        ("java", "import a.b.*;", []),
        ("csharp", "using System.Text;", []),
        ("csharp", "using T = A.B.C;", ["T <- A.B:C"]),
        ("rust", "use std::fs;", ["fs <- std:fs"]),
        ("rust", "pub use crate::a::{self, b as c, d::{E, F}};", [
            *("a <- crate:a", "c <- crate::a:b", "E <- crate::a::d:E", "F <- crate::a::d:F"),
        ]),
        ("rust", "use a::*;", []),
        ("php", "use A\\B;", ["B <- A:B"]),
        ("php", "use A\\{B, C as D};", ["B <- A:B", "D <- A:C"]),
        ("php", "use function A\\f;", ["f <- A:f"]),
        ("cpp", "using a::b::C;", ["C <- a::b:C"]),
        ("cpp", "using namespace a;", []),
        ("kotlin", "import a.b.C", ["C <- a.b:C"]),
        ("kotlin", "import a.b.c as d // why", ["d <- a.b:c"]),
        ("kotlin", "import a.b.*", []),
        ("scala", "import a.b.C", ["C <- a.b:C"]),
        ("scala", "import a.{B, C => D, E => _, _}, f.g", ["B <- a:B", "D <- a:C", "g <- f:g"]),
        ("scala", "import a.b.{c as d, given, *}", ["d <- a.b:c"]),
        ("lua", 'local json = require("cjson.safe")', ["json <- cjson.safe"]),
        ("lua", "local s = require 'net.session'", ["s <- net.session"]),
        ("lua", "local a = require(name)", []),
    ],
)  # fmt: skip
def test_names_and_where_they_come_from(language: str, statement: str, expected: list[str]) -> None:
    found = [
        f"{one.bound} <- {one.module}{':' * bool(one.original)}{one.original}" for one in imported(language, statement)
    ]
    assert found == expected


NAMES = st.sampled_from(["a", "b_c", "D", "e1"])
DOTTED = st.lists(NAMES, min_size=1, max_size=3).map(".".join)
ALIASED = st.tuples(NAMES, st.one_of(st.just(""), NAMES.map(lambda name: f" as {name}"))).map("".join)


@given(st.sampled_from(["", ".", ".."]), DOTTED, st.lists(ALIASED, min_size=1, max_size=3), st.booleans())
def test_python_agrees_with_its_own_parser(dots: str, module: str, names: list[str], parenthesised: bool) -> None:
    listed = f"(\n  {', '.join(names)},\n)" if parenthesised else ", ".join(names)
    statement = f"from {dots}{module} import {listed}"
    node = ast.parse(statement).body[0]
    assert isinstance(node, ast.ImportFrom)
    expected = [(one.asname or one.name, f"{'.' * node.level}{node.module}", one.name) for one in node.names]
    assert [tuple(one) for one in imported("python", statement)] == expected


@example("php", ": \\a")
@given(
    st.sampled_from(LANGUAGES),
    st.text(st.sampled_from("import from use as {}(),;:*.'\"/\\=\n#@ab require"), max_size=80),
)
def test_no_text_breaks_it(language: str, text: str) -> None:
    assert all(" " not in one.module for one in imported(language, text))


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("piece", ["from ", "{", "a as ", "'", "import ", ", ", "a.", "::"])
def test_long_statements_take_no_long_time(language: str, piece: str) -> None:
    assert len(list(imported(language, "from a import " + piece * 4_000))) <= 4_001
