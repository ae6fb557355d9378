"""What an indexer promises of the files that it may read: exactly the indexable ones, secrets masked."""

from __future__ import annotations

import pytest

from everfind_core.errors import FileNotIndexableError, FolderNotFoundError, InvalidRequestError
from everfind_core.model import FileRef, GrepRequest, IndexedFile, ReadFileRequest
from tests.contract.conftest import Connected
from tests.support.corpus import FILES


def test_a_file_is_read_as_it_stands(workspace: Connected) -> None:
    text = FILES["code/src/session.py"]
    whole = workspace.indexer.read_file(ReadFileRequest("code", "src/session.py"))
    assert (whole.text + "\n", whole.indexed, whole.total_lines) == (text, True, text.count("\n"))
    part = workspace.indexer.read_file(ReadFileRequest("code", "src/session.py", 3, 5))
    assert part.text == "\n".join(text.split("\n")[2:5])
    assert (part.start_line, part.end_line) == (3, 5)
    beyond = workspace.indexer.read_file(ReadFileRequest("code", "src/session.py", 10_000, 10_001))
    assert beyond.text == ""


def test_secrets_are_masked_in_every_call(workspace: Connected) -> None:
    read = workspace.indexer.read_file(ReadFileRequest("docs", "secret.md"))
    assert read.redactions == 1
    assert "ghp_" not in read.text
    assert workspace.indexer.grep(GrepRequest("ghp_")).matches == ()
    (match,) = workspace.indexer.grep(GrepRequest("The token is")).matches
    assert "ghp_" not in match.text
    assert workspace.report.redactions == 1


@pytest.mark.parametrize(
    ("folder", "path", "error"),
    [
        ("nope", "a", FolderNotFoundError),
        ("code", "absent.py", FileNotIndexableError),
        ("code", "src", FileNotIndexableError),
        ("code", "../docs/auth.md", InvalidRequestError),
        ("code", "/etc/passwd", InvalidRequestError),
        ("code", "src/../src/session.py", InvalidRequestError),
        ("code", "a\0b", InvalidRequestError),
        ("code", "", InvalidRequestError),
    ],
)
def test_nothing_else_is_read(workspace: Connected, folder: str, path: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        workspace.indexer.read_file(ReadFileRequest(folder, path))


@pytest.mark.parametrize(("start", "end"), [(0, 1), (-1, 0), (5, 4)])
def test_a_range_that_is_none_is_refused(workspace: Connected, start: int, end: int) -> None:
    with pytest.raises(InvalidRequestError, match="lines count from 1, and"):
        workspace.indexer.read_file(ReadFileRequest("code", "src/session.py", start, end))


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        (GrepRequest("refresh_token("), [("src/session.py", 11), ("tests/test_session.py", 2)]),
        (GrepRequest(r"^def \w+", regex=True, globs=("src",)), [("src/session.py", 6), ("src/session.py", 11)]),
        (GrepRequest("AUTH", case_sensitive=False, folders=("docs",)), [("auth.md", 1)]),
        (GrepRequest("登录鉴权"), [("登录.md", 3)]),
        (GrepRequest("a.b"), []),
        (GrepRequest("token", globs=("*.json",)), []),
    ],
)
def test_grep_finds_lines(workspace: Connected, request_: GrepRequest, expected: list[tuple[str, int]]) -> None:
    assert [(m.ref.path, m.line) for m in workspace.indexer.grep(request_).matches] == expected


def test_grep_says_when_it_stops_early(workspace: Connected) -> None:
    answer = workspace.indexer.grep(GrepRequest("e", max_results=2))
    assert (len(answer.matches), answer.truncated) == (2, "stopped after 2 matches")


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        (GrepRequest(""), "pattern"),
        (GrepRequest("a\nb"), "pattern"),
        (GrepRequest("x" * 1001), "pattern"),
        (GrepRequest("(", regex=True), "pattern"),
        (GrepRequest(r"(a)\1", regex=True), "pattern"),
        (GrepRequest("\ud800"), "pattern"),
        (GrepRequest("a", globs=("!*.py",)), "globs"),
        (GrepRequest("a", max_results=0), "max_results"),
        (GrepRequest("a", seconds=0), "seconds"),
    ],
)
def test_a_pattern_or_limit_that_cannot_be_used_is_named(
    workspace: Connected, request_: GrepRequest, field: str
) -> None:
    with pytest.raises(InvalidRequestError) as caught:
        workspace.indexer.grep(request_)
    assert caught.value.violations[0].field == field
    assert "(?m)" not in str(caught.value)


def test_a_regular_expression_bomb_ends_in_time(workspace: Connected) -> None:
    assert workspace.indexer.grep(GrepRequest("(a+)+$|(x+x+)+y", regex=True, seconds=5)).truncated == ""


def test_indexed_files_are_listed_in_order(workspace: Connected) -> None:
    found = workspace.indexer.indexed_files()
    assert [f"{f.ref.folder}/{f.ref.path}" for f in found] == sorted(FILES)
    assert [f.size for f in found] == [len(FILES[name].encode()) for name in sorted(FILES)]
    assert sum(f.redactions for f in found) == 1
    coverage = workspace.indexer.status().coverage
    assert (len(found), sum(f.chunks for f in found)) == (coverage.files, coverage.chunks)
    assert all(f.tokens and f.modified for f in found)
    chosen = workspace.indexer.indexed_files(folder="code", globs=("*.py", "*.go"))
    assert [f for f in found if f.ref.folder == "code" and f.ref.path.endswith((".py", ".go"))] == list(chosen)
    assert list(workspace.indexer.indexed_files(globs=("nothing/**",))) == []


def test_indexed_files_are_listed_by_pages(workspace: Connected) -> None:
    whole = list(workspace.indexer.indexed_files())
    paged: list[IndexedFile] = []
    while page := workspace.indexer.indexed_files(after=paged[-1].ref if paged else None, limit=3):
        assert len(page) == min(3, len(whole) - len(paged))
        paged += page
    assert paged == whole
    behind = workspace.indexer.indexed_files(after=FileRef("code", "zzz/not there"), globs=("*.md",), limit=2)
    assert list(behind) == [f for f in whole if f.ref.folder == "docs" and f.ref.path.endswith(".md")][:2]
    assert not workspace.indexer.indexed_files(folder="code", after=FileRef("docs", ""), limit=5)


def test_a_choice_of_files_that_is_none_is_refused(workspace: Connected) -> None:
    with pytest.raises(FolderNotFoundError, match="nope"):
        workspace.indexer.indexed_files(folder="nope")
    with pytest.raises(InvalidRequestError) as caught:
        workspace.indexer.indexed_files(globs=("!*.py",))
    assert caught.value.violations[0].field == "globs"


def test_status_counts_what_is_there(workspace: Connected) -> None:
    status = workspace.indexer.status(skipped_files=True)
    assert {f.folder.name: f.coverage.files for f in status.folders} == {"code": 4, "docs": 6}
    assert status.model is not None
    assert status.model.dimensions == 384
    assert status.vector_type == "half"
    assert status.generation == workspace.report.generation
    assert status.redactions == 1
    assert status.disk_bytes > 0
