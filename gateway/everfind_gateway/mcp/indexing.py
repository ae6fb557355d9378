"""The tools that index: `index`, and the aliases that other search servers' users know."""

from __future__ import annotations

from everfind_core.answers.json_form import index_json, search_json
from everfind_core.answers.text_form import search_text
from everfind_gateway.mcp import arguments as args
from everfind_gateway.mcp import outputs, text
from everfind_gateway.mcp.allowing import allow
from everfind_gateway.mcp.calls import Call, Result
from everfind_gateway.mcp.codebase import CodebaseSearch
from everfind_gateway.mcp.runs import run
from everfind_gateway.mcp.tools import Tool
from everfind_gateway.requests import SearchOptions, search_request
from everfind_gateway.target_requests import index_requests


def index(call: Call, given: args.IndexArguments) -> Result:
    """Answer `index`."""
    allow(call.corpus, given.paths)
    with call.corpus.call() as opened:
        requests = index_requests(opened.settings, given.paths, force=given.force, max_files=given.max_files)
        report = run(opened, requests, call)
    return Result(index_json(report), text.index_text(report))


def search_notes(call: Call, given: args.SearchNotesArguments) -> Result:
    """Answer `search_notes`."""
    with call.corpus.call() as opened:
        options = SearchOptions(exclude=given.exclude, everything=given.searchAll)
        answer = opened.workspace.searcher.search(
            search_request(opened.settings, given.query, options), cancel=call.cancel
        )
    return Result(search_json(answer), search_text(answer))


INDEX_TOOL = Tool(
    "index",
    "Bring the index up to date",
    "Index what is new or changed in the folders, and forget what is gone; unchanged files cost next to nothing. Use "
    "it after files were changed, or when an answer says that files are not up to date. It reports progress and can be "
    "cancelled; what was done stays. A directory that is in no folder is refused, with the command that the user runs "
    "to add it.",
    args.IndexArguments,
    outputs.IndexOutput,
    index,
    read_only=False,
)


def aliases() -> tuple[Tool, ...]:
    """The tools of single-purpose servers, which `mcp_tools` can name."""
    return (
        Tool(
            "search_notes",
            "Search notes",
            "Find the passages of the user's documents that a question is about. `exclude` leaves out paths with these "
            "segments; `searchAll` brings back what is left out by default, such as superseded documents. Nothing "
            "found means that nothing relevant is indexed.",
            args.SearchNotesArguments,
            outputs.SearchOutput,
            search_notes,
        ),
        Tool(
            "codebase_search",
            "Search a code base",
            "Find the code of a directory that a request is about. The first call for a directory indexes it, with "
            "progress; later ones only what has changed. A large one answers by words first, and says how much of it "
            "can be found by meaning yet, while indexing goes on. A directory that the user has not allowed is "
            "refused, with the command that allows it.",
            args.CodebaseSearchArguments,
            outputs.SearchOutput,
            CodebaseSearch(),
            read_only=False,
        ),
    )
