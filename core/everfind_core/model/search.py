"""Queries and answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from everfind_core.model.coverage import EMPTY_COUNTS, Coverage


class SearchMode(StrEnum):
    """Which arms answer."""

    HYBRID = "hybrid"
    SEMANTIC = "semantic"
    LEXICAL = "lexical"


class ProvenanceLabel(StrEnum):
    """What put a hit into the answer."""

    SEMANTIC = "semantic"
    LEXICAL = "lexical"
    BOTH = "both"
    EXACT = "exact"
    GRAPH = "graph"


class Relation(StrEnum):
    """How a hit that was not searched for belongs to one that was. A reference names a symbol without calling it."""

    CALLER = "caller"
    CALLEE = "callee"
    SIMILAR = "similar"
    SUCCESSOR = "successor"
    REFERENCE = "reference"


@dataclass(frozen=True, slots=True)
class SemanticRank:
    """A hit's place in the vector arm: rank from 1, cosine in [-1, 1]."""

    rank: int
    cosine: float


@dataclass(frozen=True, slots=True)
class LexicalRank:
    """A hit's place in the lexical arm: rank from 1, BM25 score (≥ 0, unbounded)."""

    rank: int
    bm25: float


@dataclass(frozen=True, slots=True)
class RerankRank:
    """A hit's place after reranking: rank from 1, score on the reranker's own scale (higher is better)."""

    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class Provenance:
    """Why a hit is there: the label, and each arm's rank and raw score where that arm found it.

    ``exact`` is the hit's rank among exact matches of rare query terms, from 1; 0 where it is none. ``rerank`` is None
    where the hit was not reranked.
    """

    label: ProvenanceLabel
    semantic: SemanticRank | None = None
    lexical: LexicalRank | None = None
    exact: int = 0
    rerank: RerankRank | None = None

    @property
    def description(self) -> str:
        """For people: ``semantic 0.712``, ``both 0.712``, ``lexical 7.31``, ``exact match``."""
        if self.label is ProvenanceLabel.EXACT:
            return "exact match"
        if self.lexical and (self.label is ProvenanceLabel.LEXICAL or not self.semantic):
            return f"{self.label.value} {self.lexical.bm25:.2f}"
        if self.semantic:
            return f"{self.label.value} {self.semantic.cosine:.3f}"
        return self.label.value


@dataclass(frozen=True, slots=True)
class Contribution:
    """What one named ranking rule added to a hit's score."""

    rule: str
    value: float


HIDDEN_STATUSES: Final = ("superseded", "archived", "deprecated", "rejected", "withdrawn", "obsolete")
"""Documents of these are left out of a search by default."""


