"""What is wrong with documents, and with the size of the table, for `status` and `doctor`."""

from __future__ import annotations

from everfind_core.index.manifest import Manifest
from everfind_core.index.store_backends import StoreBackend
from everfind_core.index.table_size import TableSize
from everfind_core.index.vector_types import VectorType
from everfind_core.model import HealthFinding, Severity
from everfind_indexer.index.catalog import Catalog

MOST_FINDINGS = 20

MOST_SEGMENTS = 100
"""A run leaves at most eight of each of ten search structures."""

MOST_FRAGMENTS = 100
FRAGMENT_CHUNKS = 10_000
"""A run leaves fewer fragments than these together allow: one for so many chunks, and some small ones."""

WASTE_RATIO = 3
WASTE_BYTES = 200_000_000

_UPKEEP = "Run `everfind index` over all folders: its end tidies up. If it stays, please report it."
_HINT = "Correct the reference in the document: a path, a link, a number or a title of an indexed one."


def document_findings(catalog: Catalog) -> tuple[HealthFinding, ...]:
    """What is wrong with what documents say of each other."""
    problems = catalog.lives.problems()
    findings = [
        HealthFinding(
            "documents", Severity.WARNING, f"{problem.ref.folder}/{problem.ref.path}: {problem.message}", _HINT
        )
        for problem in problems[:MOST_FINDINGS]
    ]
    if len(problems) > MOST_FINDINGS:
        more = len(problems) - MOST_FINDINGS
        findings.append(HealthFinding("documents", Severity.WARNING, f"{more:,} more statements lead nowhere", _HINT))
    return tuple(findings)


def store_findings(manifest: Manifest) -> tuple[HealthFinding, ...]:
    """What keeps the chunks, and what their vectors are stored in, where that is not the usual."""
    told = []
    if manifest.store is StoreBackend.SQLITE:
        told.append("chunks are kept in SQLite")
    if manifest.recipe.vector_type is VectorType.INT8:
        told.append("vectors are stored in int8, eight bits a number")
    return tuple(HealthFinding("store", Severity.OK, message) for message in told)


def table_findings(table: TableSize, chunks: int) -> tuple[HealthFinding, ...]:
    """Where the table of so many chunks has grown beyond what its upkeep leaves."""
    found = []
    if table.live and table.size > WASTE_RATIO * table.live and table.size - table.live > WASTE_BYTES:
        found.append(f"the table takes {table.size:,} bytes on the disk, of which {table.live:,} are in use")
    if table.fragments > MOST_FRAGMENTS + chunks / FRAGMENT_CHUNKS:
        found.append(f"the table lies in {table.fragments:,} fragments")
    if table.segments > MOST_SEGMENTS:
        found.append(f"the search structures lie in {table.segments:,} segments")
    return tuple(HealthFinding("table", Severity.WARNING, message, _UPKEEP) for message in found)
