"""Settings of what is indexed, and how it is cut."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import platformdirs
from pydantic import AfterValidator, BaseModel, BeforeValidator

from everfind_core.index.object_place import ObjectPlace, checked_directory
from everfind_core.model import HIDDEN_STATUSES
from everfind_gateway.setting_groups.field import STRICT, setting


class IndexSettings(BaseModel):
    """What is indexed, how it is cut (in the model's own tokens), and what documents' headers mean."""

    model_config = STRICT

    display_name: str = setting(
        "", "What this corpus is called in `list` and `status`.", group="Index", project=True, max_length=100
    )
    index_dir: Annotated[Path, BeforeValidator(checked_directory)] = setting(
        lambda: platformdirs.user_data_path("everfind") / "index",
        "Directory of the index. It holds the text of everything indexed: keep it private. "
        "A project's file may name a directory inside its own root.",
        group="Index",
        project=True,
        shown_default="`index` in the user's data directory; `.everfind/index` in a project with its own folders",
    )
    publish_to: Annotated[str, AfterValidator(ObjectPlace.checked)] = setting(
        "",
        "`s3://BUCKET/PREFIX` where each change of the index is published, for searchers of a team to read there. "
        "Credentials are those of the AWS environment or profile; needs `everfind[s3]`.",
        group="Index",
        shown_default="none",
    )
    max_file_bytes: int = setting(
        500_000,
        "Larger text files are left out, and counted as `too_large`.",
        group="Index",
        shapes_answers=True,
        ge=1,
        le=1 << 30,
    )
    max_document_bytes: int = setting(
        50_000_000,
        "Larger documents (PDF, Office, EPUB, mail, notebooks), of whose bytes few are text, are left out likewise.",
        group="Index",
        shapes_answers=True,
        ge=1,
        le=1 << 30,
    )
    redact_secrets: bool = setting(
        True,
        "Mask private keys, tokens and passwords in URLs, all that [secrets.md](secrets.md) lists, before text is "
        "stored, embedded or shown.",
        group="Index",
        shapes_answers=True,
    )
    store_backend: Literal["auto", "lancedb", "sqlite"] = setting(
        "auto",
        "What a new index is kept in: `lancedb`, `sqlite`, or `auto`, which is SQLite only where LanceDB cannot be "
        "loaded. An index stays in what it was made with until `everfind index --rebuild`.",
        group="Index",
    )
    vector_type: Literal["half", "int8"] = setting(
        "half",
        "What the index's vectors are stored in: `half` (precision), or `int8`, which takes half of their space on the "
        "disk and a third of their space in memory; few hits change. With it each search reads all vectors where they "
        "do not fit into `resident_bytes`. A change needs `everfind index --rebuild`: what is kept for reuse is not "
        "embedded again.",
        group="Index",
        shapes_answers=True,
    )
    concurrency: int = setting(
        0, "Embedding calls under way at once; 0 follows the CPU quota.", group="Index", ge=0, le=256
    )
    watch: bool = setting(
        True,
        "Whether `serve` and `mcp` follow the folders and index what changes. `everfind watch` does in any case.",
        group="Index",
    )
    chunk_tokens: int = setting(
        200,
        "Tokens that a chunk of prose aims at; the model's window is the hard limit.",
        group="Chunks",
        project=True,
        shapes_answers=True,
        ge=16,
        le=8192,
    )
    code_chunk_tokens: int = setting(
        128,
        "Tokens that a chunk of code aims at.",
        group="Chunks",
        project=True,
        shapes_answers=True,
        ge=16,
        le=8192,
    )
    chunk_overlap: int = setting(
        35,
        "Tokens that a chunk repeats of the one before it where a section or a body had to be split.",
        group="Chunks",
        project=True,
        shapes_answers=True,
        ge=0,
        le=4096,
    )
    hidden_statuses: tuple[str, ...] = setting(
        HIDDEN_STATUSES,
        "Statuses of documents that every search leaves out unless `--all` is given: the answer has their successors "
        "in their place, and counts them. In the environment: separated by commas.",
        group="Documents",
        project=True,
        shapes_answers=True,
        shown_default=", ".join(f"`{status}`" for status in HIDDEN_STATUSES),
    )
    lifecycle_words: tuple[str, ...] = setting(
        (),
        "Further words of document headers, each as `WORD=MEANING`: another name of a key (`status`, `date`, "
        "`superseded_by`, `supersedes`) or of a status, such as `ersetzt_durch=superseded_by` or `veraltet=obsolete`. "
        "A change needs `everfind index --rebuild`. In the environment: separated by commas.",
        group="Documents",
        project=True,
        shapes_answers=True,
    )
