"""Every setting that a file, the environment or a flag can give: its type, default, limits and description."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import platformdirs
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    ValidationInfo,
    field_validator,
)
from pydantic.fields import FieldInfo
from pydantic_core import PydanticCustomError

from everfind_core.model import HIDDEN_STATUSES
from everfind_core.object_place import ObjectPlace, checked_directory

ENV_PREFIX = "EVERFIND_"

ToolName: TypeAlias = Literal[
    "search",
    "gather",
    "related",
    "list_folders",
    "cat_file",
    "grep",
    "index",
    "status",
    "search_notes",
    "codebase_search",
]
DEFAULT_TOOLS: tuple[ToolName, ...] = (
    "search",
    "gather",
    "related",
    "list_folders",
    "cat_file",
    "grep",
    "index",
    "status",
)


def _setting(
    default: Any,
    description: str,
    *,
    group: str,
    project: bool = False,
    shapes_answers: bool = False,
    shown_default: str = "",
    **limits: Any,
) -> Any:
    """A documented field. ``project``: a project's file may set it; ``shapes_answers``: it is part of the digest."""
    extra: dict[str, JsonValue] = {
        "group": group,
        "project": project,
        "shapes_answers": shapes_answers,
        "shown_default": shown_default,
    }
    made = {"default_factory": default} if callable(default) else {"default": default}
    return Field(description=description, json_schema_extra=extra, **made, **limits)


def _absolute_root(root: Path) -> Path:
    if not root.is_absolute():
        raise ValueError("it needs a path")
    return root


