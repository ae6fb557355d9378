"""An agent's side of the MCP server: the SDK's own client, in memory or on a real process."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import anyio
import jsonschema  # type: ignore[import-untyped]  # the SDK brings it, without stubs
import mcp_types as types
from mcp import Client

from everfind_core.ports import Embedder, Indexer, Searcher
from everfind_gateway.config.settings import Settings, load_settings
from everfind_gateway.live_workspace import LiveWorkspace
from everfind_gateway.mcp.server import build_server

T = TypeVar("T")
MODES = ("legacy", "auto")
"""The protocol of today's hosts, and the newest revision."""
TOOL_CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("search", {"query": "when can a session be extended"}),
    ("gather", {"query": "refresh_token"}),
    ("related", {"target": "refresh_token"}),
    ("list_folders", {}),
    ("list_files", {"include": ["*.md"]}),
    ("cat_file", {"path": "docs/auth.md"}),
    ("grep", {"pattern": "WriteAtomic"}),
    ("status", {}),
    ("index", {}),
)
"""A call of each tool that is there without settings, over the tests' corpus."""


@dataclass(frozen=True)
class Engines:
    """An opened workspace."""

    indexer: Indexer
    searcher: Searcher
    embedder: Embedder


@dataclass(frozen=True)
class Served:
    """A server in this process over engines of a test's choice, with settings of its own."""

    config: Path
    open_workspace: Callable[[Settings], AbstractContextManager[Any]]

    def settings(self) -> Settings:
        return load_settings(self.config)

    def corpus(self) -> LiveWorkspace:
        return LiveWorkspace(self.settings, self.open_workspace)

    def ask(self, use: Callable[[Client], Awaitable[T]], *, mode: str = "auto") -> T:
        """What ``use`` gives with a connected client."""

        async def main() -> T:
            corpus = self.corpus()
            try:
                async with Client(build_server(corpus, self.settings()), mode=mode) as client:
                    return await use(client)
            finally:
                corpus.close()

        return anyio.run(main)

    def call(self, tool: str, arguments: dict[str, Any] | None = None, *, mode: str = "auto") -> types.CallToolResult:
        """One tool call."""
        return self.ask(lambda client: client.call_tool(tool, arguments or {}), mode=mode)

    def refusal(self, tool: str, arguments: dict[str, Any]) -> str:
        """The sentence that a call is refused with."""
        result = self.call(tool, arguments)
        assert result.is_error, result.structured_content
        return text_of(result)


def serve_engines(config: Path, engines: Any) -> Served:
    """A server over ``engines``, which stay open."""
    return Served(config, lambda _settings: nullcontext(engines))


def text_of(result: types.CallToolResult) -> str:
    """The text that a result has for a model."""
    (content,) = result.content
    assert isinstance(content, types.TextContent)
    return content.text


def check_output(tool: types.Tool, result: types.CallToolResult) -> Any:
    """The structured content, valid by the tool's own schema."""
    assert not result.is_error, text_of(result)
    assert tool.output_schema is not None
    jsonschema.validate(result.structured_content, tool.output_schema)
    return result.structured_content


def write_config(path: Path, *, folders: dict[str, Path], **settings: Any) -> Path:
    """A user's settings file."""
    import json

    lines = [f"{name} = {json.dumps(value)}" for name, value in settings.items()]
    for name, root in folders.items():
        lines += ["[[folders]]", f"name = {json.dumps(name)}", f"path = {json.dumps(str(root))}"]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
