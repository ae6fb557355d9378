"""What chunks have to do with a query: a few columns of numbers that the ranking rules weigh."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from everfind_core.model import FileRef
from everfind_core.ports import StoredChunk
from everfind_core.ranking.definitions import defines
from everfind_core.ranking.paths import PathFeatures, Role, name_parts, read_path
from everfind_core.ranking.query import Name, Query
from everfind_core.text.plain_words import plain_words, says

_SHORTEST_RUN = 3  # words in a row that say more than the words apart
_TELLING_RUN = 6
_MAX_RUN_WORDS = 40
_PREFIX = 3  # characters by which a word of a query may begin a part of a name, or the other way round
_BEGINNING = 0.7
_OWNER_MENTIONED = 0.75  # what a definition counts in a file that only mentions the class asked for
_OTHER_OWNER = 0.5
_JOINT = re.compile(r"\.|::|#|->|/")

Column: TypeAlias = npt.NDArray[np.float64]
"""A number for each chunk, of shape (chunks,)."""


@dataclass(frozen=True, slots=True)
class Features:
    """How each of several chunks fits a query, in their order. Numbers are shares from 0 to 1.

    ``definition``: it defines a name of the query. ``stem``: how much of its file's stem the query says, ``stem_exact``
    whether the stem is one of the query's names. ``path``: how much of the query stands in the directories.
    ``wording``: how long a run of the query's words stands in it as they are. ``quoted``: how many of the phrases that
    the query has in quotation marks. ``roles`` are its file's.
    """

    definition: Column
    stem: Column
    stem_exact: Column
    path: Column
    wording: Column
    quoted: Column
    roles: Sequence[frozenset[Role]]


def read_features(
    query: Query, chunks: Sequence[StoredChunk], files: Sequence[int], promising: Sequence[int]
) -> Features:
    """The features of ``chunks``, whose ``files`` are numbered; what belongs to a file is worked out once.

    Wordings are looked for only at the places ``promising``, which are worth the time.
    """
    paths = [read_path(path) for path in {n: chunk.ref.path for n, chunk in zip(files, chunks, strict=True)}.values()]
    matcher = TermMatcher(query.terms)
    names = {n.casefold().replace("_", "") for name in query.names for n in (name.last, name.owner) if n}
    return Features(
        definition=_definitions(query, chunks, [paths[n] for n in files]),
        stem=np.array([part_match(path.parts, matcher) for path in paths])[files],
        stem_exact=np.array([float(path.stem in names) for path in paths])[files],
        path=np.array([len(query.terms & path.directories) for path in paths])[files] / max(1, len(query.terms)),
        wording=_wordings(query, chunks, promising),
        quoted=_quotations(query, chunks),
        roles=[paths[n].roles for n in files],
    )


def _definitions(query: Query, chunks: Sequence[StoredChunk], paths: Sequence[PathFeatures]) -> Column:
    """How surely each chunk defines a name of the query. Most do not even hold one."""
    found = np.zeros(len(chunks))
    owners = {name.owner for name in query.names if name.owner}
    owned = {
        (chunks[n].ref, owner)
        for owner in owners
        for n in _holding(chunks, owner)
        if _is_defined(chunks[n], owner) == 1
    }
    for name in query.names:
        for n in _holding(chunks, name.last):
            found[n] = max(found[n], _definition(chunks[n], paths[n], name, owned))
    return found


def _holding(chunks: Sequence[StoredChunk], name: str) -> list[int]:
    """Places of the chunks in which ``name`` stands at all."""
    return [n for n, chunk in enumerate(chunks) if name in chunk.text or name in chunk.symbol]


def _definition(chunk: StoredChunk, path: PathFeatures, name: Name, owned: set[tuple[FileRef, str]]) -> float:
    found = _is_defined(chunk, name.last)
    if not found or not name.owner:
        return found
    if (chunk.ref, name.owner) in owned or name_parts(name.owner)[0] == path.stem:
        return found
    return found * (_OWNER_MENTIONED if name.owner in chunk.text else _OTHER_OWNER)


def _wordings(query: Query, chunks: Sequence[StoredChunk], promising: Sequence[int]) -> Column:
    found = np.zeros(len(chunks))
    words = query.words[:_MAX_RUN_WORDS]
    if len(words) >= _SHORTEST_RUN:
        for n in promising:
            found[n] = longest_run(words, chunks[n].text)
    return found


def _quotations(query: Query, chunks: Sequence[StoredChunk]) -> Column:
    if not query.phrases:
        return np.zeros(len(chunks))
    return np.array([phrase_share(query.phrases, chunk.text) for chunk in chunks])


class TermMatcher(dict[str, float]):
    """How a part of a name fits any of a query's terms: 1 if it is one, less if it begins like one or the other way
    round (3 characters or more), else 0. Each part is looked at once: files share most parts of their names.
    """

    def __init__(self, terms: frozenset[str]) -> None:
        super().__init__(dict.fromkeys(terms, 1.0))
        self._long = tuple(term for term in terms if len(term) >= _PREFIX)
        self._prefixes = {term[:end] for term in self._long for end in range(_PREFIX, len(term))}

    def __missing__(self, part: str) -> float:
        begins = len(part) >= _PREFIX and (part in self._prefixes or part.startswith(self._long))
        self[part] = share = _BEGINNING if begins else 0.0
        return share


def part_match(parts: Sequence[str], terms: TermMatcher) -> float:
    """The share of ``parts`` that ``terms`` have; less for one that only begins like a term."""
    return sum(map(terms.__getitem__, parts)) / len(parts) if parts else 0.0


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


def phrase_share(phrases: Sequence[str], text: str) -> float:
    """The share of ``phrases`` (folded words with single spaces between) that stand in ``text`` word for word."""
    return sum(says(text, phrase) for phrase in phrases) / len(phrases) if phrases else 0.0


def _may_have_run(words: Sequence[str], lowered: str) -> bool:
    """Whether enough words in a row stand in a text at all: spares most texts from being read word by word."""
    if not any(map(lowered.__contains__, words[_SHORTEST_RUN - 1 :: _SHORTEST_RUN])):  # each run holds one of these
        return False
    run = 0
    for there in map(lowered.__contains__, words):
        run = run + 1 if there else 0
        if run == _SHORTEST_RUN:
            return True
    return False


def _is_defined(chunk: StoredChunk, name: str) -> float:
    symbol = chunk.symbol
    return 1.0 if name in symbol and name in _JOINT.split(symbol) else defines(chunk.text, name)
