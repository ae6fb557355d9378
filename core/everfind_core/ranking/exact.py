"""Exact matches: chunks that have a query, a phrase or a telling word of it as it is, whatever their ranks. Pure.

They are evidence by themselves. Figures: docs/benchmarks.md, Silence.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from everfind_core.model import FileRef
from everfind_core.ranking.query import read_query
from everfind_core.ranking.reading import Reading, standing_alone
from everfind_core.text.function_words import FUNCTION_WORDS
from everfind_core.text.lexical import query_terms
from everfind_core.text.plain_words import plain_words, stands_in

RARE_LEAST = 5
RARE_RATIO = 0.001
_QUOTED = 5  # so many words in a row, as they stand in a text, are a quotation: a message of a log with other values
_QUOTED_SUBJECTS = 3
_MOST_QUOTED = 50

_WORD = re.compile(r"\w(?:[^\s]*\w)?")
_NAME = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|::|#|->|-)[A-Za-z_$~][\w$]*)*", re.ASCII)
_FILE_NAME = re.compile(r"(?<![^\s`\"'(\[/])[\w-]+\.[A-Za-z][A-Za-z\d]{0,4}(?!\.?\w)")
_SPELLED = re.compile(r"[^_]_[^_]|[a-z\d][A-Z]|[A-Z]{2}[a-z]{2}|[A-Za-z]\d{2}|::|->|#", re.ASCII)


def exact_matches(text: str, read: Reading, chunks: int) -> list[int]:
    """Places of the chunks that have the query or a phrase that it quotes word for word, or telling words, in order.

    Of words that tell together one must be rare: in at most ``max(RARE_LEAST, RARE_RATIO * chunks)`` chunks and in no
    more than half; one chunk always is few. The name of a file is rare by the files that have it, and matches all their
    chunks.
    """
    most = max(1.0, min(max(RARE_LEAST, RARE_RATIO * chunks), chunks / 2))
    said = [*_phrases(plain_words(text).split()), *(p for p in read_query(text).phrases if len(query_terms(p)) > 1)]
    phrases = [(phrase, sorted(set(phrase.split()), key=len, reverse=True)) for phrase in said]
    places = {place for place, t in read.texts.items() if _has_phrase(t, phrases)}
    for words in telling_words(text):
        having = [_places_of(word.casefold(), read) for word in words]
        if min(map(len, having)) <= most:
            places.update(set.intersection(*having))
    for name in file_names(text):
        named = {place: ref for place, ref in read.refs.items() if _base_name(ref) == name}
        if len(set(named.values())) <= most:
            places.update(named)
    return sorted(places)


def file_names(text: str) -> set[str]:
    """Words of a query that a file may be called, folded."""
    return {name.casefold() for name in _FILE_NAME.findall(text)}


def telling_words(text: str) -> list[tuple[str, ...]]:
    """Words of a query that can be evidence: each that is spelled like a name, and all there is of a short query.

    Words of a tuple tell together only: one of two may stand anywhere, in another sense.
    """
    spelled: list[tuple[str, ...]] = [(name,) for name in _NAME.findall(text) if _SPELLED.search(name)]
    if not read_query(text).short:
        return spelled
    words = tuple(word for word in _WORD.findall(text) if len(word) > 1 and word.casefold() not in FUNCTION_WORDS)
    return list(dict.fromkeys([*spelled, words])) if words else spelled


def _places_of(word: str, read: Reading) -> set[int]:
    """Places of the chunks that have a folded word as it is."""
    pattern = standing_alone(word, r"\w")
    return {place for place, t in read.texts.items() if pattern.search(t)}


def _phrases(words: Sequence[str]) -> list[str]:
    """The whole query, and every run of ``_QUOTED`` words in it of which at least three carry a subject."""
    runs = [words[start : start + _QUOTED] for start in range(max(0, len(words) - _QUOTED + 1))]
    telling = [run for run in runs if sum(word not in FUNCTION_WORDS for word in run) >= _QUOTED_SUBJECTS]
    return [" ".join(run) for run in (words, *telling[:_MOST_QUOTED]) if run]


def _has_phrase(text: str, phrases: Sequence[tuple[str, Sequence[str]]]) -> bool:
    """Whether one of ``phrases`` stands in ``text`` word for word; the look for its words spares most work."""
    possible = [phrase for phrase, words in phrases if all(map(text.__contains__, words))]
    plain = plain_words(text) if possible else ""
    return any(stands_in(phrase, plain) for phrase in possible)


def _base_name(ref: FileRef) -> str:
    return ref.path.rpartition("/")[2].casefold()
