"""Named workspaces: a directory indexed apart from the added folders, asked, listed and deleted."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from everfind_gateway.config.settings import load_settings
from everfind_gateway.wiring import local
from tests.support.fakes import FakeEmbedder
from tests.support.gateway import FakeEngines, Outcome

Run = Callable[..., Outcome]


@pytest.fixture
def lib(home: Path) -> Path:
    """A directory that is not added."""
    (home / "lib").mkdir()
    (home / "lib" / "a.md").write_text("Wombats dig.\n")
    return home / "lib"


@pytest.fixture
def own_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "_open_embedder", lambda _settings: FakeEmbedder())


@pytest.mark.usefixtures("own_model")
def test_from_a_directory_to_answers_and_away_again(everfind: Run, home: Path, lib: Path) -> None:
    (home / "notes").mkdir()
    (home / "notes" / "n.md").write_text("Wombats sleep.\n")
    everfind("add", home / "notes")
    everfind("index")
    made = json.loads(everfind("index", lib, "--workspace", "lib", "--json").out)
    assert made["files"]["indexed"] == 1

    def paths(*before: str) -> list[str]:
        answer = json.loads(everfind(*before, "search", "wombats", "--json").out)
        return [f"{hit['folder']}/{hit['path']}" for hit in answer["hits"]]

    assert paths("--workspace", "lib") == ["lib/a.md"]
    assert paths() == ["notes/n.md"]
    assert everfind("--workspace", "lib", "cat", "lib/a.md").out == "Wombats dig.\n"
    beyond = everfind("--workspace", "lib", "cat", "lib/a.md", "--lines", "9")
    assert (beyond.code, beyond.out, beyond.err) == (0, "", "the file has 1 line; there is no line 9\n")
    assert json.loads(everfind("list", "--workspaces", "--json").out) == {
        "workspaces": [
            {
                "name": "lib",
                "index_dir": str(home / "data/everfind/workspaces/lib/index"),
                "folders": [{"name": "lib", "path": str(lib), "include": []}],
            }
        ]
    }
    assert everfind("list", "--workspaces").out == f"lib  lib  {lib}\n"
    assert everfind("remove", "--workspace", "lib").out == "removed the workspace lib  (1 file forgotten)\n"
    assert not (home / "data/everfind/workspaces/lib").exists()
    assert (lib / "a.md").exists()
    assert paths() == ["notes/n.md"]
    assert "no workspace is named 'lib'" in everfind("--workspace", "lib", "search", "wombats").err


def test_more_directories_are_added_once(everfind: Run, engines: FakeEngines, home: Path, lib: Path) -> None:
    (home / "more").mkdir()
    (lib / "sub").mkdir()
    assert everfind("index", lib, "--workspace", "x").code == 0
    assert everfind("index", home / "more", lib, lib / "sub", "--workspace", "x").code == 0
    assert [folder.name for folder in load_settings(workspace="x").folders] == ["lib", "more"]
    assert [(run.folders, run.below) for run in engines.runs] == [(("lib",), ""), (("more", "lib"), "")]
    assert load_settings().folders == ()


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("--workspace", "nope", "status"), 4, "no workspace is named 'nope'"),
        (("--workspace", "./lib", "status"), 4, "there is no directory ./lib"),
        (("--workspace", "..", "status"), 4, ".. lies in no project"),
        (("--workspace", "./lib", "--config", "x", "status"), 2, "give either --workspace or --config"),
        (("remove",), 2, "give either a folder or --workspace NAME"),
        (("--workspace", "known", "index", ".", "--workspace", "other"), 2, "give it once"),
        (("--workspace", "../known", "status"), 4, "there is no directory ../known"),
        (("search", "--workspace", "known", "x"), 2, "before the command: `everfind --workspace … search …`"),
        (("index", "--workspace", "other"), 2, "needs the directories"),
        (("index", "absent", "--workspace", "other"), 4, "does not exist"),
        (("index", ".", "--workspace", "a/b"), 2, "looks like a path"),
        (("--workspace", "", "search", "x"), 2, "workspace: it is empty"),
        (("remove", "--workspace", "nope"), 4, "no workspace is named 'nope'"),
        (("remove", "--workspace", "known", "--keep-index"), 2, "cannot be kept and deleted"),
        (("--workspace", "known", "mcp", "install", "--client", "claude", "--project", "."), 2, "yours alone"),
    ],
)
def test_what_is_wrong_is_said(
    everfind: Run, engines: FakeEngines, lib: Path, arguments: tuple[str, ...], code: int, said: str
) -> None:
    everfind("index", lib, "--workspace", "known")
    outcome = everfind(*arguments)
    assert (outcome.code, outcome.out) == (code, "")
    assert said in outcome.err
    assert json.loads(everfind("list", "--workspaces", "--json").out)["workspaces"][0]["name"] == "known"
    assert len(json.loads(everfind("list", "--workspaces", "--json").out)["workspaces"]) == 1


def test_neither_a_project_nor_a_server_counts(
    everfind: Run, engines: FakeEngines, lib: Path, project: Path, user_config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    user_config.write_text('server = "far:1"\nlimit = 3\n')
    (project / ".everfind" / "config.toml").write_text("folders = []\nlimit = 4\n")
    monkeypatch.chdir(project)
    everfind("index", lib, "--workspace", "x")
    settings = load_settings(workspace="x")
    assert (settings.server, settings.limit, settings.files.project) == ("", 3, None)
    assert str(settings.origins["index_dir"]) == "flag --workspace x"


def test_the_hint_names_both_ways(everfind: Run, engines: FakeEngines, home: Path, lib: Path) -> None:
    (home / "notes").mkdir()
    everfind("add", home / "notes")
    outcome = everfind("index", lib)
    assert outcome.code == 4
    assert "`everfind index DIR --workspace NAME`" in outcome.err
