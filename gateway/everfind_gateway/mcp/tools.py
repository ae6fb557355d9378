"""The tools that read: each turns its arguments into a request of a port, and the answer into a result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from everfind_core.answers.json_form import (
    Json,
    file_json,
    folder_json,
    gather_json,
    grep_json,
    indexed_file_json,
    related_json,
    search_json,
    status_json,
)
from everfind_core.answers.text_form import gather_text, search_text
from everfind_core.errors import EverfindError, FileNotIndexableError, FolderNotFoundError, InvalidRequestError
from everfind_core.model import (
    FileText,
    Folder,
    GatherRequest,
    GrepRequest,
    ReadFileRequest,
    Relation,
    SearchMode,
    SearchRequest,
)
from everfind_gateway.config.folders import find_folder
from everfind_gateway.config.settings import Settings
from everfind_gateway.listing import indexed_files
from everfind_gateway.mcp import arguments as args
from everfind_gateway.mcp import file_cursor, outputs, text
from everfind_gateway.mcp.calls import Call, Result
from everfind_gateway.places import place_in
from everfind_gateway.requests import SearchOptions, added_folders, search_request, searchable_folders
from everfind_gateway.target_requests import file_reference, related_request

WHOLE_FILE_LINES = 400
RANGE_LINES = 2_000
FILE_CHARACTERS = 60_000


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool: how it shows to a model, what it takes and gives, and what it does."""

    name: str
    title: str
    description: str
    arguments: type[args.Arguments]
    output: Any
    run: Callable[[Call, Any], Result]
    read_only: bool = True


def search(call: Call, given: args.SearchArguments) -> Result:
    """Answer `search`."""
    with call.corpus.call() as opened:
        answer = opened.workspace.searcher.search(_request(opened.settings, given), cancel=call.cancel)
    return Result(search_json(answer), search_text(answer))


def gather(call: Call, given: args.GatherArguments) -> Result:
    """Answer `gather`."""
    with call.corpus.call() as opened:
        request = GatherRequest(_request(opened.settings, given), given.context_lines)
        answer = opened.workspace.searcher.gather(request, cancel=call.cancel)
    return Result(gather_json(answer), gather_text(answer))


def related(call: Call, given: args.RelatedArguments) -> Result:
    """Answer `related`."""
    with call.corpus.call() as opened:
        options = SearchOptions(include=given.include, exclude=given.exclude)
        request = related_request(opened.settings, given.target, map(Relation, given.relations), options)
        folders = folder_names(searchable_folders(opened.settings), given.folders) if given.folders else ()
        request = replace(
            request, filters=replace(request.filters, folders=folders), limit=given.limit, cursor=given.cursor
        )
        answer = opened.workspace.searcher.related(request, cancel=call.cancel)
    return Result(related_json(answer), text.related_text(answer))


def list_folders(call: Call, _given: args.NoArguments) -> Result:
    """Answer `list_folders`."""
    with call.corpus.call() as opened:
        found = opened.workspace.indexer.status()
        folders = [(one.folder, one.usable) for one in found.folders if one.added]
        listed = [{**folder_json(folder), "usable": usable} for folder, usable in folders]
        return Result({"display_name": opened.settings.display_name, "folders": listed}, text.folders_text(folders))


def list_files(call: Call, given: args.ListFilesArguments) -> Result:
    """Answer `list_files`."""
    with call.corpus.call() as opened:
        known = searchable_folders(opened.settings) if given.folders else ()
        files, more = indexed_files(
            opened.settings,
            opened.workspace.indexer,
            folders=folder_names(known, given.folders),
            include=given.include,
            after=file_cursor.decoded(given.cursor),
            limit=given.limit,
        )
    following = file_cursor.encoded(files[-1].ref) if more else ""
    form: Json = {"files": [indexed_file_json(file) for file in files]}
    if following:
        form["next_cursor"] = following
    return Result(form, text.files_text(files, following, include=given.include))


