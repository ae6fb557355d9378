"""The ranking rules: small pure functions from a query and chunks' features to what each adds to their scores.

Sources: name, stem and path matches, demotions and file coherence are what code search systems found to matter
(Sourcegraph's Zoekt scores symbol and file name matches; the semble project publishes an ablation of the others).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from everfind_core.ranking.features import Column, Features
from everfind_core.ranking.paths import Role
from everfind_core.ranking.query import Intent, Query
from everfind_core.ranking.weights import Weights

RuleFunction: TypeAlias = Callable[[Query, Features, Weights], Column]
"""What a rule adds to each chunk's score; 0 where it does not apply."""


@dataclass(frozen=True, slots=True)
class Demotion:
    """A chunk of a file with ``role`` loses a ``share`` of its score, unless the query has one of the intents."""

    name: str
    role: Role
    unless: frozenset[Intent]
    share: Callable[[Weights], float]


def definition(query: Query, chunks: Features, weights: Weights) -> Column:
    """The chunk defines a name of the query. Counts most where the query is but that name."""
    most = weights.definition_asked_for if query.short else weights.definition_in_sentence
    return most * chunks.definition


def file_stem(query: Query, chunks: Features, weights: Weights) -> Column:
    """The query says the file's stem: in parts in a sentence, as a whole where it names an identifier."""
    return weights.stem * (chunks.stem_exact if query.coded and query.short else chunks.stem)


def directories(_: Query, chunks: Features, weights: Weights) -> Column:
    """The query's words name the file's directories."""
    return weights.path * chunks.path


def wording(_: Query, chunks: Features, weights: Weights) -> Column:
    """The chunk has the query's words in a row, as a message or a title does."""
    return weights.wording * chunks.wording


def quoted(_: Query, chunks: Features, weights: Weights) -> Column:
    """The chunk has, word for word, what the query puts in quotation marks."""
    return weights.quoted * chunks.quoted


RULES: tuple[tuple[str, RuleFunction], ...] = (
    ("definition", definition),
    ("file stem", file_stem),
    ("directories", directories),
    ("wording", wording),
    ("quoted", quoted),
)

DEMOTIONS = (
    Demotion("test", Role.TEST, frozenset({Intent.TESTS}), lambda w: w.test),
    Demotion("example", Role.EXAMPLE, frozenset({Intent.EXAMPLES, Intent.DOCUMENTATION}), lambda w: w.example),
    Demotion("legacy", Role.LEGACY, frozenset({Intent.LEGACY}), lambda w: w.legacy),
    Demotion("generated", Role.GENERATED, frozenset({Intent.GENERATED}), lambda w: w.generated),
    Demotion("record", Role.RECORD, frozenset({Intent.RECORDS}), lambda w: w.record),
    Demotion("internal", Role.INTERNAL, frozenset({Intent.INTERNALS}), lambda w: w.internal),
    Demotion("index file", Role.INDEX, frozenset(), lambda w: w.index),
)
