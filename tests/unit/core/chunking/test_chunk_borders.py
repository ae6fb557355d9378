"""Where chunks start, and what they are called, by tables of small documents."""

from __future__ import annotations

import pytest

from everfind_core.chunking import markdown, prose
from everfind_core.model import LineKind
from everfind_core.ports import ChunkLimits
from tests.support.chunk_checks import cut

FILLER = "word " * 30


@pytest.mark.parametrize(
    ("text", "titles"),
    [
        ("# One\n## Two\n### Three", [(1, "One"), (2, "Two"), (3, "Three")]),
        ("# One #\n## Two ###   \n# C#\n#", [(1, "One"), (2, "Two"), (1, "C#"), (1, "")]),
        ("#hashtag\n####### seven\n    # code\n\\# escaped", []),
        ("   # Three spaces\n\t# tab is code", [(1, "Three spaces")]),
        ("Title\n=====\n\nSub\n---\n", [(1, "Title"), (2, "Sub")]),
        ("Two\nlines\n===", [(1, "Two lines")]),
        ("\n---\ntext\n\n***\n- item\n---\n", []),
        ("| a | b |\n|---|---|\n| 1 | 2 |", []),
        ("```\n# not\n```\n# yes", [(1, "yes")]),
        ("````md\n```\n# not\n```\n````\n# yes", [(1, "yes")]),
        ("~~~\n# not\n```\n~~~\n# yes", [(1, "yes")]),
        ("```py\n# not\n~~~ py\n# not\n```\n# yes", [(1, "yes")]),
        ("```\n# never closed\n```py\n# not\n```\n# yes", [(1, "never closed"), (1, "yes")]),
        ("``` a`b\n# yes", [(1, "yes")]),
        ("```\n# never closed", []),
        ("---\ntitle: x\n# comment\n---\n# yes", [(1, "yes")]),
        ("+++\ntitle = 'x'\n+++\n# yes", [(1, "yes")]),
        ("---\n\nJust a rule\n\n---\n# yes", [(1, "yes")]),
        ("> # quoted\n- # item", []),
    ],
)
def test_markdown_headings(text: str, titles: list[tuple[int, str]]) -> None:
    assert [(label.depth, label.text) for label in markdown.analyse(text.split("\n")).labels] == titles


@pytest.mark.parametrize(
    ("text", "titles"),
    [
        ("Title\n=====\n\ntext\n\nPart\n----\n", ["Title", "Part"]),
        ("=====\nTitle\n=====\n\ntext", ["Title"]),
        ("1. Scope\n\ntext\n\n1.2 Terms\n\n3. an item that ends.\n\n", ["1. Scope", "1.2 Terms"]),
        ("NAME\n    ls - list\n\nSEE ALSO\n    dir", ["ls - list", "SEE ALSO"]),
        ("= Document\n\n== Section\n\ntext", ["Document", "Section"]),
        ("text\n=====\n".replace("\n", "\nmore\n"), []),
        ("a very ordinary line\nand the next\n----\n", []),
    ],
)
def test_prose_headings(text: str, titles: list[str]) -> None:
    assert [label.text for label in prose.analyse(text.split("\n")).labels] == titles


def test_markdown_breadcrumbs() -> None:
    text = f"# Auth\n\n{FILLER}\n\n## Refresh\n\n{FILLER}\n\n### Errors\n\n{FILLER}\n\n{FILLER}\n\n## Login\n\n{FILLER}"
    chunks = cut(text, LineKind.MARKDOWN, limits=ChunkLimits(40, 60, 10))
    assert [(chunk.start_line, chunk.context, chunk.heading) for chunk in chunks] == [
        (1, "", "Auth"),
        (5, "Auth", "Auth > Refresh"),
        (9, "Auth > Refresh", "Auth > Refresh > Errors"),
        (13, "Auth > Refresh > Errors", "Auth > Refresh > Errors"),
        (15, "Auth", "Auth > Login"),
    ]


def test_front_matter_stands_apart() -> None:
    text = "---\ntitle: Tokens\nstatus: draft\n---\n# Tokens\n\nShort."
    chunks = cut(text, LineKind.MARKDOWN)
    assert [(chunk.start_line, chunk.end_line) for chunk in chunks] == [(1, 4), (5, 7)]
    assert "status" not in chunks[1].embedded_text


def test_small_sections_share_a_chunk_and_a_fence_stays_whole() -> None:
    text = f"# A\n\n{FILLER}\n\n```py\n" + "x = compute(1, 2)\n" * 4 + f"```\n\n{FILLER}"
    chunks = cut(text, LineKind.MARKDOWN, limits=ChunkLimits(60, 80, 0))
    fence = next(chunk for chunk in chunks if "```py" in chunk.text)
    assert fence.text.count("```") == 2
    small = cut("# A\n\none\n\n# B\n\ntwo\n", LineKind.MARKDOWN)
    assert [(chunk.start_line, chunk.end_line, chunk.heading) for chunk in small] == [(1, 7, "A")]


def body(indent: str, lines: int = 6) -> str:
    return "\n".join(f"{indent}value_{n} = compute(other_{n}, third)" for n in range(lines))