def cat_file(call: Call, given: args.CatFileArguments) -> Result:
    """Answer `cat_file`."""
    if given.end_line and given.end_line < given.start_line:
        raise InvalidRequestError.of("end_line", f"{given.end_line} is before start_line {given.start_line}")
    with call.corpus.call() as opened:

        def read(path: str, start: int, end: int) -> FileText:
            most = start + (WHOLE_FILE_LINES if start == 1 and not end else RANGE_LINES) - 1
            file = file_reference(added_folders(opened.settings), path)
            request = ReadFileRequest(file.folder, file.path, start, min(end, most) if end else most)
            return bounded(opened.workspace.indexer.read_file(request), end)

        try:
            found = read(given.path, given.start_line, given.end_line)
        except (FileNotIndexableError, InvalidRequestError):
            place = place_in(given.path)
            if place is None or given.start_line > 1 or given.end_line:
                raise
            found = read(place.path, max(1, place.start), place.end)
    return Result(file_json(found), text.file_text(found))


def grep(call: Call, given: args.GrepArguments) -> Result:
    """Answer `grep`."""
    with call.corpus.call() as opened:
        request = GrepRequest(
            pattern=given.pattern,
            regex=given.regex,
            case_sensitive=given.case_sensitive,
            folders=folder_names(added_folders(opened.settings), given.folders) if given.folders else (),
            globs=tuple(given.globs),
            max_results=given.max_results,
            seconds=given.seconds,
        )
        answer = opened.workspace.indexer.grep(request, cancel=call.cancel)
    return Result(grep_json(answer), text.grep_text(answer))


def status(call: Call, given: args.StatusArguments) -> Result:
    """Answer `status`."""
    with call.corpus.call() as opened:
        found = opened.workspace.indexer.status(skipped_files=given.skipped_files)
        name = opened.settings.display_name
    if call.others is not None:
        found = replace(found, findings=(*found.findings, *call.others.findings()))
    more = max(0, len(found.skipped_files) - given.max_skipped)
    found = replace(found, skipped_files=found.skipped_files[: given.max_skipped])
    form: Json = status_json(found, skipped_files=given.skipped_files)
    if more:
        form["skipped_files_left_out"] = more
    shown = text.coverage_text(found, name=name, skipped_files=given.skipped_files, skipped_left_out=more)
    return Result(form, shown)


def folder_names(folders: Sequence[Folder], given: Sequence[str]) -> tuple[str, ...]:
    """The names of the folders that a caller means by name or path.

    Raises:
        InvalidRequestError: one is none; the message has the names there are.
    """
    try:
        return tuple(dict.fromkeys(find_folder(folders, one).name for one in given))
    except FolderNotFoundError as error:
        names = ", ".join(folder.name for folder in folders) or "none yet"
        raise InvalidRequestError.of("folders", f"{error.message}; the folders are: {names}") from None


def bounded(found: FileText, wanted_end: int) -> FileText:
    """As many whole lines as :data:`FILE_CHARACTERS` allow, at least one; ``truncated`` if that is not all wanted."""
    if len(found.text) > FILE_CHARACTERS:
        cut = found.text.rfind("\n", 0, FILE_CHARACTERS + 1)
        kept = found.text[: cut if cut > 0 else FILE_CHARACTERS]
        last = found.start_line + kept.count("\n")
        return replace(found, text=kept, end_line=last, truncated=True)
    last = min(wanted_end or found.total_lines, found.total_lines)
    return replace(found, truncated=found.truncated or found.start_line <= found.end_line < last)


def _request(settings: Settings, given: args.SearchArguments) -> SearchRequest:
    options = SearchOptions(
        include=given.include,
        exclude=given.exclude,
        languages=given.languages,
        kinds=given.kinds,
        statuses=given.statuses,
        since=given.since,
        before=given.before,
        everything=given.include_hidden,
        rerank=given.rerank if "rerank" in given.model_fields_set else None,
        min_score=given.min_score if "min_score" in given.model_fields_set else None,
    )
    request = search_request(settings, given.query, options)
    folders = folder_names(searchable_folders(settings), given.folders) if given.folders else ()
    return replace(
        request,
        filters=replace(request.filters, folders=folders),
        limit=given.limit,
        mode=SearchMode(given.mode) if "mode" in given.model_fields_set else request.mode,
        graph_hops=int(given.graph),
        max_tokens=given.max_tokens,
        further=given.further,
        cursor=given.cursor,
    )


