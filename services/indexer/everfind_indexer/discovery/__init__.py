"""Which files below a folder are indexable, and why the others are not."""

from everfind_indexer.discovery.discover import discover, is_indexable
from everfind_indexer.files.found import Discovery, FoundFile

__all__ = ["Discovery", "FoundFile", "discover", "is_indexable"]
