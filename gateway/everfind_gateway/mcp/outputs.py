"""The shapes of the tools' structured results, for their output schemas: the objects of docs/json.md."""

from __future__ import annotations

from typing import Any, NotRequired

from pydantic import ConfigDict, TypeAdapter, with_config
from typing_extensions import TypedDict

_OPEN = ConfigDict(extra="allow")
"""New keys may be added to any of these objects."""


@with_config(_OPEN)
class Coverage(TypedDict):
    """What was searched: searchable files and chunks, what was left out by reason, and files that wait."""

    files: int
    chunks: int
    skipped: dict[str, int]
    pending: int


@with_config(_OPEN)
class Provenance(TypedDict):
    """Why a hit is there."""

    label: str
    semantic: dict[str, float] | None
    lexical: dict[str, float] | None


@with_config(_OPEN)
class Hit(TypedDict):
    """A chunk of a file: lines from 1, both ends included."""

    folder: str
    path: str
    absolute_path: str
    start_line: int
    end_line: int
    score: float
    provenance: Provenance
    symbol: str
    kind: str
    language: str
    heading: str
    status: str
    text: str


@with_config(_OPEN)
class FurtherFile(TypedDict):
    """A file of further hits, by its best place."""

    folder: str
    path: str
    start_line: int
    end_line: int
    symbol: str
    heading: str


@with_config(_OPEN)
class SearchOutput(TypedDict):
    """The answer of a search; `next_cursor` is there when there are more hits, `further` names files of those."""

    query: str
    generation: int
    hits: list[Hit]
    abstained: dict[str, float] | None
    coverage: Coverage
    next_cursor: NotRequired[str]
    left_out: NotRequired[int]
    further: NotRequired[list[FurtherFile]]
    warnings: NotRequired[list[str]]
    parts: NotRequired[list[str]]
    intents: NotRequired[list[str]]
    unmatched: NotRequired[str]


@with_config(_OPEN)
class Passage(TypedDict):
    """A hit with its surroundings; `changed`: the file is not the indexed version, so the stored text is given."""

    folder: str
    path: str
    start_line: int
    end_line: int
    text: str
    changed: bool
    extracted_from: str | None


@with_config(_OPEN)
class GatherOutput(TypedDict):
    """A search's answer, its passages, and both as one Markdown block."""

    answer: SearchOutput
    passages: list[Passage]
    markdown: str


@with_config(_OPEN)
class Related(TypedDict):
    """A related chunk: how, how sure from 0 to 1, in which line (0: none), and the symbol that calls or is called."""

    relation: str
    confidence: float
    line: int
    symbol: str
    hit: Hit


@with_config(_OPEN)
class RelatedOutput(TypedDict):
    """What is related to the targets; several targets mean that the symbol is ambiguous."""

    generation: int
    targets: list[Hit]
    related: list[Related]
    coverage: Coverage
    next_cursor: NotRequired[str]
    left_out: NotRequired[int]
    warnings: NotRequired[list[str]]


@with_config(_OPEN)
class ListedFolder(TypedDict):
    """An added folder; `usable` says whether its directory can be read now."""

    name: str
    path: str
    include: list[str]
    usable: bool


@with_config(_OPEN)
class FoldersOutput(TypedDict):
    """The added folders."""

    display_name: str
    folders: list[ListedFolder]


@with_config(_OPEN)
class ListedFile(TypedDict):
    """A file that the index holds; `size` in bytes, `modified` in seconds since the epoch, 0 if that is not known."""

    folder: str
    path: str
    size: int
    modified: float
    chunks: int
    tokens: int
    redactions: int


@with_config(_OPEN)
class FilesOutput(TypedDict):
    """A page of the files that the index holds, by folder and path; `next_cursor` is there when more follow."""

    files: list[ListedFile]
    next_cursor: NotRequired[str]


@with_config(_OPEN)
class FileOutput(TypedDict):
    """Lines of a file, secrets masked; `indexed` says whether the index holds this version of it.

    `extracted_from` names the format where the lines are those of extracted text (PDF, DOCX …).
    """

    folder: str
    path: str
    absolute_path: str
    start_line: int
    end_line: int
    total_lines: int
    text: str
    truncated: bool
    indexed: bool
    redactions: int
    extracted_from: str | None


@with_config(_OPEN)
class GrepMatch(TypedDict):
    """A matching line, of the text extracted from a document where `extracted_from` names its format."""

    folder: str
    path: str
    absolute_path: str
    line: int
    text: str
    page: int | None
    extracted_from: str | None


@with_config(_OPEN)
class GrepOutput(TypedDict):
    """Matching lines; `truncated` says why they are not all, null if they are."""

    matches: list[GrepMatch]
    files_searched: int
    truncated: str | None


@with_config(_OPEN)
class SkippedFile(TypedDict):
    """Something left out, and why."""

    folder: str
    path: str
    reason: str
    message: str


@with_config(_OPEN)
class IndexedFiles(TypedDict):
    """Files of a run, by what became of them."""

    indexed: int
    unchanged: int
    deleted: int
    skipped: dict[str, int]


@with_config(_OPEN)
class IndexOutput(TypedDict):
    """What a run did."""

    files: IndexedFiles
    chunks: dict[str, int]
    tokens: int
    seconds: dict[str, float]
    errors: list[SkippedFile]


@with_config(_OPEN)
class FolderStatus(TypedDict):
    """One folder's coverage."""

    name: str
    path: str
    include: list[str]
    usable: bool
    watched: bool
    added: bool
    coverage: Coverage
    redactions: int


@with_config(_OPEN)
class StatusOutput(TypedDict):
    """What the index holds."""

    index_dir: str
    generation: int
    indexed_at: float | None
    folders: list[FolderStatus]
    coverage: Coverage
    model: dict[str, Any] | None
    vector_type: str | None
    disk_bytes: int
    redactions: int
    writer: str | None
    findings: list[dict[str, str]]
    outgoing: list[str]
    floor: dict[str, Any] | None
    workspace: str
    open_workspaces: list[dict[str, Any]]
    skipped_files: NotRequired[list[SkippedFile]]


def output_schema(shape: Any) -> dict[str, Any]:
    """The JSON schema of a result, with its parts in place of references."""
    schema = TypeAdapter(shape).json_schema()
    parts = schema.pop("$defs", {})
    inlined = _inlined(schema, parts)
    assert isinstance(inlined, dict)
    return inlined


def _inlined(value: Any, parts: dict[str, Any]) -> Any:
    if isinstance(value, list):
        return [_inlined(one, parts) for one in value]
    if not isinstance(value, dict):
        return value
    if "$ref" in value:
        return _inlined(parts[value["$ref"].removeprefix("#/$defs/")], parts)
    return {key: _inlined(one, parts) for key, one in value.items() if key != "title" or not isinstance(one, str)}
