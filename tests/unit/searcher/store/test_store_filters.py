"""Filters select before anything is ranked, exactly, whatever their values hold."""

from __future__ import annotations

import re
import subprocess
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st
from pathspec import GitIgnoreSpec

from everfind_core.errors import InvalidRequestError
from everfind_core.files.globs import scoped
from everfind_core.index.store_backends import StoreBackend
from everfind_core.model import Filters
from everfind_core.ports import ChunkReader, ChunkWriter
from everfind_indexer.store import open_writer
from everfind_searcher.store import open_reader
from everfind_searcher.store.filters import condition
from tests.support.store_samples import DIMENSIONS, EVERYTHING, HOSTILE_NAMES, file, paths, unit

SEGMENTS = (
    "a",
    "b",
    "ab",
    "a.b",
    "A",
    "a b",
    "a-b",
    "a_b",
    "a%b",
    "[a]",
    "a*",
    "?",
    "\\",
    "é",
    "a\nb",
    "'",
    "!a",
    "#",
    "^",
)
PATHS = sorted(
    {*SEGMENTS, *HOSTILE_NAMES, *(f"{x}/{y}" for x in SEGMENTS for y in SEGMENTS[:8])}
    | {"a/b/ab", "a/ab/a.b/b", "ab/ab/ab/ab", "src/x/test_a.py", "src/test_b.py", "docs/a.md", "test/src/c.py"}
)
ONE_LINE_PATHS = {path for path in PATHS if "\n" not in path}
PIECES = ("a", "b", "ab", ".", "*", "**", "?", "/", " ", "%", "_", "'", "é", "\n", "^", "&&", "(", "|", "$", "+", "{2}")
BRACKET_PIECES = ("[ab]", "[a-b]", "[&~-]", "[]a]", "[", "]", "-", "\\", "\\a", "\\*")
GLOBS = st.lists(st.sampled_from(PIECES + BRACKET_PIECES), min_size=1, max_size=7).map("".join)
GLOB_TEXTS = st.lists(st.sampled_from((*PIECES, *BRACKET_PIECES, "[!", "[^", "!", "#")), max_size=9).map("".join)


@pytest.fixture(scope="module", params=list(StoreBackend))
def kind(request: pytest.FixtureRequest) -> StoreBackend:
    return StoreBackend(request.param)


@pytest.fixture(scope="module")
def select(kind: StoreBackend, tmp_path_factory: pytest.TempPathFactory) -> Callable[[Filters], set[str]]:
    """Which of PATHS a filter selects, by the lexical arm of a real store; the semantic arm must agree."""
    directory = tmp_path_factory.mktemp("filters")
    writer = open_writer(directory, DIMENSIONS, kind)
    half = len(PATHS) // 2
    writer.replace([file("f", path, "common") for path in PATHS[:half]])
    writer.maintain(finish=True)
    writer.replace([file("f", path, "common") for path in PATHS[half:]])
    reader = open_reader(directory, backend=kind)

    def selected(where: Filters) -> set[str]:
        lexical = paths(reader.lexical(["common"], 1_000, where))
        assert lexical == paths(reader.semantic(unit("common"), 1_000, where))
        return lexical

    return selected


def truth(glob: str) -> set[str]:
    """What pathspec says that one line of a .gitignore matches; its ``**/`` does not pass a newline, git's does."""
    return set(GitIgnoreSpec.from_lines([glob]).match_files(ONE_LINE_PATHS))


@pytest.mark.parametrize(
    ("glob", "expected"),
    [
        ("src", {"src/x/test_a.py", "src/test_b.py", "test/src/c.py"}),
        ("/src", {"src/x/test_a.py", "src/test_b.py"}),
        ("test_*", {"src/x/test_a.py", "src/test_b.py"}),
        ("src/*.py", {"src/test_b.py"}),
        ("src/**/*.py", {"src/x/test_a.py", "src/test_b.py"}),
        ("docs/", {"docs/a.md"}),
        ("2026_06_16.md", {"2026_06_16.md"}),
        ("100%_done.md", {"100%_done.md"}),
        ("README.md", {"README.md"}),
        ("cafe\u0301.txt", {"cafe\u0301.txt"}),
        ("don't.py", {"don't.py"}),
        ("a\\[1\\]/.gitignore", {"a[1]/.gitignore"}),
        ("a[1]/.gitignore", {"a1/.gitignore"}),
        ("x' OR 1=1 --", {"x' OR 1=1 --"}),
        ("absent", set()),
    ],
)
def test_globs_name_whole_segments(select: Callable[[Filters], set[str]], glob: str, expected: set[str]) -> None:
    assert select(Filters(include=(glob,))) == expected
    assert select(Filters(exclude=(glob,))) == set(PATHS) - expected


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(GLOBS)
@example("**")
@example("*/")
def test_a_glob_selects_what_pathspec_matches(select: Callable[[Filters], set[str]], glob: str) -> None:
    folder, _ = scoped(glob)
    assume(not glob.endswith(("\n", " ")) and not folder)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        try:
            expected = truth(glob)
        except (ValueError, re.error):
            expected = None
    if expected is None or GitIgnoreSpec.from_lines([glob]).patterns[0].include is None:
        with pytest.raises(InvalidRequestError, match="is not a path glob"):
            select(Filters(include=(glob,)))
    else:
        assert select(Filters(include=(glob,))) & ONE_LINE_PATHS == expected


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=30) | GLOB_TEXTS)
@example("[z-a]")
@example("[" * 100)
@example("a" * 1_000)
@example("*" * 1_000)
@example("?" * 1_000)
@example("**/" * 300 + "a")
@example("[!a-z]" * 160)
def test_any_text_is_a_glob_or_refused(select: Callable[[Filters], set[str]], glob: str) -> None:
    with suppress(InvalidRequestError):
        assert select(Filters(include=(glob,), exclude=(glob,))) == set()


