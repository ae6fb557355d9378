"""`related`: what belongs to a symbol or a place."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import compress
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from everfind_gateway.cli import runtime
from everfind_gateway.cli.options import Folders, Include, Json, with_options
from everfind_gateway.cli.search import Exclude, Languages, Limit, Nth, Opening, open_hit, place_to_open
from everfind_gateway.render.streams import emit_json

if TYPE_CHECKING:
    from everfind_core.model import RelatedRequest
    from everfind_gateway.config.settings import Settings

Target: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="SYMBOL|PATH:LINE",
        help="A name, qualified or not (refresh, Session.refresh), or a line of a file as a search prints it.",
    ),
]
Callers: TypeAlias = Annotated[bool, typer.Option("--callers", help="What calls it.")]
Callees: TypeAlias = Annotated[bool, typer.Option("--callees", help="What it calls.")]
References: TypeAlias = Annotated[
    bool, typer.Option("--references", help="What names it without a call: subclasses, annotations, callbacks.")
]
Similar: TypeAlias = Annotated[bool, typer.Option("--similar", help="What is like it, by vectors.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class RelatedArguments:
    """Which relations, and of what."""

    callers: Callers = False
    callees: Callees = False
    references: References = False
    similar: Similar = False
    limit: Limit = None
    folder: Folders = None
    include: Include = None
    exclude: Exclude = None
    language: Languages = None


@with_options("asked", RelatedArguments)
def related(
    context: typer.Context,
    target: Target,
    *,
    asked: RelatedArguments,
    opening: Opening = False,
    nth: Nth = None,
    as_json: Json = False,
) -> None:
    """Find what calls a symbol, what it calls, what refers to it, and what is like it.

    All of that if no relation is chosen. Calls are resolved by name, so each has a confidence from 0 to 1.
    In a pipe each is one line: path:line, confidence, [relation], symbol and the line, separated by tabs.
    """
    from everfind_core.answers.json_form import related_json
    from everfind_gateway.render.related import line_of, show_related

    place = place_to_open(nth, opening=opening)
    settings = runtime.runtime_of(context).settings(limit=asked.limit)
    request = _request(settings, target, asked)
    with runtime.open_workspace(settings) as workspace, runtime.cancelled_by_signals() as cancel:
        answer = workspace.searcher.related(request, cancel=cancel)
    runtime.runtime_of(context).autostart(settings)
    if as_json:
        emit_json(related_json(answer))
    else:
        show_related(answer)
    if opening:
        lines = [line_of(related) for related in answer.related]
        open_hit([related.hit for related in answer.related], place, lines[place - 1] if place <= len(lines) else 0)


def _request(settings: Settings, target: str, asked: RelatedArguments) -> RelatedRequest:
    from everfind_core.model import Relation
    from everfind_gateway.requests import SearchOptions
    from everfind_gateway.target_requests import related_request

    relations = (Relation.CALLER, Relation.CALLEE, Relation.REFERENCE, Relation.SIMILAR)
    wanted = compress(relations, (asked.callers, asked.callees, asked.references, asked.similar))
    options = SearchOptions(
        folders=asked.folder or (),
        include=asked.include or (),
        exclude=asked.exclude or (),
        languages=asked.language or (),
    )
    return related_request(settings, target, list(wanted), options)
