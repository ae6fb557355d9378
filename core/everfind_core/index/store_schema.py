"""What both sides of the store agree on: names, numbers, a file's key, and how a value is written in a condition.

The store is one LanceDB table in the index directory: ``<directory>/chunks.lance``, one row a chunk. The indexer writes
it, searchers read it, and nothing but this module is shared between them.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final

from everfind_core.errors import InvalidRequestError
from everfind_core.model import FileRef

if TYPE_CHECKING:
    from everfind_core.index.vector_codec import VectorCodec

TABLE: Final = "chunks"
TABLE_DIRECTORY: Final = f"{TABLE}.lance"
VERSIONS: Final = "_versions"
MANIFEST_SUFFIX: Final = ".manifest"

_NUMBERS_BELOW: Final = (1 << 64) - 1
"""A version's manifest is named by how far its number is below this: so the newest is listed first."""

CHUNK_ID: Final = "chunk_id"
FILE_ID: Final = "file_id"
FOLDER: Final = "folder"
PATH: Final = "path"
ORDINAL: Final = "ordinal"
START_LINE: Final = "start_line"
END_LINE: Final = "end_line"
TEXT: Final = "text"
TERMS: Final = "terms"
EMBEDDING_KEY: Final = "embedding_key"
CONTENT_HASH: Final = "content_hash"
TOKENS: Final = "tokens"
SYMBOL: Final = "symbol"
KIND: Final = "kind"
LANGUAGE: Final = "language"
HEADING: Final = "heading"
STATUS: Final = "status"
DATE: Final = "date"
SUCCESSOR: Final = "successor"
PAGE: Final = "page"
NAMES: Final = "names"
SYMBOLS: Final = "symbols"
VECTOR: Final = "vector"

STRING_COLUMNS: Final = (
    CHUNK_ID,
    FILE_ID,
    FOLDER,
    PATH,
    TEXT,
    TERMS,
    EMBEDDING_KEY,
    CONTENT_HASH,
    SYMBOL,
    KIND,
    LANGUAGE,
    HEADING,
    STATUS,
    DATE,
    SUCCESSOR,
    NAMES,
    SYMBOLS,
)
"""UTF-8, never null; empty where there is nothing to say."""

NUMBER_COLUMNS: Final = (ORDINAL, START_LINE, END_LINE, TOKENS, PAGE)
"""int32, never null."""

HIT_COLUMNS: Final = tuple(c for c in (*STRING_COLUMNS, *NUMBER_COLUMNS) if c not in (FILE_ID, TERMS, NAMES, SYMBOLS))
"""What a found row is read with: all but the vector, the terms, the call graph and the derived key."""

COMPRESSED_COLUMNS: Final = (TEXT, TERMS, NAMES, SYMBOLS)
TOKEN_COLUMNS: Final = (TERMS, NAMES)
"""Tokens between single spaces; rows are found by any of them."""

BTREE_COLUMNS: Final = (FILE_ID, PATH, EMBEDDING_KEY)
BITMAP_COLUMNS: Final = (FOLDER, LANGUAGE, KIND, STATUS)

METRIC: Final = "cosine"
"""A stored distance is 1 - cosine."""

PARTITIONS: Final = 1
"""One partition: a quantized scan of every vector, so that no recall is lost to probing."""

BITS: Final = 4
PROBES: Final = 1
REFINE_FACTOR: Final = 2
"""So many times the wanted rows are compared again with their exact vectors."""


def index_name(column: str) -> str:
    """The name of the search structure over ``column``."""
    return f"{column}_idx"


def file_id(ref: FileRef) -> str:
    """The key that all rows of a file share: 32 hex digits of (folder, path)."""
    identity = f"{len(ref.folder)}:{ref.folder}{ref.path}"
    return hashlib.blake2b(identity.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def sql_string(value: str, *, field: str = "value") -> str:
    """``value`` as a string literal of the store's condition language.

    Between single quotes only the quote itself is special there, and it is doubled; neither backslash nor ``%`` means
    anything.

    Raises:
        InvalidRequestError: ``value`` holds a lone surrogate, which is no text.
    """
    check_text(value, field=field)
    return "'" + value.replace("'", "''") + "'"


def check_text(value: str, *, field: str) -> None:
    """Refuse what no store can hold.

    Raises:
        InvalidRequestError: ``value`` holds a lone surrogate, which is no text.
    """
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InvalidRequestError.of(field, f"{value!r} holds a lone surrogate, which is no text") from None


def sql_in(column: str, values: tuple[str, ...] | list[str], *, field: str = "value") -> str:
    """The condition that ``column`` is one of ``values``, which are not empty."""
    return f"{column} IN ({', '.join(sql_string(value, field=field) for value in values)})"


def lance_compares(codec: VectorCodec) -> bool:
    """Whether Lance compares such vectors and has a structure over them; those of whole numbers readers compare."""
    return codec.dtype.kind == "f"


def manifest_file(version: int) -> str:
    """The manifest of a version, by its path below the table's directory."""
    return f"{VERSIONS}/{_NUMBERS_BELOW - version}{MANIFEST_SUFFIX}"


def manifest_version(name: str) -> int | None:
    """The version whose manifest has this file name; None if it is none."""
    number = name.removesuffix(MANIFEST_SUFFIX)
    return _NUMBERS_BELOW - int(number) if number != name and number.isdecimal() else None
