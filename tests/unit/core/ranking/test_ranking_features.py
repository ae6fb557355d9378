from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everfind_core.model import FileRef
from everfind_core.ports import StoredChunk
from everfind_core.ranking.definitions import defines
from everfind_core.ranking.features import Features, TermMatcher, longest_run, part_match, read_features
from everfind_core.ranking.query import read_query
from everfind_core.text.plain_words import plain_words


def chunk(path: str, text: str = "", symbol: str = "") -> StoredChunk:
    return StoredChunk("id", FileRef("f", path), 0, 1, 2, text, "", "k", "h", 10, symbol=symbol)


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        ("class ConfigDict(TypedDict):", "ConfigDict", 1),
        ("def f(a: ConfigDict):\n    return ConfigDict(a)", "ConfigDict", 0),
        ("func (r Data) WriteBody(w http.ResponseWriter) {\n\twriteBody(w)\n}", "WriteBody", 1),
        ("func (r Data) WriteBody(w http.ResponseWriter) {\n\twriteBody(w)\n}", "writeBody", 0),
        ("export type Output<T> = T", "Output", 1),
        ("import type { Output } from './a'", "Output", 0),
        ("export {\n  type Output,\n}", "Output", 0),
        ("impl<T> Stack<T> {", "Stack", 1),
        ("pub(crate) fn new_thing(", "new_thing", 1),
        ("  public void close() throws IOException {", "close", 1),
        ("int foo_bar(int a)\n{", "foo_bar", 1),
        ("void Foo::bar(int x) {", "bar", 1),
        ("  close(): void {", "close", 1),
        ("if close():", "close", 0),
        ("#define MAX_LEN 3", "MAX_LEN", 1),
        ("  private static final int PEEKED = 10;", "PEEKED", 0.7),
        ("if (peeked == PEEKED) {", "PEEKED", 0),
        ('  "packageManager": "pnpm"', "packageManager", 0.7),
        ("const useThing = () => {", "useThing", 1),
        ("const useThings = 1", "useThing", 0),
        ("x = new JsonReader(in)", "JsonReader", 0),
    ],
)
def test_a_definition_is_told_from_a_use(text: str, name: str, expected: float) -> None:
    assert defines(text, name) == expected


@given(st.text(max_size=200), st.text(min_size=1, max_size=20))
def test_any_text_can_be_looked_through(text: str, name: str) -> None:
    assert defines(text, name) in (0.0, 0.7, 1.0)


def features(query: str, *chunks: StoredChunk) -> Features:
    refs = [one.ref for one in chunks]
    return read_features(read_query(query), chunks, [list(dict.fromkeys(refs)).index(ref) for ref in refs], [])


def test_quoted_phrases_are_looked_for_word_for_word() -> None:
    chunks = [chunk("a", 'say "Hello,  World"'), chunk("b", "world hello"), chunk("c", "hello worldwide"), chunk("d")]
    assert features('where is "hello world"', *chunks).quoted.tolist() == [1, 0, 0, 0]
    assert features('"hello world" and "world hello"', *chunks).quoted.tolist() == [0.5, 0.5, 0, 0]
    assert features("where is hello world", *chunks).quoted.tolist() == [0, 0, 0, 0]
    assert features("「登录鉴权」在哪里", chunk("e", "用户登录鉴权流程"), chunk("f", "登录的鉴权")).quoted.tolist() == [
        1,
        0,
    ]


def definition(query: str, *chunks: StoredChunk) -> float:
    return float(features(query, *chunks).definition[0])


def test_a_symbol_is_a_definition_and_an_owner_narrows_it() -> None:
    close = chunk("io.py", "def close(self):")
    assert definition("LazyFile.close", chunk("io.py", symbol="LazyFile.close")) == 1
    assert definition("LazyFile.close", chunk("lazy_file.py", "def close(self):")) == 1
    assert definition("LazyFile.close", close, chunk("io.py", "class LazyFile:")) == 1
    assert definition("LazyFile.close", close, chunk("other.py", "class LazyFile:")) == 0.5
    assert definition("LazyFile.close", chunk("io.py", "def close(file: LazyFile):")) == 0.75
    assert definition("LazyFile.close", chunk("io.py", "file.close()")) == 0


def test_a_stem_is_matched_in_parts_and_as_a_name() -> None:
    read = features("how routes are grouped in http", chunk("http/router_group.go"))
    assert read.stem == pytest.approx([(0.7 + 1) / 2])
    assert read.stem_exact == 0
    assert read.path == pytest.approx([1 / 5])  # how, rout, are, group, http
    assert features("RouterGroup", chunk("routergroup.go")).stem_exact == 1
    assert part_match((), TermMatcher(frozenset({"a"}))) == 0
    assert part_match(("go",), TermMatcher(frozenset({"golang"}))) == 0  # two characters begin too much


@pytest.mark.parametrize(
    ("query", "text", "expected"),
    [
        ("No such command foo.", 'raise Error(f"No such command {name!r}.")', 0.5),
        ("values are required, but foo was given", '"values are required,"\n    " but"', 0.5),
        ("is a directory", "this IS  a\tdirectory!", 1.0),
        ("is a directory", "is a directoryless", 0.0),
        ("is directory", "is directory", 0.0),
        ("one two three four five six seven eight", "one two three four five six", 1.0),
    ],
)
def test_a_run_of_the_querys_words_is_measured(query: str, text: str, expected: float) -> None:
    assert longest_run(plain_words(query).split(), text) == pytest.approx(expected)


@given(st.lists(st.from_regex(r"[a-z]{1,6}", fullmatch=True), max_size=50), st.text(max_size=100))
def test_a_run_is_a_share_and_the_whole_is_one(words: list[str], text: str) -> None:
    assert 0 <= longest_run(words, text) <= 1
    assert longest_run(words, f"{text} {' '.join(words)} {text}") == float(len(words) >= 3)
