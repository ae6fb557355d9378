"""One glob dialect: what a search, grep and a folder's include make of a glob is the same."""

from __future__ import annotations

import re
import subprocess
import warnings
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pathspec import GitIgnoreSpec
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from everfind_core.errors import InvalidRequestError
from everfind_core.files.glob_regexes import bounded
from everfind_core.files.globs import MAX_GLOB, RUST, compile_globs, glob_regex

PATHS = (
    "#a.txt", "!a.txt", "a", "a/b", "a/b/c.py", "docs/x.md", "src/test_a.py", "src/x/test_b.py", "a[1].txt", "a1.txt",
    "é.txt", "a b.txt", "A", "x/docs/y.md", "a\nb", "a\n", "-", "^", "a-b", "%41.txt", "7", "a*", "\\",
)  # fmt: skip


def matching(*globs: str) -> set[str]:
    matcher = compile_globs(globs, field="globs")
    assert matcher is not None
    return {path for path in PATHS if matcher.matches(path)}


@pytest.mark.parametrize(
    ("glob", "expected"),
    [
        ("#a.txt", {"#a.txt"}),
        ("\\#a.txt", {"#a.txt"}),
        ("\\!a.txt", {"!a.txt"}),
        ("/a", {"a", "a/b", "a/b/c.py"}),
        ("docs/", {"docs/x.md", "x/docs/y.md"}),
        ("/docs/", {"docs/x.md"}),
        ("src/**/test_*", {"src/test_a.py", "src/x/test_b.py"}),
        ("a[[]1].txt", {"a[1].txt"}),
        ("a[1].txt", {"a1.txt"}),
        ("[[:digit:]]", {"7"}),
        ("[!a]", {"A", "-", "^", "7", "\\", "a/b", "a/b/c.py", "src/x/test_b.py", "x/docs/y.md"}),
        ("a*", {"a", "a/b", "a/b/c.py", "a[1].txt", "a1.txt", "a b.txt", "a\nb", "a\n", "a-b", "a*"}),
        ("a[!b]b", {"a\nb", "a-b"}),
    ],
)
def test_what_a_glob_names(glob: str, expected: set[str]) -> None:
    assert matching(glob) == expected


def test_several_globs_name_what_any_of_them_names() -> None:
    assert matching("7", "docs/") == {"7", "docs/x.md", "x/docs/y.md"}
    assert compile_globs((), field="globs") is None


@pytest.mark.parametrize(
    ("glob", "message"),
    [
        ("!a", "include: '!a' is negated"),
        ("", "include: '' is not a path glob"),
        ("  ", "include: '  ' is not a path glob"),
        ("/", "include: '/' is not a path glob"),
        ("bad\\", "is not a path glob"),
        ("[b-a]", "is not a path glob"),
        ("a\0b", "is not a path glob"),
        ("a" * (MAX_GLOB + 1), "include: a glob of 1,001 characters is too long; 1,000 are allowed"),
    ],
)
def test_what_is_no_glob_is_refused_and_names_the_callers_field(glob: str, message: str) -> None:
    for refused in (
        lambda: compile_globs(["a", glob], field="include"),
        lambda: glob_regex(glob, RUST, field="include"),
    ):
        with pytest.raises(InvalidRequestError) as caught:
            refused()
        assert message in caught.value.message
        assert caught.value.violations[0].field == "include"


PIECES = ("a", "b", ".", "*", "**", "?", "/", " ", "%", "é", "^", "(", "$", "[ab]", "[!a]", "[a-b]", "[]a]", "\\a", "#")


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=6).map("".join).filter(lambda g: not g.startswith("#")))
def test_a_glob_names_what_pathspec_matches(glob: str) -> None:
    one_line = [path for path in PATHS if "\n" not in path]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        try:
            spec = GitIgnoreSpec.from_lines([glob])
        except (ValueError, re.error):
            return
    if spec.patterns[0].include is None:
        return
    # pathspec lets `[!a]` match a slash; git does not.
    expected = {path for path in spec.match_files(one_line) if "[!a]" not in glob or "/" not in path}
    assert {path for path in matching(glob) if path in one_line and ("[!a]" not in glob or "/" not in path)} == expected


STARS = ("a", "b", "*", "*a", "a*", "?", "[ab]", "/", "/**/", "**/", "\\*")
A_PATH = (
    st.lists(st.sampled_from("aab/*"), min_size=1, max_size=14)
    .map("".join)
    .filter(lambda path: "//" not in path and path.strip("/") == path)
)


@settings(max_examples=500, deadline=None)
@given(
    st.lists(st.sampled_from(STARS), min_size=1, max_size=12).map("".join), st.lists(A_PATH, min_size=1, max_size=20)
)
def test_many_stars_match_what_they_would_if_every_way_were_tried(glob: str, paths: list[str]) -> None:
    regex, _ = GitIgnoreSpecPattern.pattern_to_regex(glob)
    if regex is None:
        return
    slow, quick = re.compile(regex), re.compile(bounded(regex))
    for path in paths:
        one, other = slow.search(path), quick.search(path)
        assert (one and one.groupdict()) == (other and other.groupdict()), (regex, bounded(regex), path)


@pytest.mark.parametrize(
    ("glob", "path"),
    [
        ("*a" * 40 + "b", "a" * 250),
        ("/".join(["*a*a"] * 8) + "/b", "/".join(["aaaaaaaa"] * 40)),
        ("a/**/" * 30 + "b", "/".join("a" * 1_000)),
        ("**/a/**/*a*a*a*a*a*a*a*a*a*a*b", "/".join(["a" * 100] * 30)),
    ],
)
def test_a_bomb_of_stars_ends(glob: str, path: str) -> None:
    globs = compile_globs([glob], field="globs")
    assert globs is not None
    assert not globs.matches(path)


@pytest.mark.parametrize("glob", ["#a.txt", "docs/", "a*", "[[:digit:]]", "src/**", "/a", "*.py", "[!a]", "a[!b]b"])
def test_a_glob_names_what_git_ignores(glob: str, tmp_path: Path) -> None:
    rules = tmp_path / ".gitignore"
    rules.write_text(f"\\{glob}\n" if glob.startswith("#") else f"{glob}\n")
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    names = [path for path in PATHS if path != "a"]  # a file and a directory of one name cannot be
    asked = subprocess.run(
        ["git", "check-ignore", "--no-index", "-z", "--stdin"],
        cwd=tmp_path, input="\0".join(names).encode(), capture_output=True, check=False,
    )  # fmt: skip
    assert matching(glob) - {"a"} == {name.decode() for name in asked.stdout.split(b"\0") if name}