def filled(template: str) -> str:
    """``template`` with six statements in place of each ``...`` line."""
    lines = template.strip("\n").split("\n")
    return "\n".join(body(line[: line.index(".")]) if line.strip() == "..." else line for line in lines)


PYTHON = """
...


@cache
@retry(
    times=3,
)
def first(a):
    ...


# why
# and how
class Box:
    size = 1

    def open(self):
        ...

    async def shut(self):
        ...
"""
GO = """
...

// First does.
func First(a int) error {
	...
}

func (s *Server) Run() {
	...
}
"""
RUST = """
...

#[derive(Debug)]
pub fn first<T>(x: T) -> T {
    ...
}

impl<T> Point<T> {
    pub fn new() -> Self {
        ...
    }

    fn other(&self) {
        ...
    }
}
"""
JAVA = """
package p;

public class Box {
    /** Opens. */
    public void open(int a) throws E {
        ...
    }

    private List<String> shut() {
        ...
    }
}
"""
TYPESCRIPT = """
export const run = async (a: number) => {
  ...
}

export default class Box {
  open(a: string) {
    ...
  }
}
"""
C = """
...

static int first(int a,
                 int b)
{
  ...
}

struct node *second(void) {
  ...
}
"""
SQL = """
CREATE TABLE a (
  ...
);

create or replace function b()
  ...
;
"""


@pytest.mark.parametrize(
    ("language", "template", "expected"),
    [
        ("python", PYTHON, [("@cache", "first", "function", ""), ("# why", "Box", "class", "")]),
        ("python", PYTHON, [("    async def shut(self):", "shut", "method", "class Box")]),
        ("go", GO, [("// First does.", "First", "function", ""), ("func (s *Server) Run() {", "Run", "function", "")]),
        ("rust", RUST, [("#[derive(Debug)]", "first", "function", ""), ("impl<T> Point<T> {", "Point", "class", "")]),
        ("rust", RUST, [("    fn other(&self) {", "other", "method", "impl Point")]),
        ("java", JAVA, [("    private List<String> shut() {", "shut", "method", "class Box")]),
        ("typescript", TYPESCRIPT, [("export const run = async (a: number) => {", "run", "function", "")]),
        ("typescript", TYPESCRIPT, [("export default class Box {", "Box", "class", "")]),
        ("c", C, [("static int first(int a,", "first", "function", "")]),
        ("c", C, [("struct node *second(void) {", "second", "function", "")]),
        ("sql", SQL, [("CREATE TABLE a (", "a", "table", ""), ("create or replace function b()", "b", "function", "")]),
    ],
)
def test_code_starts_at_definitions(language: str, template: str, expected: list[tuple[str, str, str, str]]) -> None:
    chunks = cut(filled(template), LineKind.CODE, language=language, limits=ChunkLimits(100, 130, 0))
    found = [(chunk.text.split("\n")[0], chunk.symbol, chunk.kind, chunk.context) for chunk in chunks]
    assert [entry for entry in expected if entry not in found] == [], found


def test_a_long_body_goes_on_with_its_scope_and_an_overlap() -> None:
    text = "class Box:\n    def open(self):\n" + "\n\n".join(body("        ", 4) for _ in range(6))
    chunks = cut(text, LineKind.CODE, language="python", limits=ChunkLimits(100, 160, 25))
    assert len(chunks) > 2
    for chunk in chunks[1:]:
        assert (chunk.context, chunk.symbol, chunk.kind) == ("class Box > def open", "open", "method")
        assert 0 < chunk.overlap_tokens <= 25
    assert chunks[0].overlap_tokens == 0


def test_a_line_at_the_margin_does_not_end_a_scope() -> None:
    statements = body("        ", 12)
    text = f"class Box:\n    def open(self):\n{statements}\nstray text\n    def shut(self):\n{statements}"
    chunks = cut(text, LineKind.CODE, language="python", limits=ChunkLimits(100, 160, 0))
    assert next(chunk for chunk in chunks if chunk.symbol == "shut").context == "class Box"


def test_configuration_by_section_and_key() -> None:
    ini = "\n".join(
        f"# about {n}\n[section.{n}]\n" + "\n".join(f"key{k} = value {k}" for k in range(8)) for n in range(3)
    )
    chunks = cut(ini, LineKind.CONFIG, limits=ChunkLimits(45, 60, 0))
    assert [chunk.text.split("\n")[0] for chunk in chunks] == ["# about 0", "# about 1", "# about 2"]
    yaml = "services:\n" + "\n".join(f"  web{n}:\n    image: nginx\n" + f"    port: {n}\n" * 8 for n in range(4))
    contexts = {chunk.context for chunk in cut(yaml, LineKind.CONFIG, limits=ChunkLimits(45, 60, 0))}
    assert "services" in contexts


def test_overlap_only_where_a_section_was_split() -> None:
    paragraph = "\n".join("some words of prose on a line" for _ in range(3))
    text = "\n\n".join(f"# Part {n}\n\n" + "\n\n".join([paragraph] * 4) for n in range(4))
    for chunk in cut(text, LineKind.MARKDOWN, limits=ChunkLimits(60, 90, 20)):
        starts_section = chunk.text.startswith("#")
        assert starts_section == (chunk.overlap_tokens == 0)
