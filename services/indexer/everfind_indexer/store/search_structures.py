"""Makes the search structures of the table: for the columns that filters name, for terms, and for vectors."""

from __future__ import annotations

import lance

from everfind_core.index.store_schema import (
    BITMAP_COLUMNS,
    BITS,
    BTREE_COLUMNS,
    METRIC,
    PARTITIONS,
    TOKEN_COLUMNS,
    TOKENS,
    VECTOR,
    index_name,
    lance_compares,
)
from everfind_core.index.vector_codec import VectorCodec


def create_indices(dataset: lance.LanceDataset, codec: VectorCodec) -> None:
    """Create the search structures that the table, whose vectors are stored by ``codec``, does not have yet."""
    present = {index.name for index in dataset.describe_indices()}
    vectors = (VECTOR,) if lance_compares(codec) else ()
    for column in (*BTREE_COLUMNS, *BITMAP_COLUMNS, *TOKEN_COLUMNS, *vectors):
        if index_name(column) not in present:
            create_index(dataset, column)


def create_index(dataset: lance.LanceDataset, column: str) -> None:
    """In one commit; in place of the one that is there, if any."""
    name = index_name(column)
    if column in BTREE_COLUMNS:
        dataset.create_scalar_index(column, "BTREE", name=name)
    elif column in BITMAP_COLUMNS:
        dataset.create_scalar_index(column, "BITMAP", name=name)
    elif column in TOKEN_COLUMNS:
        _create_token_index(dataset, column)
    else:
        dataset.create_index(
            column,
            "IVF_RQ",
            name=name,
            metric=METRIC,
            num_partitions=PARTITIONS,
            num_bits=BITS,
            replace=True,
            train=has_vector(dataset),
        )


def _create_token_index(dataset: lance.LanceDataset, column: str) -> None:
    """Tokens come normalised from one function for both sides: nothing may change, split or drop them here."""
    dataset.create_scalar_index(
        column,
        "INVERTED",
        name=index_name(column),
        base_tokenizer="whitespace",
        lower_case=False,
        ascii_folding=False,
        stem=False,
        remove_stop_words=False,
        max_token_length=None,
        with_position=False,
    )


def has_vector(dataset: lance.LanceDataset) -> bool:
    """Whether any row has one: a search structure over vectors cannot learn from none."""
    found: int = dataset.scanner(columns=[TOKENS], filter=f"{VECTOR} IS NOT NULL", limit=1).to_table().num_rows
    return found > 0
