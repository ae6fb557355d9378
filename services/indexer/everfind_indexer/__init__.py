"""The indexer: folders in, an index out."""
