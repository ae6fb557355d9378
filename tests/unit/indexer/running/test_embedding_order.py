from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from everfind_indexer.files.found import FoundFile
from everfind_indexer.running.embedding_order import RECENT_NS, by_likely_need

OLD = 1_700_000_000 * 10**9
NAMES = st.sampled_from(
    [
        "README.md",
        "src/a.py",
        "src/b/README.rst",
        "tests/test_a.py",
        "vendor/x.js",
        "go.sum",
        "pyproject.toml",
        "docs/b.md",
    ]
)


def found(path: str, mtime_ns: int = OLD) -> FoundFile:
    return FoundFile(path, 10, mtime_ns, mtime_ns, 1)


def order(*files: FoundFile) -> list[str]:
    return [file.path for file in by_likely_need(files)]


def test_of_a_fresh_checkout_source_comes_before_tests_and_what_is_made_comes_last() -> None:
    paths = [
        "go.sum", "vendor/lib/README.md", "tests/test_main.py", "src/zebra.py", "src/api_pb2.py", "src/app/README.md",
        "examples/demo.py", "docs/guide.md", "config/app.yaml", "pyproject.toml", "README.md", "ARCHITECTURE.md",
    ]  # fmt: skip
    assert order(*map(found, paths)) == [
        "ARCHITECTURE.md", "README.md", "pyproject.toml", "src/app/README.md", "docs/guide.md", "src/zebra.py",
        "config/app.yaml", "examples/demo.py", "tests/test_main.py", "go.sum", "src/api_pb2.py", "vendor/lib/README.md",
    ]  # fmt: skip


def test_what_was_changed_lately_comes_after_entry_documents_the_newest_first() -> None:
    new = OLD + 10 * RECENT_NS
    files = [found(f"src/{n}.py") for n in range(6)]
    files += [found("tests/test_now.py", new), found("src/yesterday.py", new - RECENT_NS // 7), found("README.md")]
    assert order(*files)[:4] == ["README.md", "tests/test_now.py", "src/yesterday.py", "src/0.py"]


def test_a_generated_file_is_never_early() -> None:
    files = [found(f"src/{n}.py") for n in range(6)]
    assert order(*files, found("vendor/new.js", OLD + 10 * RECENT_NS))[-1] == "vendor/new.js"


def test_where_all_is_new_times_tell_nothing() -> None:
    files = [found(f"src/{n}.py", OLD + n) for n in (2, 0, 1)]
    assert order(*files) == ["src/0.py", "src/1.py", "src/2.py"]


@given(st.dictionaries(NAMES, st.integers(0, 3 * RECENT_NS)), st.randoms())
def test_it_is_the_same_files_whatever_order_they_come_in(files: dict[str, int], chance: object) -> None:
    given_files = [found(path, mtime) for path, mtime in files.items()]
    ordered = by_likely_need(given_files)
    assert sorted(ordered) == sorted(given_files)
    assert by_likely_need(reversed(given_files)) == ordered
    assert by_likely_need([]) == []