@dataclass(frozen=True, slots=True)
class Filters:
    """What may be searched; applied before ranking, never after. Empty means no limit.

    ``include`` and ``exclude`` are path globs (gitignore style without negation, relative to a folder; a plain word
    matches a whole path segment). ``statuses`` are those that documents must have, ``exclude_statuses`` those that
    they must not have. ``since`` and ``before`` are ISO 8601 dates of documents. ``all_statuses`` brings documents back
    that their status hides, and what ``default_exclude`` names; so do ``statuses``, for documents that have one.
    """

    folders: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()
    since: str = ""
    before: str = ""
    all_statuses: bool = False
    exclude_statuses: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A question.

    ``limit`` hits a page (1 to 100), ``cursor`` from the page before. ``graph_hops`` 0 or 1. ``max_tokens`` (0: none)
    is the budget for the text of the answer (:mod:`everfind_core.answers.text_form`). ``further`` files at most (0
    to 100) are named after the hits. ``min_score`` and ``relative_cutoff`` override the settings; None keeps them.
    ``wait_seconds`` bounds how long to wait for pending changes.
    """

    query: str
    limit: int = 10
    mode: SearchMode = SearchMode.HYBRID
    filters: Filters = field(default_factory=Filters)
    cursor: str = ""
    explain: bool = False
    rerank: bool = False
    graph_hops: int = 0
    max_tokens: int = 0
    further: int = 0
    min_score: float | None = None
    relative_cutoff: float | None = None
    wait_seconds: float = 0.0
    workspace: str = ""


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk returned for a query.

    ``score`` orders an answer: the fused score in hybrid mode, cosine or BM25 in the plain ones. ``page`` from 1; 0
    where the file has none. ``successor`` is the path of the document that replaces this one in the end; several are
    separated by commas, and one in another folder has its name before it. ``relation_to`` is the chunk id of the hit
    that brought this one, and ``relation_path`` its path, for it may not be in the answer.
    """

    chunk_id: str
    folder: str
    path: str
    absolute_path: str
    start_line: int
    end_line: int
    score: float
    provenance: Provenance
    text: str
    symbol: str = ""
    kind: str = ""
    language: str = ""
    heading: str = ""
    status: str = ""
    date: str = ""
    successor: str = ""
    page: int = 0
    tokens: int = 0
    relation: Relation | None = None
    relation_to: str = ""
    explain: tuple[Contribution, ...] = ()
    relation_path: str = ""

    @property
    def label(self) -> str:
        """Why it is there, for people: its provenance's description, or ``graph caller``."""
        if self.provenance.label is ProvenanceLabel.GRAPH and self.relation is Relation.SUCCESSOR:
            return self.relation.value
        if self.provenance.label is ProvenanceLabel.GRAPH and self.relation is not None:
            return f"{self.provenance.label.value} {self.relation.value}"
        return self.provenance.description

    @property
    def lifecycle(self) -> str:
        """What its document's life says, for people; empty if nothing.

        ``superseded → reference/auth.md; 2026-03-01`` with the parts that there are, ``successor of old/auth.md``.
        """
        if self.relation is Relation.SUCCESSOR:
            return f"successor of {self.relation_path}"
        status = f"{self.status} → {self.successor}" if self.successor else self.status
        return "; ".join(part for part in (status, self.date) if part)


@dataclass(frozen=True, slots=True)
class Abstention:
    """Why an answer is empty: the best score there was, and the threshold it did not pass."""

    best_score: float
    threshold: float


@dataclass(frozen=True, slots=True)
class Hidden:
    """Documents that matched and were left out by a rule, counted by rule; the best one's path and folder."""

    count: int = 0
    by_rule: Mapping[str, int] = field(default_factory=lambda: EMPTY_COUNTS)
    best_path: str = ""
    best_folder: str = ""


@dataclass(frozen=True, slots=True)
class Staleness:
    """Whether files changed that the answer does not know of. ``indexed_at`` is in seconds since the epoch."""

    stale: bool = False
    pending: int = 0
    indexed_at: float = 0.0


@dataclass(frozen=True, slots=True)
class FurtherFile:
    """A file of hits that passed and are not in the answer, by its best place."""

    folder: str
    path: str
    start_line: int
    end_line: int
    symbol: str = ""
    heading: str = ""


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """Hits, best first, and what they were searched in. ``left_out`` hits passed but did not fit the page or budget.

    ``further`` names files of those that were left out, best first, where the request asks for it. ``tokens`` are those
    of the answer's text where there is a budget, else of the hits' texts.

    ``unmatched`` says which filter no chunk passes, and what would match; empty where a chunk passes.

    ``intents`` are what the query was taken to ask for (``callers``, ``tests`` …), ``parts`` what a compound query was
    searched in; empty if it was searched whole.
    """

    query: str
    generation: int
    hits: tuple[Hit, ...]
    coverage: Coverage
    abstained: Abstention | None = None
    hidden: Hidden = field(default_factory=Hidden)
    staleness: Staleness = field(default_factory=Staleness)
    warnings: tuple[str, ...] = ()
    next_cursor: str = ""
    left_out: int = 0
    tokens: int = 0
    intents: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    further: tuple[FurtherFile, ...] = ()
    unmatched: str = ""
