"""What the indexer needs to be told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from everfind_core.index.object_place import ObjectPlace
from everfind_core.index.store_backends import StoreChoice
from everfind_core.index.vector_types import VectorType
from everfind_core.lifecycle import DEFAULT_VOCABULARY, Vocabulary
from everfind_core.model import Folder, LineKind, ModelInfo
from everfind_core.ports import ChunkLimits
from everfind_indexer.files.sizes import DEFAULT_SIZES, SizeLimits


@dataclass(frozen=True, slots=True)
class KeptVectors:
    """Where vectors are kept, how many ``days`` after their last use at least, and how many bytes at most."""

    directory: Path
    days: float = 14.0
    max_bytes: int = 1 << 30

    @classmethod
    def unless_off(cls, directory: Path, days: float, max_bytes: int) -> KeptVectors | None:
        """None for no days, which keep none."""
        return cls(directory, days, max_bytes) if days else None


@dataclass(frozen=True, slots=True)
class IndexerSettings:
    """One workspace's folders, where its index lies, and how documents become chunks (sizes in tokens).

    ``min_score`` is what searches of this workspace ask for instead of a calibrated floor; None for that.
    ``user_ignore`` is an ``.indexignore`` that holds for every folder; None if there is none. ``kept_vectors`` is where
    vectors outlast the index; None keeps none. ``vocabulary`` is that of documents' headers. ``outgoing`` says what
    leaves the machine besides what the embedding model says of itself. ``digest`` (hex) is that of all settings that
    shape index and answers, for ``status`` to tell; empty where nobody computes it.
    Clients may add folders below ``folder_roots``. ``store`` is what a new index is kept in, ``vector_type`` what its
    vectors are stored in. Each change is copied to ``publish`` for searchers; None for nowhere.
    """

    index_directory: Path
    folders: tuple[Folder, ...]
    workspace: str = ""
    user_ignore: Path | None = None
    sizes: SizeLimits = DEFAULT_SIZES
    redact_secrets: bool = True
    chunk_tokens: int = 200
    code_chunk_tokens: int = 128
    chunk_overlap: int = 35
    concurrency: int = 0
    min_score: float | None = None
    kept_vectors: KeptVectors | None = None
    vocabulary: Vocabulary = DEFAULT_VOCABULARY
    outgoing: tuple[str, ...] = ()
    digest: str = ""
    folder_roots: tuple[Path, ...] = ()
    store: StoreChoice = StoreChoice.AUTO
    vector_type: VectorType = VectorType.HALF
    publish: ObjectPlace | None = None

    def limits(self, model: ModelInfo) -> Mapping[LineKind, ChunkLimits]:
        """Chunk sizes by line kind, within the model's window."""
        from everfind_core.chunking import limits_by_kind  # whoever only reads files does not wait for it to load

        return limits_by_kind(
            model.text_budget, prose=self.chunk_tokens, code=self.code_chunk_tokens, overlap=self.chunk_overlap
        )


class Configuration(Protocol):
    """The settings of a process, whichever it is, as far as they are about indexing; by their names there."""

    index_dir: Path
    folders: tuple[Folder, ...]
    max_file_bytes: int
    max_document_bytes: int
    redact_secrets: bool
    chunk_tokens: int
    code_chunk_tokens: int
    chunk_overlap: int
    concurrency: int
    min_score: float | None
    vector_cache_days: float
    vector_cache_bytes: int
    lifecycle_words: tuple[str, ...]
    folder_roots: tuple[Path, ...]
    publish_to: str


def indexer_settings(
    given: Configuration,
    *,
    user_ignore: Path | None,
    vectors: Path,
    store: StoreChoice,
    vector_type: VectorType,
    outgoing: tuple[str, ...] = (),
    digest: str = "",
) -> IndexerSettings:
    """What the indexer is told by a process's configuration; ``vectors`` is the directory in which they are kept."""
    if given.publish_to:
        outgoing = (*outgoing, f"the index, with the text of indexed files, to {given.publish_to}")
    return IndexerSettings(
        index_directory=given.index_dir,
        folders=given.folders,
        user_ignore=user_ignore,
        sizes=SizeLimits(given.max_file_bytes, given.max_document_bytes),
        redact_secrets=given.redact_secrets,
        chunk_tokens=given.chunk_tokens,
        code_chunk_tokens=given.code_chunk_tokens,
        chunk_overlap=given.chunk_overlap,
        concurrency=given.concurrency,
        min_score=given.min_score,
        kept_vectors=KeptVectors.unless_off(vectors, given.vector_cache_days, given.vector_cache_bytes),
        vocabulary=Vocabulary.with_words(given.lifecycle_words),
        outgoing=outgoing,
        digest=digest,
        folder_roots=given.folder_roots,
        store=store,
        vector_type=vector_type,
        publish=ObjectPlace.parse(given.publish_to) if given.publish_to else None,
    )
