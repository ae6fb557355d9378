"""One file's bytes into rows that lack only their vectors: extract, mask, read its header, chunk, make terms. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b

from everfind_core.callgraph import symbols
from everfind_core.lifecycle import (
    DEFAULT_VOCABULARY,
    Statement,
    Vocabulary,
    read_document,
    with_lines,
    without_lines,
)
from everfind_core.model import Chunk, Document, FileRef, FileState, LineKind, SkipReason
from everfind_core.ports import Chunker, ChunkLimits, FileChunks, NotExtractedError, StoredChunk, TokenIds, Tokenizer
from everfind_core.text.lexical import document_terms
from everfind_core.text.secrets import mask_secrets


@dataclass(frozen=True, slots=True)
class Preparation:
    """What turns documents into rows, the same for a whole run. ``limits`` has an entry for each line kind."""

    extract: Callable[[str, bytes], Document]
    chunker: Chunker
    tokenizer: Tokenizer
    limits: Mapping[LineKind, ChunkLimits]
    redact_secrets: bool = True
    vocabulary: Vocabulary = DEFAULT_VOCABULARY


@dataclass(frozen=True, slots=True)
class PreparedFile:
    """A file's new state and rows without vectors. ``token_ids`` has a row's tokens where the tokenizer can slice.

    ``statement`` is what it says of its life and of other documents; None for what is no document. A file that is not
    ``fresh`` says what the catalog has noted of it, and its rows have the fate that is noted there.
    """

    state: FileState
    rows: tuple[StoredChunk, ...] = ()
    token_ids: tuple[TokenIds | None, ...] = ()
    embedded_texts: tuple[str, ...] = ()
    context_tokens: tuple[int, ...] = ()
    overlap_tokens: int = 0
    statement: Statement | None = None
    fresh: bool = True

    @property
    def file_chunks(self) -> FileChunks:
        """The rows as the store takes them."""
        return FileChunks(self.state.ref, self.rows)

    @property
    def corpus_tokens(self) -> int:
        """Tokens of the file's text, each counted once."""
        return self.state.tokens - sum(self.context_tokens) - self.overlap_tokens


def prepare(state: FileState, raw: bytes, how: Preparation) -> PreparedFile:
    """The rows for a file that was read; a file without text becomes a state with its skip reason."""
    try:
        document = how.extract(state.ref.path, raw)
    except NotExtractedError as error:
        return PreparedFile(skipped(state, error.reason, error.message))
    if how.redact_secrets:
        masked, count = mask_secrets(document.text)
        document = replace(document, text=masked, redactions=count)
    read = read_document(state.ref.path, document, how.vocabulary)
    quiet, kept = without_lines(document, read.lines if read else frozenset())
    chunks = how.chunker.chunk(quiet, how.tokenizer, how.limits[document.kind])
    if not chunks:
        return PreparedFile(skipped(state, SkipReason.EMPTY, "nothing but blank lines"))
    tokens = sum(chunk.tokens for chunk in chunks)
    if read:
        document = replace(document, status=read.statement.status, date=read.statement.date)
    return PreparedFile(
        state=replace(
            state,
            chunks=len(chunks),
            tokens=tokens,
            redactions=document.redactions,
        ),
        rows=tuple(
            _row(state, document, whole, n, embedding_key(chunk.embedded_text))
            for n, (chunk, whole) in enumerate(zip(chunks, with_lines(chunks, document.text, kept), strict=True))
        ),
        statement=read.statement if read else None,
        token_ids=tuple(chunk.token_ids for chunk in chunks),
        embedded_texts=tuple(chunk.embedded_text for chunk in chunks),
        context_tokens=tuple(chunk.context_tokens for chunk in chunks),
        overlap_tokens=sum(chunk.overlap_tokens for chunk in chunks),
    )


def skipped(state: FileState, reason: SkipReason, message: str = "") -> FileState:
    """The state of a file that is left out."""
    return replace(state, chunks=0, tokens=0, redactions=0, skip=reason, message=message)


def embedding_key(embedded_text: str) -> str:
    """The name of an embedded text: BLAKE2b, 128 bits, hex. Equal texts have equal vectors within one index."""
    return blake2b(embedded_text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def chunk_id(ref: FileRef, ordinal: int) -> str:
    """A row's name, unique in an index and the same whenever the file is indexed again."""
    return f"{blake2b(f'{ref.folder}/{ref.path}'.encode(), digest_size=12).hexdigest()}-{ordinal}"


def _row(state: FileState, document: Document, chunk: Chunk, ordinal: int, key: str) -> StoredChunk:
    return StoredChunk(
        chunk_id=chunk_id(state.ref, ordinal),
        ref=state.ref,
        ordinal=ordinal,
        start_line=chunk.start_line,
        end_line=chunk.end_line,
        text=chunk.text,
        terms=document_terms(chunk.text, path=state.ref.path, symbol=chunk.symbol, heading=chunk.heading),
        embedding_key=key,
        content_hash=state.content_hash,
        tokens=chunk.tokens,
        symbol=chunk.symbol,
        kind=chunk.kind,
        language=document.language,
        heading=chunk.heading,
        status=document.status,
        date=document.date,
        successor=document.successor,
        page=chunk.page,
        names=symbols.tokens(chunk.symbols),
        symbols=symbols.encode(chunk.symbols),
    )
