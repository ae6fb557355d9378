"""`grep` and `cat`: the indexable files themselves."""

from __future__ import annotations

import re
from itertools import repeat
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from everfind_core.errors import InvalidRequestError
from everfind_core.text.numbers import count
from everfind_gateway.cli import runtime
from everfind_gateway.cli.options import Folders, Include, Json
from everfind_gateway.render.streams import emit, emit_json, for_stdout, harmless, note

if TYPE_CHECKING:
    from everfind_core.model import FileText, GrepAnswer, GrepMatch

_LINES = re.compile(r"(\d+)(?:-(\d*))?")


Pattern: TypeAlias = Annotated[
    str,
    typer.Argument(metavar="PATTERN", help="What to look for, literally. One that starts with a dash goes after `--`."),
]


def grep(
    context: typer.Context,
    pattern: Pattern,
    *,
    regex: Annotated[bool, typer.Option("--regex", "-E", help="The pattern is a regular expression.")] = False,
    ignore_case: Annotated[
        bool, typer.Option("--ignore-case", "-i", help="Upper and lower case are the same.")
    ] = False,
    folder: Folders = None,
    include: Include = None,
    max_results: Annotated[
        int, typer.Option("--max-results", "-m", metavar="N", min=1, max=10_000, help="Stop after N matches.")
    ] = 100,
    as_json: Json = False,
) -> None:
    """Search the indexable files line by line.

    Exactly the files that `index` would take; secrets stay masked.
    """
    from everfind_core.answers.json_form import grep_json
    from everfind_gateway.target_requests import grep_request

    settings = runtime.runtime_of(context).settings()
    request = grep_request(
        settings,
        pattern,
        regex=regex,
        ignore_case=ignore_case,
        folders=folder or (),
        include=include or (),
        max_results=max_results,
    )
    with runtime.open_workspace(settings) as workspace, runtime.cancelled_by_signals() as cancel:
        answer = workspace.indexer.grep(request, cancel=cancel)
    if as_json:
        emit_json(grep_json(answer))
    else:
        _show_matches(answer)


def _show_matches(answer: GrepAnswer) -> None:
    """``FOLDER/PATH:LINE:TEXT`` on stdout, the rest on stderr."""
    from everfind_gateway.render.links import terminal_links

    if answer.matches:
        emit("\n".join(map(_match_line, answer.matches, repeat(terminal_links()))))
        if any(m.extracted_from for m in answer.matches):
            note("lines of documents are those of the text extracted from them")
    elif answer.files_searched:
        note(f"no match in {count(answer.files_searched, 'file')}")
    else:
        note("no match: no file is searched; `everfind list --files` shows which ones there are")
    if answer.truncated:
        note(f"not all matches: {answer.truncated}")


def _match_line(match: GrepMatch, clickable: bool) -> str:
    from everfind_gateway.render.hits import location
    from everfind_gateway.render.links import linked

    place = f"{location(match.ref.folder, match.ref.path)}:{match.line}"
    return f"{linked(place, match.absolute_path, match.line) if clickable else place}:{harmless(match.text)}"


File: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="FOLDER/PATH as a search prints it (its :LINE may stay), or a path of an indexable file.",
    ),
]
Lines: TypeAlias = Annotated[
    str, typer.Option("--lines", metavar="START[-END]", help="Only these lines.", show_default=False)
]


def cat(context: typer.Context, file: File, *, lines: Lines = "", as_json: Json = False) -> None:
    """Print an indexable file, or lines of it.

    Secrets stay masked. Files that `index` would not take are refused.
    """
    from everfind_core.answers.json_form import file_json
    from everfind_gateway.reading import read_lines
    from everfind_gateway.requests import added_folders

    start, end = _line_range(lines) if lines else (0, 0)
    settings = runtime.runtime_of(context).settings()
    folders = added_folders(settings)
    with runtime.open_workspace(settings) as workspace:
        text = read_lines(workspace.indexer, folders, file, start, end)
    if as_json:
        emit_json(file_json(text))
    else:
        _show_text(text)


def _show_text(text: FileText) -> None:
    """The lines on stdout, the rest on stderr."""
    if text.text:
        emit(for_stdout(text.text))
    elif text.start_line > max(1, text.total_lines):
        note(f"the file has {count(text.total_lines, 'line')}; there is no line {text.start_line:,}")
    if text.extracted_from:
        note(f"this is the text extracted from a file of format {text.extracted_from}")
    if text.truncated:
        note(f"cut after line {text.end_line:,} of {text.total_lines:,}; --lines shows the rest")


def _line_range(given: str) -> tuple[int, int]:
    """``42`` is from line 42 to the end, ``42-60`` both included, ``42-`` as ``42``."""
    match = _LINES.fullmatch(given)
    if match is None or len(given) > 20:
        raise InvalidRequestError.of("lines", f"{given!r} is not START or START-END", hint="Such as --lines 10-20.")
    start, end = int(match.group(1)), int(match.group(2) or 0)
    if start < 1 or (end and end < start):
        raise InvalidRequestError.of("lines", f"{given!r} is no range", hint="Lines count from 1: --lines 10-20.")
    return start, end