BRACKETS = [
    "a[!b]b",
    "[!a]",
    "a[^x]b",
    "[+-9]",
    "a[+-9]b",
    "[]a]*",
    "a[-x]b",
    "a[x-]b",
    "[!]]",
    "[a&&b]",
    "[[a]",
    "[~-]",
]


@pytest.mark.parametrize("glob", BRACKETS)
def test_brackets_select_what_git_ignores(select: Callable[[Filters], set[str]], glob: str, tmp_path: Path) -> None:
    """Pathspec lets a bracket match a slash; git does not. Git compares bytes: the same only in ASCII."""
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    (tmp_path / ".gitignore").write_text(f"{glob}\n")
    plain = {path for path in PATHS if path.isascii() and "\0" not in path}
    names = "\0".join(plain)
    command = ["git", "-C", str(tmp_path), "check-ignore", "--no-index", "-z", "--stdin"]
    ignored = subprocess.run(command, input=names.encode(), capture_output=True, check=False).stdout.decode()
    assert select(Filters(include=(glob,))) & plain == set(filter(None, ignored.split("\0")))


@pytest.mark.parametrize("glob", ["!a", "", " ", "/", "[", "a\\", "[z-a]", "x" * 1_001])
@pytest.mark.parametrize("field", ["include", "exclude"])
def test_what_is_no_glob_is_refused_by_name(glob: str, field: str) -> None:
    with pytest.raises(InvalidRequestError) as caught:
        condition(Filters(**{field: (glob,)}))  # type: ignore[arg-type]  # both fields are tuples of texts
    assert caught.value.violations[0].field == f"filters.{field}"


def test_a_leading_hash_is_a_name(select: Callable[[Filters], set[str]]) -> None:
    assert select(Filters(include=("#",))) == {path for path in PATHS if "#" in path.split("/")}


def test_a_newline_is_a_character_like_any_other(select: Callable[[Filters], set[str]]) -> None:
    below = {path for path in PATHS if path.startswith("a\nb/")}
    assert select(Filters(include=("a\nb",))) == {"a\nb"} | below | {p for p in PATHS if p.endswith("/a\nb")}
    assert select(Filters(include=("/a?b/*",))) >= below
    assert select(Filters(include=("/a\nb/**/A",))) == {"a\nb/A"}


def test_globs_add_up(select: Callable[[Filters], set[str]]) -> None:
    assert select(Filters(include=("docs", "*.py"), exclude=("test_*", "don't.py"))) == {
        "docs/a.md",
        "test/src/c.py",
        'say "hi".py',
        "new\nline\r.py",
        "tab\t space .py",
    }


def test_a_value_that_is_no_text_is_refused() -> None:
    with pytest.raises(InvalidRequestError, match="lone surrogate"):
        condition(Filters(languages=("\udcff",)))
    with pytest.raises(InvalidRequestError, match="lone surrogate"):
        condition(Filters(include=("\udcff",)))


def test_no_filter_is_no_condition() -> None:
    assert condition(EVERYTHING) is None
    assert condition(Filters(all_statuses=True)) is None


@pytest.fixture
def documents(kind: StoreBackend, directory: Path, writer: ChunkWriter) -> ChunkReader:
    writer.replace(
        [
            file("f", "old.md", "text", date="2024-12-31", status="superseded", language="markdown", kind="section"),
            file("f", "new.md", "text", date="2026-03-01", status="accepted", language="markdown", kind="section"),
            file("f", "time.md", "text", date="2026-03-01T10:00:00Z", status="Accepted", language="markdown"),
            file("g", "code.py", "text", language="python", kind="function"),
        ]
    )
    return open_reader(directory, backend=kind)


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        (Filters(folders=("g",)), {"code.py"}),
        (Filters(folders=("f", "g")), {"old.md", "new.md", "time.md", "code.py"}),
        (Filters(languages=("python", "rust")), {"code.py"}),
        (Filters(kinds=("section",)), {"old.md", "new.md"}),
        (Filters(statuses=("accepted",)), {"new.md"}),
        (Filters(since="2026-03-01"), {"new.md", "time.md"}),
        (Filters(before="2026-03-01"), {"old.md"}),
        (Filters(since="2024", before="2025"), {"old.md"}),
        (Filters(since="2027"), set()),
        (Filters(folders=("f",), languages=("markdown",), statuses=("superseded",), include=("*.md",)), {"old.md"}),
        (Filters(folders=("f",), languages=("python",)), set()),
    ],
)
def test_filters_select_by_field(documents: ChunkReader, where: Filters, expected: set[str]) -> None:
    assert paths(documents.lexical(["text"], 10, where)) == expected
    assert paths(documents.semantic(unit("text"), 10, where)) == expected


@pytest.mark.parametrize("indexed", [False, True])
def test_filters_come_before_the_limit(
    kind: StoreBackend, directory: Path, writer: ChunkWriter, *, indexed: bool
) -> None:
    crowd = [file("f", f"crowd/{n}.py", "wanted wanted wanted") for n in range(300)]
    writer.replace([*crowd, file("f", "five/a.py", *(f"wanted other words {n}" for n in range(5)))])
    if indexed:
        writer.maintain(finish=True)
    reader = open_reader(directory, backend=kind)
    for where in (Filters(include=("five",)), Filters(exclude=("crowd/",))):
        assert len(reader.lexical(["wanted"], 5, where)) == 5
        assert len(reader.semantic(unit("wanted wanted wanted"), 5, where)) == 5
