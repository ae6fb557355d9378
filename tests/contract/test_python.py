"""The Python API gives what the command line prints with --json, for an index of this machine and for a server."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from everfind_core.answers.json_form import (
    Json,
    file_json,
    folder_json,
    gather_json,
    grep_json,
    index_json,
    indexed_file_json,
    related_json,
    search_json,
    status_json,
)
from everfind_core.errors import (
    EverfindError,
    FileNotIndexableError,
    FolderExistsError,
    FolderNotFoundError,
    IndexMissingError,
    InvalidRequestError,
    UnavailableError,
)
from everfind_gateway import Corpus, open_async_corpus, open_corpus
from everfind_gateway.cli import main
from everfind_gateway.config.settings import load_settings
from everfind_gateway.wiring.local import open_local
from tests.support.agents import write_config
from tests.support.corpus import write_corpus
from tests.support.serving import serving


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A settings file of a corpus that is indexed."""
    base = tmp_path_factory.mktemp("python")
    write_corpus(base)
    with pytest.MonkeyPatch.context() as patch:
        for kind in ("CONFIG", "DATA", "CACHE", "STATE"):
            patch.setenv(f"XDG_{kind}_HOME", str(base / "home"))
        folders = {"code": base / "code", "docs": base / "docs"}
        file = write_config(base / "settings" / "config.toml", folders=folders, index_dir=str(base / "index"))
        with open_corpus(file) as corpus:
            assert corpus.index().indexed == 10
        yield file


@pytest.fixture(scope="module", params=["local", "server"])
def server(request: pytest.FixtureRequest, config: Path) -> Iterator[str | None]:
    if request.param == "local":
        yield None
        return
    with contextlib.ExitStack() as stack:
        workspace = stack.enter_context(open_local(load_settings(config)))
        yield stack.enter_context(serving(workspace.services()))


@pytest.fixture(scope="module")
def corpus(config: Path, server: str | None) -> Iterator[Corpus]:
    with open_corpus(config, server=server) as corpus:
        yield corpus


Case = tuple[Callable[[Corpus], Json], list[str]]
CASES: dict[str, Case] = {
    "search": (
        lambda c: search_json(c.search("when can a token be renewed", limit=3, explain=True, further=2)),
        ["search", "when can a token be renewed", "--limit", "3", "--explain", "--further", "2"],
    ),
    "filters": (
        lambda c: search_json(
            c.search("token", folder=[Path("docs")], exclude=["decisions"], mode="lexical", everything=True)
        ),
        ["search", "token", "--folder", "docs", "--exclude", "decisions", "--mode", "lexical", "--all"],
    ),
    "budget": (
        lambda c: search_json(c.search("token", language="python", min_score=-1, max_tokens=120, graph=True)),
        ["search", "token", "-l", "python", "--min-score=-1", "--max-tokens", "120", "--graph"],
    ),
    "silence": (
        lambda c: search_json(c.search("which colour has the bicycle shed")),
        ["search", "which colour has the bicycle shed"],
    ),
    "gather": (
        lambda c: gather_json(c.gather("WriteAtomic", limit=1, context_lines=2)),
        ["gather", "WriteAtomic", "-k", "1", "-C", "2"],
    ),
    "related": (
        lambda c: related_json(c.related("refresh_token", relation=["caller", "similar"], limit=5)),
        ["related", "refresh_token", "--callers", "--similar", "-k", "5"],
    ),
    "place": (lambda c: related_json(c.related("code/src/session.py:12")), ["related", "code/src/session.py:12"]),
    "grep": (
        lambda c: grep_json(c.grep("REFRESH_.*n", regex=True, ignore_case=True, folder="code", include="*.py")),
        ["grep", "REFRESH_.*n", "-E", "-i", "--folder", "code", "--include", "*.py"],
    ),
    "cat": (lambda c: file_json(c.cat("docs/secret.md")), ["cat", "docs/secret.md"]),
    "lines": (
        lambda c: file_json(c.cat("code/src/session.py", start_line=6, end_line=8)),
        ["cat", "code/src/session.py:6-8"],
    ),
    "named lines": (
        lambda c: file_json(c.cat("code/src/session.py:6-8")),
        ["cat", "code/src/session.py", "--lines", "6-8"],
    ),
    "folders": (
        lambda c: {"folders": [{**folder_json(one), "usable": True} for one in c.folders()], "display_name": ""},
        ["list"],
    ),
    "files": (
        lambda c: {"files": [indexed_file_json(one) for one in c.files(folder=Path("docs"), include="*.md")]},
        ["list", "--files", "--folder", "docs", "--glob", "*.md"],
    ),
    "status": (lambda c: status_json(c.status(skipped=True), skipped_files=True), ["status", "--skipped"]),
    "index": (lambda c: index_json(c.index("docs")), ["index", "docs"]),
}


