"""A server of several workspaces: a call names one by name or directory; without others there is no such argument."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import anyio
import mcp_types as types
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from everfind_core.errors import ConfigError, OverloadedError, UnavailableError
from everfind_gateway.config.folders import add_folders
from everfind_gateway.config.named_workspaces import named_workspace
from everfind_gateway.mcp.arguments import NoArguments, input_schema
from everfind_gateway.mcp.corpora import Corpora
from everfind_gateway.mcp.resources import file_uri, folder_uri
from everfind_gateway.mcp.server import build_server
from everfind_gateway.server.served import Served as ServedWorkspaces
from tests.support.agents import Served, text_of
from tests.support.workspaces import Opening, write_projects

OWN_INDEX = Path("/own/index")


@pytest.fixture
def src(home: Path) -> Path:
    return write_projects(home / "src", "a", "b", "c")


@pytest.fixture
def opening() -> Opening:
    return Opening()


@pytest.fixture
def others(src: Path, opening: Opening) -> Corpora:
    return Corpora(ServedWorkspaces([str(src)]), opening, limit=2, patience=0.0, own_index=OWN_INDEX)


def call(served: Served, others: Corpora | None, tool: str, **arguments: Any) -> types.CallToolResult:
    async def main() -> types.CallToolResult:
        corpus = served.corpus()
        try:
            async with Client(build_server(corpus, served.settings(), others=others)) as client:
                return await client.call_tool(tool, arguments)
        finally:
            corpus.close()

    return anyio.run(main)


def hits(result: types.CallToolResult) -> list[str]:
    assert not result.is_error, text_of(result)
    return [hit["path"] for hit in (result.structured_content or {})["hits"]]


def test_a_call_is_answered_from_the_workspace_that_it_names(
    served: Served, others: Corpora, opening: Opening, src: Path
) -> None:
    assert hits(call(served, others, "search", query="x")) == ["src/auth.py"]
    assert hits(call(served, others, "search", query="x", workspace="")) == ["src/auth.py"]
    for name in ("a", "b", "a", "c", "a"):
        assert hits(call(served, others, "search", query="x", workspace=f"{src}/{name}/deep")) == [f"{name}.py"]
    assert opening.opened == ["a", "b", "c"]
    assert opening.closed == ["b"]
    assert others.close()
    assert sorted(opening.closed) == ["a", "b", "c"]


def test_a_resource_is_read_from_the_workspace_that_it_names(
    served: Served, others: Corpora, opening: Opening, src: Path
) -> None:
    async def read(one: Corpora | None, uris: list[str]) -> tuple[list[str], list[str]]:
        corpus = served.corpus()
        told: list[str] = []
        try:
            async with Client(build_server(corpus, served.settings(), others=one)) as client:
                templates = (await client.list_resource_templates()).resource_templates
                for uri in uris:
                    try:
                        (content,) = (await client.read_resource(uri)).contents
                    except MCPError as error:
                        told.append(error.error.message.split(":")[0])
                    else:
                        assert isinstance(content, types.TextResourceContents)
                        told.append(content.text)
        finally:
            corpus.close()
        return told, [template.uri_template for template in templates]

    named = [file_uri("api", "a.py", f"{src}/{name}") for name in ("a", "nowhere")]
    told, templates = anyio.run(read, others, [file_uri("api", "a.py"), *named, folder_uri("api", str(src / "b"))])
    assert told[:2] == ["one\ntwo\n"] * 2
    assert told[2].startswith("there is no workspace")
    assert json.loads(told[3])["files"] == f"everfind://file/api/{{+path}}?workspace={quote(str(src / 'b'), safe='')}"
    assert opening.opened == ["a", "b"]
    assert templates == ["everfind://folder/{folder}{?workspace}", "everfind://file/{folder}/{+path}{?workspace}"]
    told, templates = anyio.run(read, None, named[:1])
    assert told[0].startswith("there is no workspace")
    assert templates == ["everfind://folder/{folder}", "everfind://file/{folder}/{+path}"]


@pytest.mark.parametrize("asked", ["/", "a", "/nowhere", "../a", "\0"])
def test_what_is_not_served_is_not_there(served: Served, others: Corpora, opening: Opening, asked: str) -> None:
    result = call(served, others, "search", query="x", workspace=asked)
    assert result.is_error
    assert "there is no workspace" in text_of(result)
    assert opening.opened == []


def test_the_argument_is_there_where_there_are_several(served: Served, others: Corpora) -> None:
    refused = call(served, None, "search", query="x", workspace="/a")
    assert refused.is_error
    assert "workspace" in text_of(refused)
    assert "needs a name or a directory" in text_of(call(served, others, "search", query="x", workspace=5))

    def described(listed: list[str]) -> str:
        text: str = input_schema(NoArguments, workspaces=listed)["properties"]["workspace"]["description"]
        return text.partition("Left out: the server's own.")[2]

    assert described([]) == ""
    assert described(["lib", "/src/api"]) == " Some that are there: lib, /src/api."
    assert described([f"w{n}" for n in range(23)]).endswith("w19 and 3 more.")

    async def schemas(one: Corpora | None) -> list[bool]:
        corpus = served.corpus()
        async with Client(build_server(corpus, served.settings(), others=one)) as client:
            listed = await client.list_tools()
        corpus.close()
        return ["workspace" in tool.input_schema["properties"] for tool in listed.tools]

    assert set(anyio.run(schemas, None)) == {False}
    assert set(anyio.run(schemas, others)) == {True}


def test_what_is_in_use_is_not_closed(served: Served, others: Corpora, opening: Opening, src: Path) -> None:
    own = served.corpus()
    with others.hold(f"{src}/a", own) as one, others.hold(f"{src}/b", own) as two, one.call(), two.call():
        with pytest.raises(OverloadedError, match="2 workspaces in use"), others.hold(f"{src}/c", own):
            pass
        assert opening.closed == []
    with others.hold(f"{src}/c", own) as three, three.call():
        assert opening.closed == ["b"], "its call ended first"
    assert others.close()
    with pytest.raises(UnavailableError), others.hold(f"{src}/a", own):
        pass


def test_one_index_is_not_opened_under_two_names(served: Served, opening: Opening, src: Path, home: Path) -> None:
    (home / "lib").mkdir()
    workspace = named_workspace("lib", may_be_missing=True)
    add_folders(workspace.file, [str(home / "lib")], index_dir=workspace.index_dir)
    workspace.file.root.with_name("alias").symlink_to(workspace.file.root)
    names = ServedWorkspaces(["lib", "alias", str(src)])
    others = Corpora(names, opening, limit=3, own_index=src / "a" / ".everfind" / "index")
    own = served.corpus()
    with others.hold("lib", own) as lib, lib.call():
        pass
    with (
        others.hold("alias", own) as alias,
        pytest.raises(ConfigError, match="the workspaces lib and alias have one index directory"),
        alias.call(),
    ):
        pass
    with others.hold(f"{src}/a/deep", own) as corpus:
        assert corpus is own
    assert len(opening.opened) == 1


def test_a_file_that_cannot_be_read_is_of_its_own_workspace_alone(served: Served, opening: Opening, src: Path) -> None:
    (src / "a" / ".everfind" / "config.toml").write_text("folders = [\n", encoding="utf-8")
    listed = ServedWorkspaces([str(src / "a"), str(src / "b")])
    others = Corpora(listed, opening, limit=2, own_index=OWN_INDEX)
    assert others.listed() == (f"{src}/a", f"{src}/b")
    assert hits(call(served, others, "search", query="x")) == ["src/auth.py"]
    assert hits(call(served, others, "search", query="x", workspace=f"{src}/b")) == ["b.py"]
    refused = call(served, others, "search", query="x", workspace=f"{src}/a")
    assert refused.is_error
    assert f"{src}/a/.everfind/config.toml:" in text_of(refused)
    for workspace in ("", f"{src}/b"):
        status = call(served, others, "status", workspace=workspace)
        (finding,) = [one for one in (status.structured_content or {})["findings"] if one["check"] == "workspace"]
        assert finding["severity"] == "error"
        assert finding["message"].startswith(f"{src}/a: {src}/a/.everfind/config.toml:")
        assert f"{src}/a/.everfind/config.toml:" in text_of(status)
