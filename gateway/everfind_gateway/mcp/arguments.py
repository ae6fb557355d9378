"""What the tools take: one model a tool, its JSON schema, and a sentence for arguments that are wrong."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, TypeAlias, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from everfind_core.errors import InvalidRequestError
from everfind_core.files.parsed_json import parse_json
from everfind_gateway.violations import refusal, violation

MAX_QUERY = 10_000
MAX_VALUES = 50
MAX_VALUE = 4_096
MAX_TOKENS = 100_000
MAX_CURSOR = 20_000
"""Of a list of files: a cursor holds the path of one, however long."""


class Arguments(BaseModel):
    """The arguments of a tool. Unknown ones are refused; null means left out."""

    model_config = ConfigDict(extra="forbid", frozen=True)


A = TypeVar("A", bound=Arguments)


def _as_list(value: Any) -> Any:
    """A list, also where a model sends its only element, or the list as JSON text."""
    if not isinstance(value, str):
        return value
    if value.lstrip().startswith("["):
        try:
            return parse_json(value)
        except ValueError:
            return [value]
    return [value] if value else []


def _without_nul(value: str) -> str:
    if "\0" in value:
        raise ValueError("it holds NUL, which no name has")
    return value


Name: TypeAlias = Annotated[str, Field(min_length=1, max_length=MAX_VALUE), AfterValidator(_without_nul)]
Texts: TypeAlias = Annotated[
    list[Name],
    BeforeValidator(_as_list),
    Field(max_length=MAX_VALUES),
]
Query: TypeAlias = Annotated[
    str,
    Field(
        min_length=1,
        max_length=MAX_QUERY,
        description="What you are looking for, in a sentence or as an identifier: `where are expired tokens renewed`, "
        "`refresh_token`, `ERR_TOKEN_EXPIRED`.",
    ),
]
Folders: TypeAlias = Annotated[
    Texts, Field(description="Only these folders, by name or absolute path, as list_folders gives them.")
]
Mode: TypeAlias = Annotated[
    Literal["hybrid", "semantic", "lexical"],
    Field(
        description="hybrid (by meaning and by words; best nearly always), semantic (meaning only) or lexical (words "
        "only). Left out: the user's setting, hybrid unless changed."
    ),
]


class SearchArguments(Arguments):
    """Arguments of `search`."""

    query: Query
    limit: Annotated[int, Field(ge=1, le=50, description="How many hits a page.")] = 6
    folders: Folders = []
    include: Annotated[
        Texts,
        Field(
            description="Only files whose path below the folder matches one of these gitignore-style globs: `*.py`, "
            "`src/**`. A plain word matches a whole path segment."
        ),
    ] = []
    exclude: Annotated[Texts, Field(description="Leave out files whose path matches one of these globs.")] = []
    languages: Annotated[
        Texts, Field(description="Only these languages, in lower case: `python`, `go`, `markdown`.")
    ] = []
    kinds: Annotated[Texts, Field(description="Only chunks of these kinds: `function`, `class`, `method`.")] = []
    statuses: Annotated[
        Texts, Field(description="Only documents of these statuses: `accepted`, `draft`, `superseded`.")
    ] = []
    since: Annotated[str, Field(max_length=10, description="Only documents dated this day or later: `2026-03-01`.")] = (
        ""
    )
    before: Annotated[str, Field(max_length=10, description="Only documents dated before this day.")] = ""
    mode: Mode = "hybrid"
    include_hidden: Annotated[
        bool,
        Field(description="Also what the user's default excludes or a document's status (superseded …) hide."),
    ] = False
    graph: Annotated[
        bool,
        Field(description="After the hits, also what calls the first of them or is called by them: half as many more."),
    ] = False
    rerank: Annotated[
        bool,
        Field(description="Put the best hits into the order of the user's reranker. Left out: the user's setting."),
    ] = False
    min_score: Annotated[
        float,
        Field(
            ge=-1,
            le=1,
            description="Only hits whose cosine reaches this, and exact matches; -1 shows even what is surely noise. "
            "Left out: an answer with too little evidence is empty and says so.",
        ),
    ] = 0.0
    max_tokens: Annotated[
        int,
        Field(
            ge=0,
            le=MAX_TOKENS,
            description="The whole text of the answer fits this many tokens: the best hits that do; 0: no limit.",
        ),
    ] = 4_000
    further: Annotated[
        int,
        Field(ge=0, le=100, description="After the hits, name so many further files at most, each by its best place."),
    ] = 20
    cursor: Annotated[
        str,
        Field(max_length=1_000, description="`next_cursor` of the page before, with the same other arguments."),
    ] = ""


class GatherArguments(SearchArguments):
    """Arguments of `gather`."""

    limit: Annotated[int, Field(ge=1, le=50, description="How many passages.")] = 5
    context_lines: Annotated[int, Field(ge=0, le=200, description="Lines of the file before and after each hit.")] = 5


class RelatedArguments(Arguments):
    """Arguments of `related`."""

    target: Annotated[
        Name,
        Field(
            description="A symbol, qualified or not (`refresh`, `Session.refresh`), or a place as a hit shows it, "
            "`FOLDER/PATH:LINE`, which means the definition around that line."
        ),
    ]
    relations: Annotated[
        list[Literal["caller", "callee", "reference", "similar"]],
        BeforeValidator(_as_list),
        Field(
            max_length=4,
            description="Which to follow: caller (what calls it), callee (what it calls), reference (what names it "
            "without a call: subclasses, annotations, callbacks), similar (what is like it). Left out: all.",
        ),
    ] = []
    limit: Annotated[int, Field(ge=1, le=50, description="How many related definitions a page.")] = 10
    folders: Folders = []
    include: Annotated[Texts, Field(description="Only files whose path matches one of these globs.")] = []
    exclude: Annotated[Texts, Field(description="Leave out files whose path matches one of these globs.")] = []
    cursor: Annotated[
        str,
        Field(max_length=1_000, description="`next_cursor` of the page before, with the same other arguments."),
    ] = ""


class NoArguments(Arguments):
    """Arguments of tools that take none."""


class ListFilesArguments(Arguments):
    """Arguments of `list_files`."""

    folders: Folders = []
    include: Annotated[
        Texts,
        Field(
            description="Only files whose path below the folder matches one of these globs: `docs/**`, `*.proto`. The "
            "folder's name is no part of that path."
        ),
    ] = []
    limit: Annotated[int, Field(ge=1, le=1_000, description="How many files a page.")] = 200
    cursor: Annotated[
        str,
        Field(max_length=MAX_CURSOR, description="`next_cursor` of the page before, with the same other arguments."),
    ] = ""


class CatFileArguments(Arguments):
    """Arguments of `cat_file`."""

    path: Annotated[Name, Field(description="The file as a hit shows it, `FOLDER/PATH`, or its absolute path.")]
    start_line: Annotated[int, Field(ge=1, description="First line, from 1.")] = 1
    end_line: Annotated[int, Field(ge=0, description="Last line, included; 0 is the end of the file.")] = 0


class GrepArguments(Arguments):
    """Arguments of `grep`."""

    pattern: Annotated[
        str, Field(min_length=1, max_length=1_000, description="What stands on the line: plain text unless regex.")
    ]
    regex: Annotated[bool, Field(description="The pattern is a regular expression in RE2 syntax.")] = False
    case_sensitive: Annotated[bool, Field(description="Upper and lower case differ.")] = True
    folders: Folders = []
    globs: Annotated[
        Texts, Field(description="Only files whose path below the folder matches one of these globs: `*.py`, `src/**`.")
    ] = []
    max_results: Annotated[int, Field(ge=1, le=1_000, description="Stop after this many matching lines.")] = 50
    seconds: Annotated[float, Field(gt=0, le=60, description="Stop after this time, with what was found.")] = 10.0


class IndexArguments(Arguments):
    """Arguments of `index`."""

    paths: Annotated[
        Texts,
        Field(description="Names of folders, or absolute paths in one. Left out: all folders."),
    ] = []
    force: Annotated[bool, Field(description="Process unchanged files, too. Rarely needed.")] = False
    max_files: Annotated[int, Field(ge=0, le=10_000_000, description="Stop after so many changed files; 0: none.")] = 0


class StatusArguments(Arguments):
    """Arguments of `status`."""

    skipped_files: Annotated[bool, Field(description="List what was left out, each with its reason.")] = False
    max_skipped: Annotated[int, Field(ge=1, le=10_000, description="Length of that list at most.")] = 100


class SearchNotesArguments(Arguments):
    """Arguments of `search_notes`, with the names that its users know."""

    query: Query
    exclude: Annotated[Texts, Field(description="Leave out paths with one of these segments or globs.")] = []
    searchAll: Annotated[  # noqa: N815 - the alias keeps its argument names
        bool,
        Field(description="Also what is left out by default: excluded folders, superseded documents."),
    ] = False


class CodebaseSearchArguments(Arguments):
    """Arguments of `codebase_search`, with the names that its users know."""

    information_request: Annotated[
        str, Field(min_length=1, max_length=MAX_QUERY, description="What to find, in natural language.")
    ]
    directory_path: Annotated[Name, Field(description="Absolute path of the code base, or a part of it.")]


WORKSPACE = "workspace"
"""The argument of every tool of a server that answers from several workspaces."""

_SHOWN_WORKSPACES = 20
_WORKSPACE = (
    "The workspace to ask: an absolute directory in it, such as that of the project you work on, or its name. "
    "Left out: the server's own."
)


def split_workspace(given: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The workspace that a call asks for, empty for the server's own, and its other arguments.

    Raises:
        InvalidRequestError: it is no text.
    """
    rest = dict(given)
    asked = rest.pop(WORKSPACE, None) or ""
    if not isinstance(asked, str) or len(asked) > MAX_VALUE:
        raise InvalidRequestError.of(WORKSPACE, f"it needs a name or a directory of at most {MAX_VALUE} characters")
    return asked, rest


