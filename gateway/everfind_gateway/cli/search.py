"""`search` and `gather`: ask the index."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from everfind_core.errors import InvalidRequestError
from everfind_gateway.cli import runtime
from everfind_gateway.cli.options import Folders, Include, Json, ModeOption, with_options
from everfind_gateway.render.streams import emit, emit_json, for_stdout, note

if TYPE_CHECKING:
    from everfind_core.model import Hit, SearchAnswer, SearchRequest
    from everfind_gateway.config.settings import Settings

Query: TypeAlias = Annotated[
    list[str],
    typer.Argument(
        metavar="QUERY",
        help="The question, in words. One that starts with a dash goes after `--`.",
        show_default=False,
    ),
]
Limit: TypeAlias = Annotated[
    int | None, typer.Option("--limit", "-k", metavar="N", min=1, max=100, help="How many hits.")
]
Exclude: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--exclude", metavar="GLOB", help="Leave out files whose path matches. Repeatable."),
]
Languages: TypeAlias = Annotated[
    list[str] | None, typer.Option("--language", "-l", metavar="NAME", help="Only this language. Repeatable.")
]
Kinds: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--kind", metavar="KIND", help="Only chunks of this kind, such as function. Repeatable."),
]
Statuses: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--status", metavar="NAME", help="Only documents of this status, such as accepted. Repeatable."),
]
Since: TypeAlias = Annotated[
    str, typer.Option("--since", metavar="DATE", help="Only documents of this date or later, such as 2026-03-01.")
]
Before: TypeAlias = Annotated[str, typer.Option("--before", metavar="DATE", help="Only documents of an earlier date.")]
Wait: TypeAlias = Annotated[
    float | None,
    typer.Option(
        "--wait",
        metavar="SECONDS",
        min=0,
        max=600,
        help="Wait so long for changes to be indexed, where the folders are followed.",
    ),
]
Everything: TypeAlias = Annotated[
    bool, typer.Option("--all", help="Also what `default_exclude` or a document's status hides.")
]
MinScore: TypeAlias = Annotated[
    float | None,
    typer.Option(
        "--min-score", metavar="COSINE", min=-1, max=1, help="Only hits this near by meaning, or exact; -1: all."
    ),
]
RelativeCutoff: TypeAlias = Annotated[
    float | None,
    typer.Option(
        "--relative-cutoff", metavar="SHARE", min=0, max=1, help="Only hits with this share of the best one's cosine."
    ),
]
Graph: TypeAlias = Annotated[
    bool, typer.Option("--graph", help="After the hits, also what calls the first of them or is called by them.")
]
Rerank: TypeAlias = Annotated[
    bool | None,
    typer.Option("--rerank/--no-rerank", help="Put the best hits into the order of `reranker`.", show_default=False),
]
MaxTokens: TypeAlias = Annotated[
    int,
    typer.Option(
        "--max-tokens",
        metavar="N",
        min=0,
        help="Only the best hits that fit into an answer of N tokens of the model; 0: no limit.",
    ),
]
Further: TypeAlias = Annotated[
    int,
    typer.Option(
        "--further",
        metavar="N",
        min=0,
        max=100,
        help="After the hits, name N further files at most, each by its best place.",
    ),
]
Cursor: TypeAlias = Annotated[
    str,
    typer.Option(
        "--cursor",
        metavar="CURSOR",
        help="The page after the one whose --json gave this `next_cursor`.",
        show_default=False,
    ),
]
Explain: TypeAlias = Annotated[bool, typer.Option("--explain", help="Show what each hit's score is the sum of.")]
Opening: TypeAlias = Annotated[
    bool, typer.Option("--open", help="Then open the first hit in your editor (VISUAL, EDITOR), at its line.")
]
Nth: TypeAlias = Annotated[
    int | None,
    typer.Option("--nth", metavar="N", min=1, max=100, help="With --open: the Nth hit in place of the first."),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchArguments:
    """What both commands can be told besides the question."""

    limit: Limit = None
    mode: ModeOption = None
    folder: Folders = None
    include: Include = None
    exclude: Exclude = None
    language: Languages = None
    kind: Kinds = None
    status: Statuses = None
    since: Since = ""
    before: Before = ""
    everything: Everything = False
    graph: Graph = False
    rerank: Rerank = None
    min_score: MinScore = None
    relative_cutoff: RelativeCutoff = None
    wait: Wait = None
    max_tokens: MaxTokens = 0
    further: Further = 0


@with_options("asked", SearchArguments)
def search(
    context: typer.Context,
    query: Query,
    *,
    asked: SearchArguments,
    cursor: Cursor = "",
    explain: Explain = False,
    opening: Opening = False,
    nth: Nth = None,
    as_json: Json = False,
) -> None:
    """Find the chunks that a question is about, best first.

    What has a phrase that stands in quotation marks, word for word, comes first.
    In a pipe each hit is one line: path:line, score, [label], title and preview, separated by tabs.
    --explain adds a field.
    """
    place = place_to_open(nth, opening=opening)
    settings = runtime.runtime_of(context).settings(limit=asked.limit, mode=asked.mode, wait_seconds=asked.wait)
    request = _request(settings, query, asked, explain=explain, cursor=cursor)
    with runtime.open_workspace(settings) as workspace, runtime.cancelled_by_signals() as cancel:
        answer = workspace.searcher.search(request, cancel=cancel)
    if as_json:
        from everfind_core.answers.json_form import search_json

        emit_json(search_json(answer))
    else:
        from everfind_gateway.render.hits import show_answer

        show_answer(answer)
        note_left_out(answer, asked.max_tokens)
    runtime.runtime_of(context).autostart(settings)
    if opening:
        open_hit(answer.hits, place)


@with_options("asked", SearchArguments)
def gather(
    context: typer.Context,
    query: Query,
    *,
    asked: SearchArguments,
    context_lines: Annotated[
        int, typer.Option("--context-lines", "-C", metavar="N", min=0, max=200, help="Lines around each hit.")
    ] = 0,
    as_json: Json = False,
) -> None:
    """Like search, as one block of Markdown.

    It is ready for a context window: each hit under a heading with its place, and lines around it if wanted.
    """
    from everfind_core.answers.json_form import gather_json
    from everfind_core.answers.text_form import further_list
    from everfind_core.model import GatherRequest
    from everfind_gateway.render.hits import remarks

    settings = runtime.runtime_of(context).settings(limit=asked.limit, mode=asked.mode, wait_seconds=asked.wait)
    request = _request(settings, query, asked)
    with runtime.open_workspace(settings) as workspace, runtime.cancelled_by_signals() as cancel:
        answer = workspace.searcher.gather(GatherRequest(request, context_lines), cancel=cancel)
    runtime.runtime_of(context).autostart(settings)
    if as_json:
        emit_json(gather_json(answer))
        return
    if answer.passages:
        emit(for_stdout(answer.markdown))
    if answer.answer.further:
        emit(further_list(answer.answer.further))
    for remark in remarks(answer.answer):
        note(remark)
    note_left_out(answer.answer, asked.max_tokens)


def note_left_out(answer: SearchAnswer, max_tokens: int) -> None:
    """Say how many hits a budget left out."""
    from everfind_core.text.numbers import count

    if max_tokens and answer.hits and answer.left_out:
        note(f"{count(answer.left_out, 'more hit')} did not fit into --max-tokens or --limit")


def place_to_open(nth: int | None, *, opening: bool) -> int:
    """The place of the hit to open, from 1.

    Raises:
        InvalidRequestError: one is named, and none is to be opened.
    """
    if nth is not None and not opening:
        raise InvalidRequestError.of("nth", "nothing is to be opened", hint="Give --open, too.")
    return nth or 1


def open_hit(hits: Sequence[Hit], nth: int, line: int = 0) -> None:
    """Open the ``nth`` of ``hits`` (from 1) in the editor, at ``line`` or where it starts; nothing where none is.

    Raises:
        InvalidRequestError: there are fewer.
    """
    from everfind_gateway.editor import open_place

    if not hits:
        return
    if nth > len(hits):
        raise InvalidRequestError.of("nth", f"there are only {len(hits)} hits", hint="Ask for more with --limit.")
    open_place(hits[nth - 1].absolute_path, line or hits[nth - 1].start_line)


def _request(
    settings: Settings, query: list[str], asked: SearchArguments, *, explain: bool = False, cursor: str = ""
) -> SearchRequest:
    from everfind_gateway.requests import SearchOptions, search_request

    options = SearchOptions(
        folders=asked.folder or (),
        include=asked.include or (),
        exclude=asked.exclude or (),
        languages=asked.language or (),
        kinds=asked.kind or (),
        statuses=asked.status or (),
        since=asked.since,
        before=asked.before,
        everything=asked.everything,
        rerank=asked.rerank,
        min_score=asked.min_score,
        relative_cutoff=asked.relative_cutoff,
        graph=asked.graph,
        max_tokens=asked.max_tokens,
        further=asked.further,
        cursor=cursor,
        explain=explain,
    )
    return search_request(settings, " ".join(query), options)
