"""What belongs to a symbol or a place: calls, references and what is alike."""

from __future__ import annotations

from dataclasses import dataclass, field

from everfind_core.model.coverage import Coverage
from everfind_core.model.search import Filters, Hit, Relation, Staleness


@dataclass(frozen=True, slots=True)
class RelatedRequest:
    """What belongs to a symbol, or to the chunk at ``folder``/``path``:``line``, by any of ``relations`` (empty: all).

    ``limit`` related chunks a page (1 to 100), ``cursor`` from the page before; ``filters`` limit what may be returned.
    """

    symbol: str = ""
    folder: str = ""
    path: str = ""
    line: int = 0
    relations: tuple[Relation, ...] = ()
    limit: int = 10
    workspace: str = ""
    filters: Filters = field(default_factory=Filters)
    cursor: str = ""


@dataclass(frozen=True, slots=True)
class RelatedHit:
    """A related chunk, how it is related, and how sure that is (0 to 1; names can be ambiguous).

    ``line`` is the line of the call or reference, or for a callee that of its definition, from 1; 0 where there is
    none. ``symbol`` is the qualified name of the definition that calls or is called; empty for none.
    """

    hit: Hit
    relation: Relation
    confidence: float
    line: int = 0
    symbol: str = ""


@dataclass(frozen=True, slots=True)
class RelatedAnswer:
    """What is related, best first. ``targets`` are what the request may mean: several if its symbol is ambiguous."""

    generation: int
    targets: tuple[Hit, ...]
    related: tuple[RelatedHit, ...]
    coverage: Coverage
    staleness: Staleness = field(default_factory=Staleness)
    warnings: tuple[str, ...] = ()
    next_cursor: str = ""
    left_out: int = 0
