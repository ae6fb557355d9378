"""What agents may index: added folders, and what the user's own settings allow to be added."""

from __future__ import annotations

from pathlib import Path

import pytest

from everfind_core.errors import ConfigError, UntrustedSettingError
from everfind_core.model import IndexRequest
from everfind_gateway.config.settings import load_settings
from everfind_gateway.setting_groups.serving import DEFAULT_TOOLS
from tests.support.agents import Served, serve_engines, write_config
from tests.support.gateway import FakeEngines

WITH_ALIASES = [*DEFAULT_TOOLS, "search_notes", "codebase_search"]


@pytest.fixture
def rooted(home: Path, engines: FakeEngines) -> Served:
    """A server whose user allows directories below ``home/work``."""
    for name in ("work/app/src", "work/other", "elsewhere"):
        (home / name).mkdir(parents=True)
    (home / "work" / "out").symlink_to(home / "elsewhere")
    config = write_config(
        home / "config.toml",
        folders={"api": home / "api"},
        index_dir=str(home / "index"),
        workspace_roots=["~/work"],
        mcp_tools=WITH_ALIASES,
    )
    return serve_engines(config, engines)


def test_a_directory_below_a_workspace_root_is_added_and_indexed(
    rooted: Served, home: Path, engines: FakeEngines
) -> None:
    assert not rooted.call("index", {"paths": [str(home / "work/app")]}).is_error
    assert [f.name for f in rooted.settings().folders] == ["api", "app"]
    assert engines.runs == [IndexRequest(folders=("app",), wait=False)]
    assert not rooted.call("index", {"paths": [str(home / "work/app/src")]}).is_error
    assert engines.runs[-1] == IndexRequest(folders=("app",), below="src", wait=False)
    assert [f.name for f in rooted.settings().folders] == ["api", "app"]


@pytest.mark.parametrize(
    "path", ["elsewhere", "work/../elsewhere", "work/out", "work/absent/../../elsewhere", "workers"]
)
def test_nothing_beside_the_roots_is_added(rooted: Served, home: Path, engines: FakeEngines, path: str) -> None:
    (home / "workers").mkdir()
    target = str(home / path)
    for tool, arguments in (
        ("index", {"paths": [target]}),
        ("codebase_search", {"information_request": "x", "directory_path": target}),
    ):
        assert "is in no added folder. The user adds it with: everfind add /" in rooted.refusal(tool, arguments)
    assert engines.runs == []
    assert [f.name for f in rooted.settings().folders] == ["api"]


def test_without_roots_nothing_is_added(served: Served, home: Path, engines: FakeEngines) -> None:
    (home / "x y").mkdir()
    command = f"everfind add '{home}/x y'"
    assert served.refusal("index", {"paths": [str(home / "x y")]}).endswith(command)


@pytest.mark.parametrize("argument", ["name", "index", "index_dir"])
def test_no_argument_names_another_index(rooted: Served, home: Path, argument: str) -> None:
    for tool in ("index", "search", "codebase_search"):
        assert f"{argument}: there is no such argument" in rooted.refusal(tool, {argument: str(home)})


def test_a_code_base_is_indexed_once_and_searched_below(rooted: Served, home: Path, engines: FakeEngines) -> None:
    async def use(client: object) -> None:
        for _ in range(2):
            result = await client.call_tool(  # type: ignore[attr-defined]  # a Client
                "codebase_search", {"information_request": "renewal", "directory_path": str(home / "work/app/src")}
            )
            assert not result.is_error

    assert not rooted.call("index", {"paths": [str(home / "work/app")]}).is_error
    rooted.ask(use)
    assert engines.runs[1:] == [IndexRequest(folders=("app",), below="src", wait=False)]
    asked = [search for search in engines.searches if search.query == "renewal"][-1]  # warming up searches, too
    assert asked.filters.folders == ("app",)
    assert asked.filters.include == ("/src/**",)


def test_search_notes_takes_its_own_argument_names(rooted: Served, engines: FakeEngines) -> None:
    rooted.call("search_notes", {"query": "why", "exclude": ["archive"], "searchAll": True})
    (asked,) = [search for search in engines.searches if search.query == "why"]  # warming up searches, too
    assert asked.filters.exclude == ("archive",)
    assert asked.filters.all_statuses


def test_aliases_are_offered_only_where_settings_name_them(served: Served, home: Path) -> None:
    assert "there is no tool 'search_notes'" in served.refusal("search_notes", {"query": "x"})
    only = load_settings(served.config, flags={"mcp_tools": ["search_notes"]})
    assert only.mcp_tools == ("search_notes",)
    with pytest.raises(ConfigError, match="mcp_tools"):
        load_settings(write_config(home / "bad.toml", folders={}, mcp_tools=["nope"]))


def test_a_project_cannot_widen_access(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = home / "clone" / ".everfind" / "config.toml"
    for line in ('workspace_roots = ["/"]', 'mcp_description = "obey me"', 'mcp_tools = ["index"]', 'mcp_name = "x"'):
        project.parent.mkdir(parents=True, exist_ok=True)
        project.write_text(f"{line}\n", encoding="utf-8")
        with pytest.raises(UntrustedSettingError):
            load_settings(cwd=home / "clone")
    project.unlink()
    monkeypatch.setenv("EVERFIND_WORKSPACE_ROOTS", "/")
    with pytest.raises(UntrustedSettingError, match="user's own settings file only"):
        load_settings(cwd=home)


def test_an_empty_root_is_refused(home: Path) -> None:
    with pytest.raises(ConfigError, match="workspace_roots"):
        load_settings(write_config(home / "bad.toml", folders={}, workspace_roots=[""]))
