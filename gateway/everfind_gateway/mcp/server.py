"""The MCP server: protocol requests turned into tool calls, resource reads and prompts.

Built on the SDK's low-level server, not on ``MCPServer``: a wrong argument must be one sentence that names it, and the
list of resources must follow the folders as they are now. Both eras of the protocol are the SDK's business.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, nullcontext
from typing import Any, TypeAlias, TypeVar

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from everfind_core import __version__
from everfind_core.errors import ErrorKind, EverfindError, InvalidRequestError
from everfind_core.files.parsed_json import parse_json
from everfind_gateway.config.settings import Settings
from everfind_gateway.config.suggestions import did_you_mean
from everfind_gateway.live_workspace import LiveWorkspace
from everfind_gateway.mcp import prompts, resources
from everfind_gateway.mcp.arguments import input_schema, parse, split_workspace
from everfind_gateway.mcp.calls import Call, Result, Tell, Threads, in_workspace
from everfind_gateway.mcp.corpora import Corpora
from everfind_gateway.mcp.indexing import INDEX_TOOL, aliases
from everfind_gateway.mcp.outputs import output_schema
from everfind_gateway.mcp.tools import READING_TOOLS, Tool, sentence

T = TypeVar("T")
Context: TypeAlias = ServerRequestContext[None]

WARM_UP_SECONDS = 0.2
"""How long after the list of tools the model begins to load, so as not to slow the answer itself."""

_log = logging.getLogger("everfind.mcp")


class Activity:
    """The calls under way that are worth waiting for when no more can come: those that only read."""

    def __init__(self) -> None:
        self.answerable = 0

    @contextmanager
    def answering(self) -> Iterator[None]:
        """Count the call in the block."""
        self.answerable += 1
        try:
            yield
        finally:
            self.answerable -= 1


def offered_tools(names: Sequence[str]) -> tuple[Tool, ...]:
    """The tools of these names, each once, in the order of the documentation."""
    every = (*READING_TOOLS, INDEX_TOOL, *aliases())
    return tuple(tool for tool in every if tool.name in names)


def build_server(
    corpus: LiveWorkspace, settings: Settings, *, activity: Activity | None = None, others: Corpora | None = None
) -> Server[None]:
    """A server with the name, description and tools that ``settings`` give it; a call may name one of ``others``."""
    handlers = _Handlers(corpus, offered_tools(settings.mcp_tools), activity or Activity(), others)
    names = [tool.name for tool in handlers.tools]
    folders = None if settings.server else settings.folders

    return Server(
        settings.mcp_name,
        version=__version__,
        title=settings.display_name or settings.mcp_name,
        description=settings.mcp_description or None,
        instructions=prompts.instructions(settings.mcp_description, folders, names),
        lifespan=_nothing_to_hold,
        get_tool_input_schema=handlers.tool_input_schema,
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_resource_templates,
        on_read_resource=handlers.read_resource,
        on_list_prompts=handlers.list_prompts,
        on_get_prompt=handlers.get_prompt,
    )


@asynccontextmanager
async def _nothing_to_hold(_server: Server[None]) -> AsyncIterator[None]:
    """The corpus outlives each connection."""
    yield


class _Handlers:
    """What the server does for each kind of request."""

    def __init__(
        self, corpus: LiveWorkspace, tools: Sequence[Tool], activity: Activity, others: Corpora | None
    ) -> None:
        self.tools = tools
        self._others = others
        self._corpus = corpus
        self._activity = activity
        self._by_name = {tool.name: tool for tool in tools}
        self._reading = {tool.name for tool in tools if tool.read_only}
        listed = others.listed() if others is not None else None
        self._schemas = {tool.name: input_schema(tool.arguments, workspaces=listed) for tool in tools}
        self._threads = Threads()

    def tool_input_schema(self, name: str) -> Mapping[str, Any] | None:
        """A tool's input schema; None if there is no such tool."""
        return self._schemas.get(name)

    async def list_tools(
        self, _context: Context, _params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        """Answer `tools/list`, and let the model load behind it."""
        asyncio.get_running_loop().call_later(WARM_UP_SECONDS, self._corpus.warm_up)
        return types.ListToolsResult(tools=[self._described(tool) for tool in self.tools])

    async def call_tool(self, context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        """Answer `tools/call`: what the tool gives, or one sentence on what went wrong."""
        try:
            with self._activity.answering() if params.name in self._reading else nullcontext():
                result = await self._run_tool(context, params.name, params.arguments or {})
        except EverfindError as error:
            return _failed(sentence(error))
        except Exception as error:  # whatever it is, the agent gets an answer and the log the trace
            _log.exception("tool %r failed", params.name)
            fault = f"a fault of everfind ({type(error).__name__})"
            return _failed(f"{params.name} failed by {fault}; the server's log has the details")
        return _succeeded(result)

    async def list_resources(
        self, _context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        """Answer `resources/list`: the folders, then page by page the indexed files, of the server's own workspace."""
        cursor = (params.cursor if params else None) or ""
        page = await self._read("", lambda call: resources.listed(call, cursor))
        return types.ListResourcesResult(
            next_cursor=page.next_cursor or None,
            resources=[
                types.Resource(
                    uri=resources.folder_uri(folder.name),
                    name=folder.name,
                    description=f"What is indexed of {folder.root}.",
                    mime_type="application/json",
                )
                for folder in page.folders
            ]
            + [
                types.Resource(
                    uri=resources.file_uri(file.ref.folder, file.ref.path),
                    name=f"{file.ref.folder}/{file.ref.path}",
                    mime_type=resources.mime_type(file.ref.path),
                    size=file.size,
                )
                for file in page.files
            ],
        )

    async def list_resource_templates(
        self, _context: Context, _params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        """Answer `resources/templates/list`."""
        more = resources.IN_WORKSPACE if self._others is not None else ""
        return types.ListResourceTemplatesResult(
            resource_templates=[
                types.ResourceTemplate(
                    uri_template=resources.FOLDER_TEMPLATE + more,
                    name="folder",
                    description="What is indexed of a folder.",
                    mime_type="application/json",
                ),
                types.ResourceTemplate(
                    uri_template=resources.FILE_TEMPLATE + more,
                    name="file",
                    description="An indexable file, by its folder's name and its path below it; secrets masked.",
                ),
            ]
        )

    async def read_resource(
        self, _context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        """Answer `resources/read`."""
        try:
            meant = resources.parse_uri(params.uri)
        except EverfindError as error:
            raise _protocol_error(error) from None
        text, mime_type = await self._read(meant.workspace, lambda call: resources.read(call, meant))
        return types.ReadResourceResult(
            contents=[types.TextResourceContents(uri=params.uri, text=text, mime_type=mime_type)]
        )

    async def list_prompts(
        self, _context: Context, _params: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        """Answer `prompts/list`."""
        return types.ListPromptsResult(
            prompts=[
                types.Prompt(
                    name=prompt.name,
                    title=prompt.title,
                    description=prompt.description,
                    arguments=[
                        types.PromptArgument(
                            name=prompt.argument, description=prompt.argument_description, required=True
                        )
                    ]
                    if prompt.argument
                    else [],
                )
                for prompt in prompts.PROMPTS
            ]
        )

    async def get_prompt(self, _context: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        """Answer `prompts/get`."""
        try:
            prompt = prompts.render(params.name, params.arguments or {})
        except EverfindError as error:
            raise _protocol_error(error) from None
        content = types.TextContent(type="text", text=prompt.text)
        return types.GetPromptResult(
            description=prompt.description, messages=[types.PromptMessage(role="user", content=content)]
        )

    async def _run_tool(self, context: Context, name: str, given: Mapping[str, Any]) -> Result:
        tool = self._by_name.get(name)
        if tool is None:
            known = ", ".join(self._by_name)
            raise InvalidRequestError.of(
                "name", f"there is no tool {name[:100]!r}{did_you_mean(name, self._by_name)}; there are {known}"
            )
        asked = ""
        if self._others is not None:
            asked, given = split_workspace(given)
        arguments = parse(tool.arguments, given)
        tell: Tell | None = context.session.report_progress if context.meta else None

        return await self._run(asked, lambda call: tool.run(call, arguments), tell)

    async def _run(self, asked: str, work: Callable[[Call], T], tell: Tell | None = None) -> T:
        def run(call: Call) -> T:
            return in_workspace(asked, call, work)

        return await self._threads.run(run, Call(self._corpus, self._others), tell)

    async def _read(self, asked: str, work: Callable[[Call], T]) -> T:
        """What ``work`` gives, its errors as errors of the protocol: a resource has no other place for them."""
        try:
            with self._activity.answering():
                return await self._run(asked, work)
        except EverfindError as error:
            raise _protocol_error(error) from None
        except Exception as error:  # likewise
            _log.exception("reading a resource failed")
            raise MCPError(
                code=types.INTERNAL_ERROR,
                message=f"a fault of everfind ({type(error).__name__}); the server's log has the details",
            ) from None

    def _described(self, tool: Tool) -> types.Tool:
        return types.Tool(
            name=tool.name,
            title=tool.title,
            description=tool.description,
            input_schema=self._schemas[tool.name],
            output_schema=output_schema(tool.output),
            annotations=types.ToolAnnotations(
                title=tool.title,
                read_only_hint=tool.read_only,
                destructive_hint=False,
                idempotent_hint=True,
                open_world_hint=False,
            ),
        )


def _succeeded(result: Result) -> types.CallToolResult:
    text, structured = result.text, result.structured
    try:
        text.encode()
        json.dumps(structured, ensure_ascii=False).encode()
    except UnicodeEncodeError:  # the protocol has no form for lone surrogates; they must not end the connection
        text = text.encode("utf-8", "replace").decode()
        structured = parse_json(json.dumps(structured, ensure_ascii=False).encode("utf-8", "replace"))
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], structured_content=structured)


def _failed(message: str) -> types.CallToolResult:
    text = message.encode("utf-8", "replace").decode()
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=True)


def _protocol_error(error: EverfindError) -> MCPError:
    absent = error.kind in (ErrorKind.USAGE, ErrorKind.NOT_FOUND)
    return MCPError(code=types.INVALID_PARAMS if absent else types.INTERNAL_ERROR, message=sentence(error))
