"""Where chunks of code start, and what they are called, by one small file a language."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from everfind_core.chunking import TextChunker
from everfind_core.chunking.source import Source
from everfind_core.chunking.structure import STRUCTURAL, column_of
from everfind_core.model import Chunk, Document, LineKind
from everfind_core.ports import ChunkLimits
from everfind_indexer.syntax import SyntaxChunker
from everfind_indexer.syntax.grammars import LANGUAGES, grammar
from everfind_indexer.syntax.parsing import parse
from everfind_indexer.syntax.structure import analyse
from tests.support.chunk_checks import WordTokenizer, check
from tests.support.syntax_samples import ASSIGN, FILES, SEMICOLON, filled

LIMITS = ChunkLimits(60, 90, 0)


def cut(text: str, language: str, limits: ChunkLimits = LIMITS) -> Sequence[Chunk]:
    document = Document(text, LineKind.CODE, language)
    chunks = SyntaxChunker().chunk(document, WordTokenizer(), limits)
    check(text, chunks, limits, WordTokenizer())
    return chunks


EXPECTED = {
    "python": [("@cache", "first", "function", ""), ("@property", "open", "method", "class Box(Base)")],
    "javascript": [
        ("/** First. */", "first", "function", ""),
        ("export const second = async (a) => {", "second", "function", ""),
        ("@observed", "open", "method", "class Box extends Base"),
        ("shut = () => {", "shut", "method", "class Box extends Base"),
        ("Box.prototype.hide = function (a) {", "hide", "function", ""),
    ],
    "typescript": [
        ("export interface Shape<T> {", "Shape", "interface", ""),
        (
            "private async open(a: T): Promise<void> {",
            "open",
            "method",
            "export abstract class Box<T> implements Shape<T>",
        ),
    ],
    "tsx": [("export function Page(props: Props) {", "Page", "function", "")],
    "go": [
        ("// Run runs.", "Run", "method", ""),
        ("func Map[T any](a []T) []T {", "Map", "function", ""),
    ],
    "rust": [
        ("/// A point.", "Point", "struct", ""),
        ("/// Makes one.", "new", "method", "impl<T: Display> Point<T>"),
        ("fn draw(&self) {", "draw", "method", "pub trait Draw"),
        ("macro_rules! twice {", "twice", "macro", ""),
    ],
    "java": [("/** Opens. */", "open", "method", "public class Box<T> extends Base")],
    "kotlin": [
        ("override suspend fun open(a: Int): Int {", "open", "method", "data class Box(val a: Int) : Base()"),
        ("fun String.wide(a: Int): Int {", "wide", "function", ""),
    ],
    "c": [("/* First", "first", "function", "")],
    "cpp": [
        ("int open(int a) const override {", "open", "method", "namespace geo > class Box : public Base<T>"),
        ("int Box<int>::shut(int a) {", "shut", "function", "namespace geo"),
    ],
    "csharp": [
        (
            "public async Task<int> Open(int a)",
            "Open",
            "method",
            "namespace A.B > public class Box<T> : Base where T : class",
        )
    ],
    "ruby": [
        ("def open(a)", "open", "method", "module Geo > class Box < Base"),
        ("def self.make(a)", "make", "method", "module Geo > class Box < Base"),
    ],
    "php": [
        ("public function open(int $a): int", "open", "method", "abstract class Box extends Base"),
        ("function first($a)", "first", "function", ""),
    ],
    "swift": [
        ("@discardableResult", "open", "method", "public class Box<T>: Base"),
        ("func lift() {", "lift", "method", "extension Box: Lid"),
    ],
    "scala": [
        ("/** A box. */", "Box", "class", ""),
        ("def make(a: Int): Box = {", "make", "method", "object Box"),
    ],
    "bash": [("second() {", "second", "function", "")],
    "lua": [
        ("-- First does.", "first", "function", ""),
        ("M.second = function(a)", "second", "function", ""),
        ("local function third(a)", "third", "function", ""),
    ],
    "sql": [
        ("-- The users.", "users", "table", ""),
        ("CREATE FUNCTION twice(a int) RETURNS int AS $$", "twice", "function", ""),
    ],
}


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_definitions_with_what_belongs_to_them(language: str) -> None:
    source = Source.read(filled(*FILES[language]), WordTokenizer())
    structure = analyse(source, parse(source.lines, source.text, language), language)
    found: list[tuple[str, str, str, str]] = []
    for number, label in zip(structure.label_lines, structure.labels, strict=True):
        line = source.lines[number]
        trail = structure.trail_at(number, column_of(line))
        found.append((line.strip(), label.symbol, label.kind, " > ".join(outer.text for outer in trail)))
        assert structure.strengths[number] >= STRUCTURAL or label.kind == "constant"
    assert [entry for entry in EXPECTED[language] if entry not in found] == [], found


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_chunks_of_a_sample(language: str) -> None:
    text = filled(*FILES[language])
    symbols = {chunk.symbol for chunk in cut(text, language, ChunkLimits(20, 60, 0))}
    assert {symbol for _, symbol, _, _ in EXPECTED[language]} & symbols


def test_every_language_of_the_product_has_a_grammar() -> None:
    languages = "python javascript typescript tsx go rust java kotlin c cpp csharp ruby php swift scala bash lua sql"
    assert set(languages.split()) == LANGUAGES
    for language in LANGUAGES:
        assert grammar(language).query.pattern_count > 0


def test_text_in_a_string_defines_nothing() -> None:
    assert {chunk.symbol for chunk in cut(filled(*FILES["python"]), "python")} <= {"", "first", "Box", "open", "TABLE"}


def test_a_long_body_is_cut_at_statements_and_keeps_scope_and_signature() -> None:
    call = "        result_{0} = compute(\n            first_{0},\n            second_{0},\n        )"
    text = "class Box:\n    def open(self, lid):\n" + "\n".join(call.format(n) for n in range(24))
    chunks = cut(text, "python", ChunkLimits(60, 100, 0))
    assert len(chunks) > 3
    for chunk in chunks[1:]:
        assert chunk.text.lstrip().startswith("result_")
        assert (chunk.context, chunk.symbol, chunk.kind) == ("class Box > def open(self, lid)", "open", "method")


def test_a_header_of_cpp_is_read_as_such() -> None:
    header = filled("class Box {\n public:\n  int open() {\n    ...\n  }\n};\n", SEMICOLON)
    assert ("open", "method") in {(chunk.symbol, chunk.kind) for chunk in cut(header * 2, "c")}


def test_a_broken_region_is_cut_by_lines_and_the_rest_by_the_tree() -> None:
    good = filled("def good_{0}(a):\n    ...\n", ASSIGN)
    broken = "def broken(a, (:\n    return = = )\n" + "\n".join(f"    x{n} = y{n}" for n in range(30)) + "\n"
    symbols = [
        c.symbol for c in cut(good.replace("{0}", "a") + "\n" + broken + "\n" + good.replace("{0}", "b"), "python")
    ]
    assert {"good_a", "broken", "good_b"} <= set(symbols)


@pytest.mark.parametrize(("kind", "language"), [(LineKind.MARKDOWN, "markdown"), (LineKind.CODE, "perl")])
def test_without_a_grammar_lines_decide(kind: LineKind, language: str) -> None:
    document = Document("# A\n\nsome text\n\n# B\n\nsub run {\n}\n" * 20, kind, language)
    by_lines, by_tree = (c.chunk(document, WordTokenizer(), LIMITS) for c in (TextChunker(), SyntaxChunker()))
    assert [(c.start_line, c.embedded_text) for c in by_tree] == [(c.start_line, c.embedded_text) for c in by_lines]
    assert SyntaxChunker.revision != TextChunker.revision
