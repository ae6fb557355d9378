"""The main job on a real corpus, through real processes: add, index, search, change, index again."""

from __future__ import annotations

import shutil
import sysconfig
from pathlib import Path

import pytest

from tests.support.processes import Home

pytestmark = pytest.mark.slow

MODULES = ("argparse.py", "heapq.py", "shutil.py", "tempfile.py", "zipfile.py", "textwrap.py", "socketserver.py")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    home = Home(tmp_path_factory.mktemp("home"))
    corpus = home.base / "stdlib"
    corpus.mkdir()
    for name in MODULES:
        source = Path(sysconfig.get_path("stdlib")) / name
        shutil.copy(source if source.exists() else source.with_suffix("") / "__init__.py", corpus / name)
    notes = home.base / "notes"
    notes.mkdir()
    (notes / "auth.md").write_text(
        "# Auth\n\nHow sessions work.\n\n## Token refresh window\n\nA token may be renewed for ten minutes.\n"
    )
    (notes / "中文.md").write_text("# 登录\n\n用户登录鉴权逻辑在网关里。\n")
    home.run("add", str(corpus), str(notes))
    return home


@pytest.fixture(scope="module")
def indexed(home: Home) -> Home:
    report = home.json("index")
    assert report["files"]["indexed"] == len(MODULES) + 2
    assert report["files"]["skipped"] == {}
    assert report["errors"] == []
    assert report["chunks"]["written"] == report["chunks"]["embedded"] + report["chunks"]["reused"] > 300
    return home


@pytest.mark.parametrize(
    ("question", "path"),
    [
        ("parse command line options", "argparse.py"),
        ("make a temporary directory that removes itself", "tempfile.py"),
        ("priority queue", "heapq.py"),
        ("read an archive member", "zipfile.py"),
        ("wrap a paragraph to a given width", "textwrap.py"),
        ("ThreadingMixIn", "socketserver.py"),
        ("copytree", "shutil.py"),
        ("session expiry", "auth.md"),
        ("登录鉴权", "中文.md"),
    ],
)
def test_a_question_finds_its_file(indexed: Home, question: str, path: str) -> None:
    answer = indexed.json("search", question, "-k", "3")
    assert path in [hit["path"] for hit in answer["hits"]]


def test_a_hit_is_what_the_file_says(indexed: Home) -> None:
    answer = indexed.json("search", "make a temporary directory that removes itself")
    assert set(answer) >= {"query", "generation", "hits", "abstained", "coverage"}
    assert answer["abstained"] is None
    assert answer["coverage"]["files"] == len(MODULES) + 2
    for hit in answer["hits"]:
        lines = Path(hit["absolute_path"]).read_text().split("\n")
        assert hit["text"] == "\n".join(lines[hit["start_line"] - 1 : hit["end_line"]])
        assert hit["provenance"]["label"] in {"semantic", "lexical", "both"}
    scores = [hit["score"] for hit in answer["hits"]]
    assert scores == sorted(scores, reverse=True)


def test_modes_filters_and_pages(indexed: Home) -> None:
    semantic = indexed.json("search", "priority queue", "--mode", "semantic")
    assert {hit["provenance"]["label"] for hit in semantic["hits"]} == {"semantic"}
    assert indexed.json("search", "queue", "--folder", "notes")["hits"] == []  # nothing there is about it
    only_notes = indexed.json("search", "token", "--folder", "notes")
    assert {hit["folder"] for hit in only_notes["hits"]} == {"notes"}
    assert only_notes["coverage"]["files"] == 2
    globbed = indexed.json("search", "open a file", "--include", "z*.py")
    assert {hit["path"] for hit in globbed["hits"]} == {"zipfile.py"}
    without = indexed.json("search", "open a file", "--exclude", "zipfile.py", "-k", "50")
    assert "zipfile.py" not in {hit["path"] for hit in without["hits"]}


def test_a_query_that_starts_like_an_option(indexed: Home) -> None:
    assert indexed.json("search", "--", "--fix")["query"] == "--fix"


def test_cat_grep_and_gather_agree_with_the_file(indexed: Home) -> None:
    source = (indexed.base / "stdlib" / "heapq.py").read_text()
    assert indexed.run("cat", "stdlib/heapq.py").stdout.rstrip("\n") == source.rstrip("\n")
    found = indexed.json("grep", "def heappush")
    assert [(m["path"], m["line"]) for m in found["matches"]] == [
        ("heapq.py", n) for n, line in enumerate(source.split("\n"), 1) if "def heappush" in line
    ]
    gathered = indexed.run("gather", "priority queue", "-k", "2", "--context-lines", "3").stdout
    assert gathered.count("### [") == 2


def test_a_second_run_changes_nothing_and_an_edit_little(indexed: Home) -> None:
    report = indexed.json("index")
    assert (report["files"]["indexed"], report["files"]["unchanged"]) == (0, len(MODULES) + 2)
    path = indexed.base / "stdlib" / "argparse.py"
    lines = path.read_text().split("\n")
    lines.insert(len(lines) // 2, "# a comment about zebras and quaggas")
    path.write_text("\n".join(lines))
    report = indexed.json("index")
    assert report["files"]["indexed"] == 1
    assert 1 <= report["chunks"]["embedded"] <= 4
    assert indexed.json("search", "quaggas")["hits"][0]["path"] == "argparse.py"


def test_remove_forgets_and_keep_index_does_not(indexed: Home) -> None:
    extra = indexed.base / "extra"
    extra.mkdir()
    (extra / "only.txt").write_text("a wombat lives here\n")
    indexed.run("add", str(extra))
    indexed.run("index", "extra")
    indexed.run("remove", "extra", "--keep-index")
    assert indexed.json("search", "wombat")["hits"][0]["path"] == "only.txt"
    indexed.run("add", str(extra))
    indexed.run("remove", "extra")
    assert "only.txt" not in {hit["path"] for hit in indexed.json("search", "wombat")["hits"]}