class SettingValues(BaseModel):
    """The settings that a file, the environment or a flag can give. Sizes of chunks are in the model's own tokens."""

    # What validates them is made when it is needed: that of `Settings` in most processes, which holds all of them.
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    display_name: str = _setting(
        "", "What this corpus is called in `list` and `status`.", group="Index", project=True, max_length=100
    )
    index_dir: Annotated[Path, BeforeValidator(checked_directory)] = _setting(
        lambda: platformdirs.user_data_path("everfind") / "index",
        "Directory of the index. It holds the text of everything indexed: keep it private. "
        "A project's file may name a directory inside its own root.",
        group="Index",
        project=True,
        shown_default="`index` in the user's data directory; `.everfind/index` in a project with its own folders",
    )
    publish_to: Annotated[str, AfterValidator(ObjectPlace.checked)] = _setting(
        "",
        "`s3://BUCKET/PREFIX` where each change of the index is published, for searchers of a team to read there. "
        "Credentials are those of the AWS environment or profile; needs `everfind[s3]`.",
        group="Index",
        shown_default="none",
    )
    max_file_bytes: int = _setting(
        500_000,
        "Larger text files are left out, and counted as `too_large`.",
        group="Index",
        shapes_answers=True,
        ge=1,
        le=1 << 30,
    )
    max_document_bytes: int = _setting(
        50_000_000,
        "Larger documents (PDF, Office, EPUB, mail, notebooks), of whose bytes few are text, are left out likewise.",
        group="Index",
        shapes_answers=True,
        ge=1,
        le=1 << 30,
    )
    redact_secrets: bool = _setting(
        True,
        "Mask private keys, tokens and passwords in URLs, all that [secrets.md](secrets.md) lists, before text is "
        "stored, embedded or shown.",
        group="Index",
        shapes_answers=True,
    )
    store_backend: Literal["auto", "lancedb", "sqlite"] = _setting(
        "auto",
        "What a new index is kept in: `lancedb`, `sqlite`, or `auto`, which is SQLite only where LanceDB cannot be "
        "loaded. An index stays in what it was made with until `everfind index --rebuild`.",
        group="Index",
    )
    concurrency: int = _setting(
        0, "Embedding calls under way at once; 0 follows the CPU quota.", group="Index", ge=0, le=256
    )
    watch: bool = _setting(
        True,
        "Whether `serve` and `mcp` follow the folders and index what changes. `everfind watch` does in any case.",
        group="Index",
    )
    model: str = _setting(
        "default",
        "Embedding model: `default` (all-MiniLM-L6-v2, installed with everfind), a directory that holds a "
        "sentence-transformers style ONNX model, a hub id such as `BAAI/bge-small-en-v1.5`, or a provider's model: "
        "`voyage:NAME`, `openai:NAME` (whatever speaks that API), `ollama:NAME`. A provider gets every text that is "
        "indexed, and every query.",
        group="Model",
        shapes_answers=True,
        min_length=1,
    )
    hub_endpoint: str = _setting(
        "https://huggingface.co",
        "Where a model given by hub id is downloaded from. Used only when `model` is a hub id.",
        group="Model",
        pattern=r"^https?://",
    )
    model_cache_dir: Path = _setting(
        lambda: platformdirs.user_cache_path("everfind") / "models",
        "Directory for models downloaded by hub id.",
        group="Model",
        shown_default="`models` in the user's cache directory",
    )
    vector_cache_dir: Path = _setting(
        lambda: platformdirs.user_cache_path("everfind") / "vectors",
        "Directory where vectors are kept for reuse by all indexes of this user. It holds no text, but vectors tell "
        "something of their texts: keep it private.",
        group="Model",
        shown_default="`vectors` in the user's cache directory",
    )
    vector_cache_days: float = _setting(
        14,
        "How many days a vector is kept after its text left every index; 0 keeps none.",
        group="Model",
        ge=0,
        le=3650,
    )
    vector_cache_bytes: int = _setting(
        1 << 30,
        "What the kept vectors may take on the disk; those used longest ago go first. A vector takes about 850 bytes.",
        group="Model",
        ge=1 << 20,
        le=1 << 50,
    )
    threads: int = _setting(0, "CPU threads for embedding; 0 follows the CPU quota.", group="Model", ge=0, le=256)
    model_endpoint: str = _setting(
        "",
        "Where the provider of `model` answers.",
        group="Model",
        shapes_answers=True,
        shown_default="the provider's own address; for Ollama this machine",
        pattern=r"^$|^https?://",
    )
    model_key_file: Path | None = _setting(
        None,
        "File that holds the key for the provider of `model`; it can also come from the environment, as "
        "`EVERFIND_MODEL_KEY`.",
        group="Model",
    )
    model_window: int = _setting(
        0,
        "Tokens that a text may have at the provider of `model`; 0 is what it usually takes.",
        group="Model",
        shapes_answers=True,
        ge=0,
        le=1 << 20,
    )
    reranker: str = _setting(
        "",
        "Model that reranks the best hits: a directory or hub id of a cross-encoder with an ONNX export, or a "
        "provider's: `voyage:rerank-2.5`, `cohere:rerank-v3.5`. A provider gets the query and the hits' text.",
        group="Model",
        shapes_answers=True,
    )
    reranker_endpoint: str = _setting(
        "",
        "Where the provider of `reranker` answers.",
        group="Model",
        shapes_answers=True,
        shown_default="the provider's own address",
        pattern=r"^$|^https?://",
    )
    reranker_key_file: Path | None = _setting(
        None,
        "File that holds the key for the provider of `reranker`; it can also come from the environment, as "
        "`EVERFIND_RERANKER_KEY`.",
        group="Model",
    )
    reranker_seconds: float = _setting(
        10.0,
        "How long the provider of `reranker` may take; after that the order of before stands, with a warning.",
        group="Model",
        ge=0.1,
        le=120,
    )
    reranker_interval: float = _setting(
        0.0, "Seconds between two calls of that provider at least.", group="Model", ge=0, le=60
    )
    expansion_endpoint: str = _setting(
        "",
        "OpenAI-compatible address of a language model that gives other ways to ask a question, such as "
        "`http://localhost:11434/v1`. It gets the text of queries that name nothing exactly, and nothing else.",
        group="Search",
        shapes_answers=True,
        pattern=r"^$|^https?://",
    )
    expansion_model: str = _setting("", "Model that is asked for there.", group="Search", shapes_answers=True)
    expansion_key_file: Path | None = _setting(
        None,
        "File that holds the key for it; the key can also come from the environment, as `EVERFIND_EXPANSION_KEY`.",
        group="Search",
    )
    chunk_tokens: int = _setting(
        200,
        "Tokens that a chunk of prose aims at; the model's window is the hard limit.",
        group="Chunks",
        project=True,
        shapes_answers=True,
        ge=16,
        le=8192,
    )
    code_chunk_tokens: int = _setting(
        128,
        "Tokens that a chunk of code aims at.",
        group="Chunks",
        project=True,
        shapes_answers=True,
        ge=16,
        le=8192,
    )
    chunk_overlap: int = _setting(
        35,
        "Tokens that a chunk repeats of the one before it where a section or a body had to be split.",
        group="Chunks",
        project=True,
        shapes_answers=True,
        ge=0,
        le=4096,
    )
    limit: int = _setting(10, "Hits of a search.", group="Search", project=True, ge=1, le=100)
    mode: Literal["hybrid", "semantic", "lexical"] = _setting(
        "hybrid", "Which arms answer: both, vectors only, or words only.", group="Search", project=True
    )
    rerank: bool = _setting(False, "Rerank every search, as `--rerank` does for one; needs `reranker`.", group="Search")
    wait_seconds: float = _setting(
        0,
        "How long a search waits at most for known changes to be indexed, where the folders are followed.",
        group="Search",
        ge=0,
        le=600,
    )
    fusion: Literal["weighted", "rrf"] = _setting(
        "weighted",
        "How the two arms' rankings become one: `weighted` mixes their scores and adds ranking rules, `rrf` is "
        "reciprocal rank fusion alone.",
        group="Search",
        project=True,
        shapes_answers=True,
    )
    rrf_k: int = _setting(
        60,
        'Smoothing constant of `fusion = "rrf"`: each arm adds 1 / (k + rank).',
        group="Search",
        project=True,
        shapes_answers=True,
        ge=1,
        le=10_000,
    )
    min_score: float | None = _setting(
        None,
        "Cosine that each hit of a hybrid search must reach, unless it is an exact match; -1 lets every hit pass.",
        group="Search",
        project=True,
        shapes_answers=True,
        shown_default="unset: an answer as a whole must reach the model's floor (`everfind calibrate`)",
        ge=-1,
        le=1,
    )
    relative_cutoff: float = _setting(
        0.0,
        "Share of the best hit's cosine that each hit of a hybrid search must reach, unless it is an exact match.",
        group="Search",
        project=True,
        shapes_answers=True,
        ge=0,
        le=1,
    )
    resident_bytes: int = _setting(
        384 << 20,
        "What a process that goes on searching may keep of the index in memory: about 2,500 bytes a chunk. What does "
        "not fit is read from the disk at each search, and vectors are then compared by the store.",
        group="Search",
        ge=0,
        le=1 << 50,
    )
    default_exclude: tuple[str, ...] = _setting(
        (),
        "Path globs that every search leaves out unless `--all` is given; a plain word matches a whole path segment, "
        "`notes//drafts` counts in the folder `notes` alone. In the environment: separated by commas.",
        group="Search",
        project=True,
        shapes_answers=True,
    )
    path_boosts: dict[str, Annotated[float, Field(ge=0.1, le=10)]] = _setting(
        dict,
        "Path globs with factors that move the hits of their files up (1.15) or down (0.9) in the order; scores stay "
        'as they are. A table: `[path_boosts]`, then `"reference/" = 1.15`. In the environment: '
        "`reference/=1.15,old/=0.9`.",
        group="Search",
        project=True,
        shapes_answers=True,
        shown_default="none",
    )
    hidden_statuses: tuple[str, ...] = _setting(
        HIDDEN_STATUSES,
        "Statuses of documents that every search leaves out unless `--all` is given: the answer has their successors "
        "in their place, and counts them. In the environment: separated by commas.",
        group="Documents",
        project=True,
        shapes_answers=True,
        shown_default=", ".join(f"`{status}`" for status in HIDDEN_STATUSES),
    )
    lifecycle_words: tuple[str, ...] = _setting(
        (),
        "Further words of document headers, each as `WORD=MEANING`: another name of a key (`status`, `date`, "
        "`superseded_by`, `supersedes`) or of a status, such as `ersetzt_durch=superseded_by` or `veraltet=obsolete`. "
        "A change needs `everfind index --rebuild`. In the environment: separated by commas.",
        group="Documents",
        project=True,
        shapes_answers=True,
    )
    mcp_name: str = _setting(
        "everfind", "The MCP server's name, as hosts show it.", group="Agents", min_length=1, max_length=100
    )
    mcp_description: str = _setting(
        "",
        "What the MCP server tells agents that its folders hold, such as `The wiki and decisions of team X`.",
        group="Agents",
        max_length=2_000,
    )
    mcp_tools: tuple[ToolName, ...] = _setting(
        DEFAULT_TOOLS,
        "The tools that the MCP server offers, of those in [mcp.md](mcp.md). In the environment: separated by commas.",
        group="Agents",
        min_length=1,
        shown_default="all but the aliases `search_notes` and `codebase_search`",
    )
    workspace_roots: tuple[Annotated[Path, AfterValidator(_absolute_root)], ...] = _setting(
        (),
        "Directories below which agents may index directories that are not added; doing so adds them. Counts in the "
        "user's own file only.",
        group="Agents",
    )
    server: str = _setting(
        "",
        "Ask this server (`HOST` or `HOST:PORT`) in place of the index of this machine. Its token can also come from "
        "the environment, as `EVERFIND_SERVER_TOKEN`.",
        group="Server",
    )
    server_token_file: Path | None = _setting(None, "File that holds the token for `server`.", group="Server")
    server_tls: bool = _setting(
        False, "Ask `server` over TLS. `server_ca` or `server_certificate` imply it.", group="Server"
    )
    server_ca: Path | None = _setting(
        None,
        "Authority (PEM) that signed the certificate of `server`.",
        group="Server",
        shown_default="the usual authorities",
    )
    server_certificate: Path | None = _setting(
        None, "Certificate (PEM) to show to `server`, where it asks for one.", group="Server"
    )
    server_key: Path | None = _setting(None, "Private key (PEM) of `server_certificate`.", group="Server")
    server_workspace: str = _setting(
        "",
        "The workspace of `server` to ask, by its name or an absolute directory in it there.",
        group="Server",
        shown_default="the server's own",
    )
    checkouts: dict[str, Annotated[Path, AfterValidator(_absolute_root)]] = _setting(
        dict,
        "Where folders of `server` lie on this machine, by their names, so that answers name files that can be opened "
        'here. A table: `[checkouts]`, then `api = "~/src/api"`. In the environment: `api=~/src/api,docs=~/docs`.',
        group="Server",
        shown_default="none",
    )
    local_server: bool = _setting(
        True,
        "Let `everfind serve` answer searches of this user while it runs on this machine, from the same index with the "
        "same settings: it is warm.",
        group="Server",
    )
    autostart_seconds: float = _setting(
        0.0,
        "Let a search on this machine that finds no server start one for the searches after it, which ends after so "
        "many seconds without a call; 0 starts none. `--no-server` starts none, either.",
        group="Server",
        ge=0,
        le=86_400,
    )
    listen: str = _setting(
        "127.0.0.1:50051",
        "Where `everfind serve` listens. Beyond this machine it does not serve before a token was made.",
        group="Server",
    )
    workspaces: tuple[Annotated[str, Field(min_length=1)], ...] = _setting(
        (),
        "What `everfind serve` answers from besides its own workspace: named workspaces, and directories (with a `/`), "
        "of which each stands for the projects with folders of their own in it. In the environment: separated by "
        "commas.",
        group="Server",
        shown_default="none",
    )
    max_workspaces: int = _setting(
        8,
        "How many of them are open at once at most; the one that was asked longest ago is closed for another.",
        group="Server",
        ge=1,
        le=1000,
    )
    folder_roots: tuple[Annotated[Path, AfterValidator(_absolute_root)], ...] = _setting(
        (),
        "Directories below which clients of `everfind serve` whose token has the scope `admin` may add folders. In the "
        "environment: separated by commas.",
        group="Server",
        shown_default="none: clients add no folders",
    )
    token_file: Path = _setting(
        lambda: platformdirs.user_config_path("everfind") / "tokens.json",
        "File of the tokens that `everfind serve` takes, kept as hashes by `everfind token`.",
        group="Server",
        shown_default="`tokens.json` in the user's configuration directory",
    )

    @field_validator("*", mode="before")
    @classmethod
    def _no_other_kind(cls, value: Any, info: ValidationInfo) -> Any:
        """Refuse what would pass for a value: true and false as numbers, nothing as a path."""
        name = info.field_name or ""
        if isinstance(value, bool) and cls.model_fields[name].annotation is int:
            raise PydanticCustomError("number", "it needs a whole number")
        if is_path(name) and isinstance(value, str) and not value.strip():
            raise PydanticCustomError("path", "it needs a path; leave it out for the default")
        return value


def setting_fields() -> Mapping[str, FieldInfo]:
    """Each setting's name and its documented field, in the order of the documentation."""
    return SettingValues.model_fields


def is_path(name: str) -> bool:
    """Whether a setting is one path."""
    return name in SettingValues.model_fields and SettingValues.model_fields[name].annotation in (Path, Path | None)


def setting_extra(name: str) -> dict[str, Any]:
    """What is said of a setting beside its type: see :func:`_setting`."""
    extra = SettingValues.model_fields[name].json_schema_extra
    assert isinstance(extra, dict)
    return extra


def project_settings() -> frozenset[str]:
    """The settings that a project's own file may set."""
    return frozenset(name for name in SettingValues.model_fields if setting_extra(name)["project"])
