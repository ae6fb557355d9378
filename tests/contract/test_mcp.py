"""What agents get: the same answers as by the ports, in both eras of the protocol, and nothing from outside."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from everfind_core.answers.json_form import gather_json, grep_json, indexed_file_json, search_json
from everfind_core.model import FileRef, GatherRequest, GrepRequest, SearchRequest
from everfind_core.ports import Embedder
from everfind_gateway.mcp import file_cursor, resources
from everfind_gateway.setting_groups.serving import DEFAULT_TOOLS
from tests.contract.conftest import Connected
from tests.support.agents import MODES, Engines, Served, check_output, serve_engines, text_of, write_config
from tests.support.corpus import FILES


@pytest.fixture(scope="module")
def served(workspace: Connected, embedder: Embedder, tmp_path_factory: pytest.TempPathFactory) -> Served:
    config = write_config(
        tmp_path_factory.mktemp("home") / "config.toml",
        folders={"code": workspace.base / "code", "docs": workspace.base / "docs"},
        index_dir=str(workspace.base / "index"),
        mcp_tools=[*DEFAULT_TOOLS, "search_notes", "codebase_search"],
        mcp_name="team",
        mcp_description="The wiki.",
        workspace_roots=[],
    )
    return serve_engines(config, Engines(workspace.indexer, workspace.searcher, embedder))


CALLS: list[tuple[str, dict[str, Any]]] = [
    ("search", {"query": "when can a session be extended"}),
    ("search", {"query": "zzz", "folders": ["docs"], "include": ["*.nothing"]}),
    ("gather", {"query": "WriteAtomic", "limit": 1, "context_lines": 3}),
    ("related", {"target": "refresh_token"}),
    ("related", {"target": "code/src/session.py:9", "relations": ["caller", "similar"]}),
    ("list_folders", {}),
    ("list_files", {"folders": ["docs"], "include": ["*.md"], "limit": 2}),
    ("cat_file", {"path": "code/src/session.py", "start_line": 3, "end_line": 5}),
    ("grep", {"pattern": "refresh_token"}),
    ("status", {"skipped_files": True}),
    ("index", {}),
    ("search_notes", {"query": "passwords", "exclude": ["decisions"], "searchAll": True}),
]


@pytest.mark.parametrize("mode", MODES)
def test_every_tool_answers_by_its_own_schema(served: Served, mode: str) -> None:
    async def use(client: Client) -> None:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(tools) == {*DEFAULT_TOOLS, "search_notes", "codebase_search"}
        for name, arguments in CALLS:
            result = await client.call_tool(name, arguments)
            check_output(tools[name], result)
            assert text_of(result).strip()

    served.ask(use, mode=mode)


def test_structured_answers_are_those_of_the_ports(served: Served, workspace: Connected) -> None:
    search = served.call("search", {"query": "token", "limit": 3, "max_tokens": 0, "further": 0}).structured_content
    assert search == search_json(workspace.searcher.search(SearchRequest("token", limit=3)))
    gather = served.call("gather", {"query": "token", "limit": 2, "contextLines": 4, "max_tokens": 0, "further": 0})
    assert gather.structured_content == gather_json(
        workspace.searcher.gather(GatherRequest(SearchRequest("token", limit=2), 4))
    )
    grep = served.call("grep", {"pattern": "token", "globs": "*.py"}).structured_content
    assert grep == grep_json(workspace.indexer.grep(GrepRequest("token", globs=("*.py",), max_results=50)))


def test_the_server_says_who_it_is_and_what_it_holds(served: Served) -> None:
    async def use(client: Client) -> tuple[str | None, str, types.ListToolsResult]:
        assert client.server_info is not None
        return client.instructions, client.server_info.name, await client.list_tools()

    instructions, name, listed = served.ask(use)
    assert name == "team"
    assert instructions is not None
    assert instructions.startswith("The wiki.\nSemantic and exact search over these folders: code, docs.")
    for tool in listed.tools:
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint == (tool.name not in ("index", "codebase_search"))
        assert tool.annotations.open_world_hint is tool.annotations.destructive_hint is False
        assert tool.input_schema["additionalProperties"] is False
        assert "anyOf" not in json.dumps(tool.input_schema), "strict hosts refuse unions"
        assert "$ref" not in json.dumps([tool.input_schema, tool.output_schema])
        assert all(shape["description"] for shape in tool.input_schema["properties"].values())


def test_pages_follow_each_other(served: Served, workspace: Connected) -> None:
    whole = workspace.searcher.search(SearchRequest("token file", limit=100))
    arguments: dict[str, Any] = {"query": "token file", "limit": 4}
    paths, pages = [], 0
    while True:
        page = served.call("search", arguments).structured_content
        paths += [(hit["path"], hit["start_line"]) for hit in page["hits"]]
        pages += 1
        if "next_cursor" not in page:
            break
        arguments["cursor"] = page["next_cursor"]
    assert paths == [(hit.path, hit.start_line) for hit in whole.hits]
    assert pages == -(-len(whole.hits) // 4)


def test_the_files_of_the_index_come_page_by_page(served: Served, workspace: Connected) -> None:
    cases: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({}, {}),
        ({"folders": [str(workspace.base / "docs")]}, {"folder": "docs"}),
        ({"folders": ["docs", "code"], "include": "*.md"}, {"globs": ["*.md"]}),
    ]
    for given, port in cases:
        held = workspace.indexer.indexed_files(**port)
        assert len(held) > 3
        found: list[Any] = []
        cursor = ""
        while True:
            result = served.call("list_files", {**given, "limit": 3, "cursor": cursor})
            page = result.structured_content
            found += page["files"]
            assert (
                text_of(result).splitlines()[0].split("  ")[0]
                == f"{page['files'][0]['folder']}/{page['files'][0]['path']}"
            )
            assert len(page["files"]) <= 3
            if not (cursor := page.get("next_cursor", "")):
                break
            assert text_of(result).endswith(f"[more files; next page: cursor={cursor!r}]")
        assert found == [indexed_file_json(file) for file in held]


def test_no_file_of_the_list_says_how_globs_match(served: Served) -> None:
    result = served.call("list_files", {"include": ["docs/**"], "folders": ["docs"]})
    assert result.structured_content == {"files": []}
    assert "without the folder's name" in text_of(result)
    cursor = file_cursor.encoded(FileRef("zzz", "z"))
    assert "holds no file there" in text_of(served.call("list_files", {"cursor": cursor}))


def test_a_token_budget_is_kept_and_told(served: Served, workspace: Connected) -> None:
    result = served.call("search", {"query": "token", "limit": 20, "max_tokens": 120})
    assert 0 < len(result.structured_content["hits"]) < 8
    assert result.structured_content["left_out"] > 0
    assert f"{result.structured_content['left_out']} more hits; next page: cursor=" in text_of(result)


def test_an_empty_answer_says_what_was_searched(served: Served) -> None:
    text = text_of(served.call("search", {"query": "zzz", "include": ["*.nothing"]}))
    assert text.startswith("Nothing to search: no path matches '*.nothing'")
    assert f"searched {len(FILES)} files, {len(FILES)} chunks" in text


def test_secrets_stay_masked_in_every_tool(served: Served) -> None:
    async def use(client: Client) -> str:
        calls = (
            ("search", {"query": "deploy token secret", "limit": 50}),
            ("gather", {"query": "deploy token secret", "limit": 50}),
            ("cat_file", {"path": "docs/secret.md"}),
            ("grep", {"pattern": "The token is"}),
        )
        results = [await client.call_tool(name, arguments) for name, arguments in calls]
        resource = await client.read_resource("everfind://file/docs/secret.md")
        return repr(results) + repr(resource)

    assert "ghp_" not in served.ask(use)


@pytest.mark.parametrize("mode", MODES)
def test_twenty_calls_at_once_are_all_answered(served: Served, mode: str) -> None:
    queries = [f"question {n} about tokens" for n in range(20)]

    async def use(client: Client) -> dict[str, str]:
        answers: dict[str, str] = {}

        async def one(query: str) -> None:
            answers[query] = (await client.call_tool("search", {"query": query})).structured_content["query"]

        async with anyio.create_task_group() as group:
            for query in queries:
                group.start_soon(one, query)
        return answers

    assert served.ask(use, mode=mode) == {query: query for query in queries}


# --- nothing from outside ---------------------------------------------------------------------------------------------

OUTSIDE = (
    *("/etc/passwd", "../../etc/passwd", "code/../../index/current", "code/../docs/auth.md", "code//src/session.py"),
    *("~/.ssh/id_rsa", "code/./src/session.py", "code/src/", "code", "code/a\0b", "nope/x", ".", "/", "code/%2e%2e/x"),
    *(
        "file:///etc/passwd",
        "code\\..\\..\\x",
        "code/src/session.py/../../../../../etc/passwd",
        "\ud800",
        "-",
        "code/link",
    ),
)


@pytest.fixture(scope="module")
def link_out(workspace: Connected) -> Iterator[None]:
    """Links out of a folder: of a file, and of a directory."""
    links = {"link": "/etc/passwd", "linked": "/etc"}
    for name, target in links.items():
        (workspace.base / "code" / name).symlink_to(target)
    yield
    for name in links:
        (workspace.base / "code" / name).unlink()


@pytest.mark.usefixtures("link_out")
@pytest.mark.parametrize("path", OUTSIDE)
def test_nothing_outside_is_read(served: Served, path: str) -> None:
    message = served.refusal("cat_file", {"path": path})
    assert "root:" not in message
    assert "\n" not in message


@pytest.mark.usefixtures("link_out")
@pytest.mark.parametrize("path", ["index/current", "code/link", "code/linked/passwd", "code", "", "code/../x", "x"])
def test_an_absolute_path_outside_or_of_no_file_is_refused(served: Served, workspace: Connected, path: str) -> None:
    served.refusal("cat_file", {"path": str(workspace.base / path)})


@pytest.mark.usefixtures("link_out")
def test_links_lead_nowhere(served: Served) -> None:
    assert served.refusal("cat_file", {"path": "code/linked/passwd"})
    assert served.call("grep", {"pattern": "root:"}).structured_content["matches"] == []
    followed = served.call("index", {"paths": ["code/linked"]}).structured_content["files"]
    assert (followed["indexed"], followed["skipped"]) == (0, {"link": 1})


PLACES: tuple[tuple[str, dict[str, Any], str], ...] = (
    *(("search", {"query": "root user"}, name) for name in ("folders", "include", "exclude")),
    *(("gather", {"query": "root user"}, name) for name in ("folders", "include", "exclude")),
    *(("related", {"target": "refresh_token"}, name) for name in ("folders", "include", "exclude")),
    *(("grep", {"pattern": "root:"}, name) for name in ("folders", "globs")),
    ("related", {}, "target"),
    ("cat_file", {}, "path"),
    ("index", {}, "paths"),
    ("search_notes", {"query": "root user"}, "exclude"),
    ("codebase_search", {"information_request": "root user"}, "directory_path"),
)
"""Each argument of each tool that takes a place."""


@pytest.mark.usefixtures("link_out")
def test_no_argument_of_any_tool_leads_outside(served: Served) -> None:
    async def use(client: Client) -> None:
        for tool, arguments, name in PLACES:
            for path in (*OUTSIDE[:5], "code/../..", "/", "..", "../**", "/etc/**", "linked/**"):
                result = await client.call_tool(tool, {**arguments, name: path})
                found = result.structured_content or {}
                shown = [*found.get("hits", []), *found.get("matches", []), *found.get("answer", {}).get("hits", [])]
                shown += [one["hit"] for one in found.get("related", [])]
                assert {f"{one['folder']}/{one['path']}" for one in shown} <= set(FILES)
                assert "root:x" not in text_of(result)
                assert result.is_error or name not in ("path", "paths", "directory_path")

    served.ask(use)


@pytest.mark.parametrize("path", ["/etc", "/", "..", "~", "code/../..", "nope", "\0", "/nope/a b"])
def test_nothing_outside_is_indexed(served: Served, path: str) -> None:
    before = served.config.read_bytes()
    for tool, arguments in (
        ("index", {"paths": [path]}),
        ("codebase_search", {"information_request": "x", "directory_path": path}),
    ):
        assert "\n" not in served.refusal(tool, arguments)
    assert served.config.read_bytes() == before


def test_a_directory_that_is_not_added_is_refused_with_the_command(served: Served) -> None:
    expected = "/etc is in no added folder. The user adds it with: everfind add /etc"
    assert served.refusal("index", {"paths": ["/etc"]}) == expected
    assert served.refusal("codebase_search", {"information_request": "x", "directory_path": "/etc"}) == expected


@pytest.mark.parametrize(
    "uri",
    [
        *("everfind://file/code/../docs/auth.md", "everfind://file/code/%2e%2e/docs/auth.md", "everfind://file/code/"),
        *("everfind://file/code/src%2Fsession.py", "everfind://file/code/src%5Csession.py/..", "everfind://folder/.."),
        *("everfind://file/code/a%00b", "everfind://file/%2e%2e/etc/passwd", "everfind://folder/", "everfind://file/"),
        *("everfind://file/code/src/session.py?x=1", "everfind://file/code/src/session.py#x", "everfind://folder/no"),
        *("file:///etc/passwd", "EVERFIND://file/code/src/session.py", "everfind:file/code/src/session.py", "", "x"),
        *("everfind://file//etc/passwd", "everfind://file/code//etc/passwd", "everfind://file/code/%252e%252e/x"),
        *("everfind://u@file/code/src/session.py", "everfind://file/code/%FF", "everfind://file/code/absent.py"),
        "everfind://file/code/" + "a" * 10_000,
    ],
)
def test_other_uris_are_no_resources(served: Served, uri: str) -> None:
    async def use(client: Client) -> types.ErrorData:
        with pytest.raises(MCPError) as caught:
            await client.read_resource(uri)
        return caught.value.error

    assert served.ask(use).code == types.INVALID_PARAMS


@pytest.mark.parametrize("mode", MODES)
def test_folders_and_files_are_resources(served: Served, mode: str) -> None:
    async def use(client: Client) -> None:
        listed = (await client.list_resources()).resources
        uris = [str(resource.uri) for resource in listed]
        assert uris[:2] == ["everfind://folder/code", "everfind://folder/docs"]
        indexed = [resources.file_uri(*name.split("/", 1)) for name in FILES]
        assert sorted(uris[2:]) == sorted(indexed)
        templates = (await client.list_resource_templates()).resource_templates
        assert [t.uri_template for t in templates] == ["everfind://folder/{folder}", "everfind://file/{folder}/{+path}"]
        (folder,) = (await client.read_resource("everfind://folder/code")).contents
        assert isinstance(folder, types.TextResourceContents)
        assert json.loads(folder.text)["coverage"]["files"] == 4
        for name, text in FILES.items():
            directory, _, path = name.partition("/")
            (content,) = (await client.read_resource(resources.file_uri(directory, path))).contents
            assert isinstance(content, types.TextResourceContents)
            if path != "secret.md":
                assert content.text == text.rstrip("\n")

    served.ask(use, mode=mode)


# --- hostile and wrong arguments --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tool", "arguments", "sentence"),
    [
        ("search", {}, "query: it is missing"),
        ("search", {"query": " "}, "query: it is empty. Ask with a few words or an identifier."),
        ("search", {"query": "x", "limit": 0}, "limit: 0 cannot be used: it must be at least 1"),
        ("search", {"query": "x", "mode": "fast"}, """mode: "fast" is not one of 'hybrid', 'semantic' or 'lexical'"""),
        ("search", {"query": "x", "folders": ["cod"]}, "folders: no folder has the name or path 'cod'; did you mean"),
        ("search", {"query": "x", "cursor": "abc"}, "cursor: it does not belong to this query."),
        (
            "search",
            {"query": "x", "querry": "y"},
            "querry: there is no such argument; did you mean 'query'? (arguments",
        ),
        ("search", {"query": "x", "include": [1]}, "include.0: 1 cannot be used: it needs text"),
        ("search", {"query": "x" * 10_001}, "query: "),
        ("search", {"query": "x", "exclude": ["a"] * 51}, "exclude: "),
        ("gather", {"query": "x", "context_lines": 201}, "context_lines: 201 cannot be used"),
        ("cat_file", {"path": "code/src/session.py", "start_line": 5, "end_line": 4}, "end_line: 4 is before"),
        ("cat_file", {"path": "nope/x.py"}, "nope/x.py is no file of an added folder."),
        ("grep", {"pattern": "(", "regex": True}, "pattern: '(' is no regular expression"),
        ("grep", {"pattern": "a\nb"}, "pattern: it spans lines"),
        ("grep", {"pattern": "a", "globs": ["!x"]}, "globs: '!x' is negated"),
        ("list_files", {"limit": 0}, "limit: 0 cannot be used"),
        ("list_files", {"cursor": "abc"}, "cursor: no page of this list gave it. List again without a cursor."),
        (
            "list_files",
            {"cursor": file_cursor.encoded(FileRef("code", "\udcff"))},
            "cursor: no page of this list gave it. List again without a cursor.",
        ),
        ("list_files", {"folders": ["nope"]}, "folders: no folder has the name or path 'nope'; the folders are: code"),
        ("list_files", {"include": ["!x"]}, "globs: '!x' is negated"),
        ("index", {"paths": ["nope"]}, "no folder has the name or path 'nope'. The folders are: code, docs."),
        ("index", {"max_files": -1}, "max_files: -1 cannot be used"),
        ("nope", {}, "name: there is no tool 'nope'; there are search, gather"),
        (
            "codebase_search",
            {"information_request": "x", "directory_path": "src"},
            "directory_path: 'src' is not an abs",
        ),
    ],
)
@pytest.mark.parametrize("mode", MODES)
def test_a_wrong_argument_is_one_sentence_that_names_it(
    served: Served, tool: str, arguments: dict[str, Any], sentence: str, mode: str
) -> None:
    result = served.call(tool, arguments, mode=mode)
    assert result.is_error
    assert text_of(result).startswith(sentence)
    assert "\n" not in text_of(result)
    assert len(text_of(result)) < 600


HOSTILE = ("\0", "\x1b[31m", "' OR 1=1 --", "{{7*7}}", "$(id)", "a" * 9_999, "登录鉴权", "\u202e", "<script>", "%s%n")


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_breaks_a_tool(served: Served, text: str) -> None:
    async def use(client: Client) -> list[types.CallToolResult]:
        return [
            await client.call_tool("search", {"query": text}),
            await client.call_tool("search", {"query": "token", "include": [text[:99]], "languages": [text[:99]]}),
            await client.call_tool("gather", {"query": text, "kinds": [text[:99]]}),
            await client.call_tool("grep", {"pattern": text[:999]}),
            await client.call_tool("cat_file", {"path": text[:999]}),
            await client.call_tool("search_notes", {"query": text, "exclude": [text[:99]]}),
        ]

    for result in served.ask(use):
        assert "fault of everfind" not in text_of(result)


def test_null_is_left_out_and_one_text_is_a_list(served: Served) -> None:
    loose = {"folders": "docs", "include": '["*.md"]', "exclude": None, "mode": None, "limit": "3", "min_score": -1}
    given = {"query": "token", **loose}
    hits = served.call("search", given).structured_content["hits"]
    assert len(hits) == 3
    assert {hit["folder"] for hit in hits} == {"docs"}


def test_prompts_teach_the_tools(served: Served) -> None:
    async def use(client: Client) -> list[str]:
        assert [prompt.name for prompt in (await client.list_prompts()).prompts] == ["guide", "answer"]
        rendered = [await client.get_prompt("guide"), await client.get_prompt("answer", {"question": "why {x}?"})]
        with pytest.raises(MCPError, match="question: it needs"):
            await client.get_prompt("answer")
        with pytest.raises(MCPError, match="there is no prompt 'nope'; there are guide, answer"):
            await client.get_prompt("nope")
        return [m.content.text for p in rendered for m in p.messages if isinstance(m.content, types.TextContent)]

    guide, answer = served.ask(use)
    assert all(f"`{tool}`" in guide for tool in DEFAULT_TOOLS)
    assert "why {x}?" in answer


def test_a_hit_can_be_read_on_as_it_is_shown(served: Served) -> None:
    hit = served.call("search", {"query": "WriteAtomic", "limit": 1}).structured_content["hits"][0]
    shown = f"{hit['folder']}/{hit['path']}:{hit['start_line']}-{hit['end_line']}"
    assert shown in text_of(served.call("search", {"query": "WriteAtomic", "limit": 1}))
    for path in (shown, f"{hit['folder']}/{hit['path']}", hit["absolute_path"]):
        read = served.call("cat_file", {"path": path}).structured_content
        assert (read["folder"], read["path"]) == (hit["folder"], hit["path"])
        assert hit["text"] in read["text"]
    assert Path(hit["absolute_path"]).exists()