def input_schema(model: type[Arguments], *, workspaces: Sequence[str] | None = None) -> dict[str, Any]:
    """The JSON schema of a tool's arguments: one flat object, without references, unions or titles.

    On a server of several ``workspaces`` it has one argument more, for the one that is meant; it names those known.
    """
    schema = model.model_json_schema()
    properties = schema.get("properties", {})
    for name, described in properties.items():
        described.pop("title", None)
        if name in ("mode", "rerank"):
            described.pop("default", None)
    required = {"required": schema["required"]} if "required" in schema else {}
    if workspaces is not None:
        properties[WORKSPACE] = {
            "type": "string",
            "default": "",
            "maxLength": MAX_VALUE,
            "description": _WORKSPACE + _known(workspaces),
        }
    return {"type": "object", "properties": properties, **required, "additionalProperties": False}


def _known(workspaces: Sequence[str]) -> str:
    if not workspaces:
        return ""
    more = len(workspaces) - _SHOWN_WORKSPACES
    return (
        f" Some that are there: {', '.join(workspaces[:_SHOWN_WORKSPACES])}{f' and {more:,} more' if more > 0 else ''}."
    )


def parse(model: type[A], given: Mapping[str, Any]) -> A:
    """The arguments in ``given``; ``contextLines`` is taken for ``context_lines``, null for left out.

    Raises:
        InvalidRequestError: an argument is missing, unknown or out of range; the message names each.
    """
    known = model.model_fields
    values = {}
    for name, value in given.items():
        snake = re.sub(r"(?<=[a-z0-9])[A-Z]", lambda match: f"_{match.group().lower()}", name)
        use = snake if name not in known and snake in known and snake not in given else name
        if value is not None or use not in known:
            values[use] = value
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise refusal([violation(one, list(known)) for one in error.errors(include_url=False)]) from None