def printed(capsys: pytest.CaptureFixture[str], config: Path, server: str | None, *arguments: str) -> Json:
    where = [] if server is None else ["--server", server]
    capsys.readouterr()
    assert main(["--config", str(config), *where, *arguments, "--json"]) == 0
    found: Json = json.loads(capsys.readouterr().out)
    return found


@pytest.mark.parametrize("case", CASES)
def test_an_answer_is_that_of_the_command(
    corpus: Corpus, config: Path, server: str | None, capsys: pytest.CaptureFixture[str], case: str
) -> None:
    ask, command = CASES[case]
    answer, expected = ask(corpus), printed(capsys, config, server, *command)
    for form in (answer, expected):
        form.pop("seconds", None)
    if case == "folders":
        answer["display_name"] = expected["display_name"]
    assert json.loads(json.dumps(answer)) == expected
    assert expected.get("hits") or case not in ("search", "filters", "budget")


REFUSED: dict[str, tuple[Callable[[Any], object], type[EverfindError], str]] = {
    "no question": (lambda c: c.search(" "), InvalidRequestError, "query"),
    "no text": (lambda c: c.search(None), InvalidRequestError, "query"),
    "text for a number": (lambda c: c.search("a", limit="5"), InvalidRequestError, "limit"),
    "half a character": (lambda c: c.search("a\ud800"), InvalidRequestError, "query"),
    "half a character in a pattern": (lambda c: c.grep("a\ud800"), InvalidRequestError, "pattern"),
    "half a character in a path": (lambda c: c.cat("a\ud800"), InvalidRequestError, "path"),
    "no path": (lambda c: c.cat("docs\0"), InvalidRequestError, "path"),
    "fewer files than none": (lambda c: c.index(max_files=-1), InvalidRequestError, "max_files"),
    "out of range": (lambda c: c.gather("a", limit=101), InvalidRequestError, "limit"),
    "a number for a name": (lambda c: c.search("a", folder=3), InvalidRequestError, "folder"),
    "unknown": (lambda c: c.search("a", folders=["docs"]), InvalidRequestError, "folders"),
    "no mode": (lambda c: c.search("a", mode="fuzzy"), InvalidRequestError, "mode"),
    "no date": (lambda c: c.search("a", since="yesterday"), InvalidRequestError, "filters.since"),
    "no relation": (lambda c: c.related("a", relation="parent"), InvalidRequestError, "relation"),
    "no expression": (lambda c: c.grep("(", regex=True), InvalidRequestError, "pattern"),
    "lines that end before": (
        lambda c: c.cat("docs/auth.md", start_line=5, end_line=2), InvalidRequestError, "start_line",
    ),
    "a number for a path": (lambda c: c.index("docs", 3), InvalidRequestError, "targets"),
    "no folder": (lambda c: c.search("a", folder="dosc"), FolderNotFoundError, ""),
    "lines in two ways": (lambda c: c.cat("docs/auth.md:2", end_line=5), FileNotIndexableError, ""),
    "fewer than no files": (lambda c: c.files(limit=-1), InvalidRequestError, "limit"),
    "no place in the list": (lambda c: c.files(after="docs/auth.md"), InvalidRequestError, "after"),
    "files of no folder": (lambda c: c.files(folder="dosc"), FolderNotFoundError, ""),
    "no file": (lambda c: c.cat("docs/nothing.md"), FileNotIndexableError, ""),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_used_is_named(corpus: Corpus, case: str) -> None:
    ask, error, field = REFUSED[case]
    with pytest.raises(error) as caught:
        ask(corpus)
    assert [one.field for one in caught.value.violations] == [field] * bool(field)


def test_an_unknown_argument_brings_the_ones_that_there_are(corpus: Corpus) -> None:
    ask: Any = corpus.search
    with pytest.raises(InvalidRequestError, match=r"^folders: there is no such argument; did you mean 'folder'\?"):
        ask("a", folders=["docs"])


def test_arguments_that_a_call_does_not_take_are_told_in_our_words(corpus: Corpus) -> None:
    loose: Any = corpus
    with pytest.raises(InvalidRequestError, match=r"^folders: there is no such argument; did you mean 'folder'\?"):
        loose.files(folders=["docs"])
    with pytest.raises(
        InvalidRequestError, match=r"^arguments: 1 at most without a name; there are by name: start_line, end_line$"
    ):
        loose.cat("docs/auth.md", 1, 2, 3, 4)
    with pytest.raises(InvalidRequestError, match=r"^arguments: 0 at most without a name; there are by name: skipped$"):
        loose.status(1)


def test_awaited_answers_are_the_same(corpus: Corpus, config: Path, server: str | None) -> None:
    async def ask() -> tuple[Any, Any, Any]:
        async with open_async_corpus(config, server=server) as waiting:
            found = await asyncio.gather(waiting.search("passwords", limit=2), waiting.folders())
            with pytest.raises(InvalidRequestError, match="limit"):
                await waiting.search("passwords", limit=0)
        with pytest.raises(UnavailableError, match="closed") as closed:
            await waiting.search("passwords")
        return *found, closed.value.hint

    answer, folders, hint = asyncio.run(ask())
    assert search_json(answer) == search_json(corpus.search("passwords", limit=2))
    assert folders == corpus.folders()
    assert "open_corpus" in hint


def test_files_come_in_pages(corpus: Corpus) -> None:
    held = corpus.files(folder=["code", "docs"])
    assert len(held) == corpus.status().coverage.files == 10
    found = corpus.files(limit=4)
    while page := corpus.files(limit=4, after=found[-1].ref):
        assert len(page) <= 4
        found += page
    assert found == held


def test_a_closed_corpus_answers_no_more(config: Path, server: str | None) -> None:
    with open_corpus(config, server=server) as corpus:
        corpus.folders()
    corpus.close()
    for ask in (corpus.folders, corpus.status, corpus.index, lambda: corpus.search("a")):
        with pytest.raises(UnavailableError, match="the corpus is closed"):
            ask()


def test_folders_of_new_settings_count_with_the_next_call(config: Path, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    own = write_config(tmp_path / "config.toml", folders={}, index_dir=str(tmp_path / "index"))
    with open_corpus(own) as corpus:
        with pytest.raises(FolderNotFoundError, match="no folder to index"):
            corpus.index()
        with pytest.raises(IndexMissingError):
            corpus.search("anything")
        write_config(own, folders={"notes": tmp_path / "notes"}, index_dir=str(tmp_path / "index"))
        assert [folder.name for folder in corpus.folders()] == ["notes"]


def test_folders_come_and_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in ("CONFIG", "DATA", "CACHE", "STATE"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(tmp_path / "home"))
    write_corpus(tmp_path)
    file = write_config(tmp_path / "settings" / "config.toml", folders={}, index_dir=str(tmp_path / "index"))
    with open_corpus(file) as corpus:
        (docs,) = corpus.add(tmp_path / "docs", name="notes", include="*.md")
        assert (docs.name, docs.root, docs.include) == ("notes", str(tmp_path / "docs"), ("*.md",))
        assert corpus.folders() == (docs,)
        indexed = corpus.index().indexed
        with pytest.raises(FolderExistsError):
            corpus.add(tmp_path / "code", tmp_path / "docs")
        assert corpus.folders() == (docs,)
        removed = corpus.remove(tmp_path / "docs")
        assert (removed.folder, removed.files_forgotten) == (docs, indexed)
        assert corpus.folders() == ()
        for refused in (corpus.add, lambda: corpus.remove("notes"), lambda: corpus.remove(" ")):
            with pytest.raises((InvalidRequestError, FolderNotFoundError)):
                refused()


def test_a_watched_corpus_keeps_up_with_its_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in ("CONFIG", "DATA", "CACHE", "STATE"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(tmp_path / "home"))
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# Wombats\n\nA wombat digs burrows.\n")
    file = write_config(
        tmp_path / "settings" / "config.toml", folders={"docs": tmp_path / "docs"}, index_dir=str(tmp_path / "index")
    )
    ends = time.monotonic() + 120
    with open_corpus(file, watch=True) as corpus:
        corpus.index()
        (tmp_path / "docs" / "b.md").write_text("# Numbats\n\nA numbat eats termites.\n")
        while corpus.status().coverage.files < 2:
            assert time.monotonic() < ends
            time.sleep(0.05)
