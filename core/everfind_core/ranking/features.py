"""What a chunk has to do with a query: a few typed numbers that the ranking rules weigh."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from everfind_core.plain_words import plain_words
from everfind_core.ports import StoredChunk
from everfind_core.ranking.definitions import defines
from everfind_core.ranking.paths import PathFeatures, Role, name_parts, read_path
from everfind_core.ranking.query import Name, Query

_SHORTEST_RUN = 3  # words in a row that say more than the words apart
_TELLING_RUN = 6
_MAX_RUN_WORDS = 40
_PREFIX = 3  # characters by which a word of a query may begin a part of a name, or the other way round
_BEGINNING = 0.7
_OWNER_MENTIONED = 0.75  # what a definition counts in a file that only mentions the class asked for
_OTHER_OWNER = 0.5
_JOINT = re.compile(r"\.|::|#|->|/")


@dataclass(frozen=True, slots=True)
class ChunkFeatures:
    """How a chunk fits a query. Numbers are shares from 0 to 1.

    ``definition``: it defines a name of the query. ``stem``: how much of its file's stem the query says, ``stem_exact``
    whether the stem is one of the query's names. ``path``: how much of the query stands in the directories.
    ``wording``: how long a run of the query's words stands in it as they are. ``roles`` are its file's.
    """

    definition: float
    stem: float
    stem_exact: float
    path: float
    wording: float
    roles: frozenset[Role]


class FeatureReader:
    """Reads ``chunks`` against one query; what belongs to a file is worked out once."""

    def __init__(self, query: Query, chunks: Sequence[StoredChunk]) -> None:
        self._query = query
        owners = {name.owner for name in query.names if name.owner}
        self._owned = {(c.ref, owner) for owner in owners for c in chunks if _is_defined(c, owner) == 1}
        self._names = {n.casefold().replace("_", "") for name in query.names for n in (name.last, name.owner) if n}
        self._matcher = TermMatcher(query.terms)
        self._files: dict[str, tuple[PathFeatures, ChunkFeatures]] = {}

    def read(self, chunk: StoredChunk, *, wording: bool) -> ChunkFeatures:
        """The features of ``chunk``; ``wording`` only where it is worth its time."""
        path, of_file = self._file(chunk.ref.path)
        definition = max([self._definition(chunk, path, name) for name in self._query.names], default=0.0)
        run = longest_run(self._query.words, chunk.text) if wording else 0.0
        return replace(of_file, definition=definition, wording=run) if definition or run else of_file

    def _file(self, path: str) -> tuple[PathFeatures, ChunkFeatures]:
        """What a path tells, and the features of a chunk about which nothing else is known."""
        found = self._files.get(path)
        if found is None:
            features = read_path(path)
            found = self._files[path] = (
                features,
                ChunkFeatures(
                    definition=0.0,
                    stem=part_match(features.parts, self._matcher),
                    stem_exact=float(features.stem in self._names),
                    path=len(self._query.terms & features.directories) / max(1, len(self._query.terms)),
                    wording=0.0,
                    roles=features.roles,
                ),
            )
        return found

    def _definition(self, chunk: StoredChunk, path: PathFeatures, name: Name) -> float:
        found = _is_defined(chunk, name.last)
        if not found or not name.owner:
            return found
        if (chunk.ref, name.owner) in self._owned or name_parts(name.owner)[0] == path.stem:
            return found
        return found * (_OWNER_MENTIONED if name.owner in chunk.text else _OTHER_OWNER)


class TermMatcher:
    """A query's terms, laid out for one look at how a part of a name fits any of them."""

    def __init__(self, terms: frozenset[str]) -> None:
        self._terms = terms
        self._long = tuple(term for term in terms if len(term) >= _PREFIX)
        self._prefixes = {term[:end] for term in self._long for end in range(_PREFIX, len(term))}

    def match(self, part: str) -> float:
        """1 if ``part`` is a term, less if it begins like one or the other way round (3 characters or more), else 0."""
        if part in self._terms:
            return 1.0
        begins = len(part) >= _PREFIX and (part in self._prefixes or part.startswith(self._long))
        return _BEGINNING if begins else 0.0


def part_match(parts: Sequence[str], terms: TermMatcher) -> float:
    """The share of ``parts`` that ``terms`` have; less for one that only begins like a term."""
    return sum(map(terms.match, parts)) / len(parts) if parts else 0.0


def longest_run(words: Sequence[str], text: str) -> float:
    """How long a run of ``words`` stands in ``text``, from 0 (below three) to 1 (all of them, or six)."""
    words = words[:_MAX_RUN_WORDS]
    if len(words) < _SHORTEST_RUN:
        return 0.0
    if not _may_have_run(words, text.lower()):
        return 0.0
    plain = f" {plain_words(text)} "
    best = _SHORTEST_RUN - 1
    for start in range(len(words)):
        while start + best < len(words) and f" {' '.join(words[start : start + best + 1])} " in plain:
            best += 1
    shortest = _SHORTEST_RUN - 1
    return min(1.0, (best - shortest) / (min(len(words), _TELLING_RUN) - shortest))


def _may_have_run(words: Sequence[str], lowered: str) -> bool:
    """Whether enough words in a row stand in a text at all: spares most texts from being read word by word."""
    there = [word in lowered for word in words]
    return any(all(there[n : n + _SHORTEST_RUN]) for n in range(len(there) - _SHORTEST_RUN + 1))


def _is_defined(chunk: StoredChunk, name: str) -> float:
    symbol = chunk.symbol
    return 1.0 if name in symbol and name in _JOINT.split(symbol) else defines(chunk.text, name)