READING_TOOLS = (
    Tool(
        "search",
        "Search by meaning",
        "Find the passages of the user's indexed folders (code and documents) that a question is about, best first, by "
        "meaning and by exact words at once. Use it first whenever you do not know the exact file or wording: it finds "
        "`where are expired tokens renewed` as well as `ERR_TOKEN_EXPIRED`. Each hit has its file, lines and text, and "
        "why it is there; read on with cat_file, or get hits with surrounding lines from gather. No hits mean that "
        "nothing relevant is indexed: the answer says what was searched and what was left out.",
        args.SearchArguments,
        outputs.SearchOutput,
        search,
    ),
    Tool(
        "gather",
        "Gather context",
        "Like search, but as one Markdown block ready to answer from: each hit under a heading with its place, and "
        "context_lines of its file around it. Use it when you need to read the found code or text, not only locate it. "
        "A passage whose file changed since it was indexed says so.",
        args.GatherArguments,
        outputs.GatherOutput,
        gather,
    ),
    Tool(
        "related",
        "Callers and callees",
        "What belongs to a function, class or line of code: what calls it, what it calls, what refers to it, and what "
        "is like it. Use it to follow code from a hit, or to see what a change would touch. Calls are resolved by "
        "name, imports and declared types, not by a compiler: each has a confidence from 0 to 1, and equal names share "
        "it. For every line with a name use grep.",
        args.RelatedArguments,
        outputs.RelatedOutput,
        related,
    ),
    Tool(
        "list_folders",
        "List folders",
        "The folders that are searched, by name and absolute path. Use it to learn what there is, or the names that "
        "other tools take in `folders`.",
        args.NoArguments,
        outputs.FoldersOutput,
        list_folders,
    ),
    Tool(
        "list_files",
        "List files",
        "The files that the index holds, by folder and path, each with what reading it costs in tokens. Use it to see "
        "what there is below a directory (`include`: `docs/**`) or of one kind (`*.proto`), and whether a file is "
        "indexed at all. To find the file that a question is about use search: that needs no list.",
        args.ListFilesArguments,
        outputs.FilesOutput,
        list_files,
    ),
    Tool(
        "cat_file",
        "Read a file",
        f"Read a file of the indexed folders, or lines of it, secrets masked. Without a range it gives the first "
        f"{WHOLE_FILE_LINES} lines, with one at most {RANGE_LINES:,}, and says where to continue. Only files that the "
        "index would take can be read.",
        args.CatFileArguments,
        outputs.FileOutput,
        cat_file,
    ),
    Tool(
        "grep",
        "Search lines",
        "Every line with a text or regular expression, in exactly the files that the index takes, as they are on disk "
        "now. Use it for exhaustive lists (all uses of a name); use search for questions. Regular expressions are RE2: "
        "no look-around, no back-references, one line at a time.",
        args.GrepArguments,
        outputs.GrepOutput,
        grep,
    ),
    Tool(
        "status",
        "What is indexed",
        "What the index holds: files and chunks by folder, when it was made, what was left out and for which reason, "
        "and what is not up to date. Use it to judge whether an empty answer means that something does not exist.",
        args.StatusArguments,
        outputs.StatusOutput,
        status,
    ),
)


def sentence(error: EverfindError) -> str:
    """What went wrong and what to do, for a model to read, on one line."""
    message = " ".join(error.message.replace("filters.", "").split())
    hint = " ".join(error.hint.split())
    return f"{message}{'' if message.endswith('.') else '.'} {hint}".rstrip() if hint else message
