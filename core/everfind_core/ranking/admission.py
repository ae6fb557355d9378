"""Which of the ranked hits an answer may show, and when it must say that there is nothing. Pure.

Ranks say what is best, never whether it is any good; that takes absolute evidence:

- of an *answer*: how near its best chunk is by meaning, how near its first ten are on average (high only where both
  arms agree), and how much of the query's words its best chunk has: that tells most in code, whose words are names, and
  little in prose. Their sum must reach the model's floor, after what a corpus of its size has near by chance is taken
  off.
- of a *hit*, where a caller or the settings say ``min_score``: its own cosine. Then the answer's floor is off.
- an exact match is evidence by itself, for the chunks that have it: the whole query or a phrase in quotation marks word
  for word, a rare word that the query spells like a name, or the one or two words of which it consists, if one of
  them is rare.
- a chunk that waits for its vector is judged by its words alone: how much of the query's words it has stands for its
  cosine, and where that reaches further than the rest, for the evidence of the answer.

Figures: docs/benchmarks.md, Silence.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from everfind_core.model import FileRef
from everfind_core.ports import StoredChunk
from everfind_core.ranking.combine import Candidate
from everfind_core.ranking.query import read_query
from everfind_core.text.function_words import FUNCTION_WORDS
from everfind_core.text.glossary import glossed
from everfind_core.text.lexical import query_terms, written_terms
from everfind_core.text.plain_words import plain_words

FIRST = 10
_CHUNKS_FOR_EACH = 20  # a small corpus has few chunks about anything: so many chunks for each of the first hits
_READ = 50  # ranked chunks whose words are looked at
AGREEMENT = 0.4
_WORDS_IN_CODE = 1.0
_WORDS_IN_PROSE = 0.25
_WORDS_OF_ANY_CODE = 0.08  # what a question's words give by chance in code
_WORDS_OF_ANY_PROSE = 0.03  # and in prose
_CHANCE = 0.05  # so much nearer comes the nearest for each ten times as many chunks
_CHANCE_FROM, _CHANCE_TO, _CHANCE_AT = 100, 20_000, 1_000  # the sizes it was measured on, and the one where it is 0
_CODE = 0.3  # of the first ten, so many functions and the like make it an answer in code
_WORDS_ALONE = 3.7
_GLOSSED = 0.5  # an English word for a Chinese one counts so much of a word of the question
_TERM_MOST = 2.2  # what one occurrence-saturated term adds at most, in units of its idf: k1 + 1 of BM25 with k1 = 1.2
_SHORT_TERM = 3
_MOSTLY = 0.5
_QUOTED = 5  # so many words in a row, as they stand in a text, are a quotation: a message of a log with other values
_QUOTED_SUBJECTS = 3
_MOST_QUOTED = 50

TAIL = 0.25
"""Of the best fused score: fewer than one relevant hit in 200 lies below it, and up to a third of what fills a page."""
OF_A_FILE = 3
"""Hits of one file in an answer; ranking lets hardly more through, but exact matches pass whatever their rank."""
RARE_LEAST = 5
RARE_RATIO = 0.001
EXACT_SHARE = 0.3

_FOREIGN = re.compile(r"[^\W\d_\u0000-\u024f\u1e00-\u1eff]")
_LETTER = re.compile(r"[^\W\d_]")
_WORD = re.compile(r"\w(?:[^\s]*\w)?")
_NAME = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|::|#|->|-)[A-Za-z_$~][\w$]*)*", re.ASCII)
_FILE_NAME = re.compile(r"(?<![^\s`\"'(\[/])[\w-]+\.[A-Za-z][A-Za-z\d]{0,4}(?!\.?\w)")
_SPELLED = re.compile(r"[^_]_[^_]|[a-z\d][A-Z]|[A-Z]{2}[a-z]{2}|[A-Za-z]\d{2}|::|->|#", re.ASCII)


@dataclass(frozen=True, slots=True)
class Limits:
    """What the evidence must reach; None and 0 are no limit.

    ``floor`` for an answer as a whole. ``min_score`` and ``relative_cutoff`` (a share of the best) for each hit's
    cosine. ``english_only``: the model knows no other script, so that for a query in one only words count. ``tail`` is
    the share of the best hit's fused score below which a hit only fills the page. ``of_a_file`` hits of one at most.
    """

    floor: float | None = None
    min_score: float | None = None
    relative_cutoff: float = 0.0
    english_only: bool = False
    tail: float = 0.0
    of_a_file: int = 0


@dataclass(frozen=True, slots=True)
class Admission:
    """The outcome: which ranked chunks are ``kept``, by their places; ``exact`` ranks those with a rare exact match.

    ``best`` is the highest score that was compared with ``threshold``. ``alone`` are kept for their exact match only.
    Where nothing could be ``judged``, all were kept unseen. Those in ``waiting`` have no vector yet.
    """

    kept: Sequence[int]
    best: float
    threshold: float
    exact: Mapping[int, int] = field(default_factory=dict)
    alone: frozenset[int] = frozenset()
    judged: bool = True
    waiting: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Reading:
    """Ranked chunks as evidence is looked for in them, best first.

    ``cosines`` are 0 where the semantic arm found nothing, ``code`` is 1 where enough of the first ten are functions
    and the like, 0 where none is, ``bm25`` the best BM25 score. ``texts`` and ``refs`` are those of the first ``_READ``
    that were found by words, by their places: path, symbol, headings and text, folded.
    """

    cosines: Sequence[float]
    code: float
    bm25: float
    texts: Mapping[int, str]
    refs: Mapping[int, FileRef]

    @classmethod
    def of(cls, ranked: Sequence[Candidate]) -> Reading:
        """Read ``ranked``, each text once."""
        by_words = {place: one.chunk for place, one in enumerate(ranked[:_READ]) if one.bm25 is not None}
        return cls(
            [one.cosine or 0.0 for one in ranked],
            _code([one.chunk for one in ranked[:FIRST]]),
            max((one.bm25 for one in ranked if one.bm25 is not None), default=0.0),
            {place: _folded(chunk) for place, chunk in by_words.items()},
            {place: chunk.ref for place, chunk in by_words.items()},
        )


def admit(
    text: str, ranked: Sequence[Candidate], limits: Limits, chunks: int, unembedded: frozenset[FileRef] = frozenset()
) -> Admission:
    """Which of ``ranked``, best first, may answer the query ``text`` over ``chunks`` searched chunks.

    ``unembedded`` are files of which chunks wait for their vectors.
    """
    best = max((one.cosine for one in ranked if one.cosine is not None), default=0.0)
    read = Reading.of(ranked)
    matches = exact_matches(text, read, chunks)
    by_words = _by_words_alone(text, ranked, read, chunks, unembedded)
    compared, threshold, answered, judged = best, limits.min_score or 0.0, True, True
    if limits.min_score is None and limits.floor is not None:
        found = evidence(text, read, chunks, english_only=limits.english_only)
        compared, threshold, judged = max(found.score, *by_words.values(), 0.0), limits.floor, found.judged
        answered = compared >= threshold or not judged
    least = _least_cosine(limits, best)
    passing = _passing(ranked, by_words, least) if answered else []
    kept = _with_exact(passing, matches)
    exact = {place: rank for rank, place in enumerate(matches, start=1)}
    return Admission(
        kept, compared, threshold, exact, frozenset(kept) - frozenset(passing), judged, frozenset(by_words)
    )


@dataclass(frozen=True, slots=True)
class Evidence:
    """How much there is for an answer, on the scale of cosines; whether it can be ``judged`` at all."""

    score: float
    judged: bool = True


def evidence(text: str, read: Reading, chunks: int, *, english_only: bool) -> Evidence:
    """The evidence for an answer.

    A hit that the semantic arm did not find counts as 0 in the mean. The share of a query that is written in a script
    unknown to the model is judged by its words alone. Where none of them stands in the index, the query is judged as
    one in the English words that it has for them; without such, nothing can judge it.
    """
    if english_only:
        text = _in_known_words(text, read)
    first = read.cosines[: min(FIRST, max(1, chunks // _CHUNKS_FOR_EACH))]
    words = word_share(text, read, chunks)
    mean = sum(first) / max(1, len(first))
    by_meaning = (1 - AGREEMENT) * max(read.cosines, default=0.0) + AGREEMENT * mean - chance(chunks)
    in_code, in_prose = _WORDS_IN_CODE * words - _WORDS_OF_ANY_CODE, _WORDS_IN_PROSE * words - _WORDS_OF_ANY_PROSE
    both = by_meaning + read.code * in_code + (1 - read.code) * in_prose
    foreign = foreign_share(text) if english_only else 0.0
    score = (1 - foreign) * both + foreign * _WORDS_ALONE * words
    return Evidence(score, judged=foreign < _MOSTLY or _foreign_word_found(text, read))


def chance(chunks: int) -> float:
    """How much nearer than among a thousand the nearest of so many ``chunks`` is to any question; less is negative."""
    return _CHANCE * math.log10(min(max(chunks, _CHANCE_FROM), _CHANCE_TO) / _CHANCE_AT)


def word_share(text: str, read: Reading, chunks: int) -> float:
    """The best BM25 score as a share of what a chunk with all the query's words could have, 0 to 1.

    How rare a word is shows among the chunks found by words: what is rare stands in few of them.
    """
    most = _most_bm25(text, read, chunks)
    return min(1.0, read.bm25 / most) if most > 0 else 0.0


def _most_bm25(text: str, read: Reading, chunks: int) -> float:
    """The BM25 score that a chunk with all the query's words could have.

    English words for Chinese ones count where they were found at all: an index in Chinese need not have them.
    """
    texts = read.texts.values()
    written = written_terms(text)
    most = sum(_rarity(_having(term, texts), chunks) for term in written)
    glosses = [_having(term, texts) for term in query_terms(text) if term not in written]
    return _TERM_MOST * (most + _GLOSSED * sum(_rarity(count, chunks) for count in glosses if count))


def _by_words_alone(
    text: str, ranked: Sequence[Candidate], read: Reading, chunks: int, unembedded: frozenset[FileRef]
) -> dict[int, float]:
    """What stands for the cosines of chunks that wait for their vectors, by their places."""
    if not unembedded:
        return {}
    waiting = {
        place: one.bm25 or 0.0 for place, one in enumerate(ranked) if one.cosine is None and one.chunk.ref in unembedded
    }
    most = _most_bm25(text, read, chunks) if waiting else 0.0
    return {place: min(1.0, _WORDS_ALONE * bm25 / most) if most > 0 else 0.0 for place, bm25 in waiting.items()}


def foreign_share(text: str) -> float:
    """The share of letters that are not Latin, 0 to 1."""
    return len(_FOREIGN.findall(text)) / max(1, len(_LETTER.findall(text)))


def exact_matches(text: str, read: Reading, chunks: int) -> list[int]:
    """Places of the chunks that have the query or a phrase that it quotes word for word, or telling words, in order.

    Of words that tell together one must be rare: in at most ``max(RARE_LEAST, RARE_RATIO * chunks)`` chunks and in no
    more than half; one chunk always is few. The name of a file is rare by the files that have it, and matches all their
    chunks.
    """
    most = max(1.0, min(max(RARE_LEAST, RARE_RATIO * chunks), chunks / 2))
    said = [*_phrases(plain_words(text).split()), *(p for p in read_query(text).phrases if " " in p)]
    phrases = [(phrase, max(phrase.split(), key=len)) for phrase in said]
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
    pattern = _alone(word, r"\w")
    return {place for place, t in read.texts.items() if pattern.search(t)}


def _least_cosine(limits: Limits, best: float) -> float | None:
    """The highest of the limits on each hit; None if there is none."""
    absolute = limits.min_score if limits.min_score is not None and limits.min_score > -1 else None
    relative = limits.relative_cutoff * best if limits.relative_cutoff else None
    return max((limit for limit in (absolute, relative) if limit is not None), default=None)


def _passing(ranked: Sequence[Candidate], by_words: Mapping[int, float], least: float | None) -> list[int]:
    """The places that reach a limit on cosines: it speaks of what the semantic arm found, and no other reaches it."""
    if least is None:
        return list(range(len(ranked)))
    cosines = ((place, by_words.get(place, one.cosine)) for place, one in enumerate(ranked))
    return [place for place, cosine in cosines if cosine is not None and cosine >= least]


def _with_exact(passing: Sequence[int], matches: Sequence[int]) -> list[int]:
    """Exact matches stay although they do not pass: a share beside the rest, a page where there is no rest."""
    others = set(passing)
    alone = [place for place in matches if place not in others]
    most = max(FIRST, len(passing)) * EXACT_SHARE if passing else FIRST
    return sorted([*passing, *alone[: int(most)]])


def _code(first: Sequence[StoredChunk]) -> float:
    """1 where enough of the first chunks are functions and the like, 0 where none is."""
    share = sum(bool(chunk.kind) for chunk in first) / max(1, len(first))
    return min(1.0, share / _CODE)


def _base_name(ref: FileRef) -> str:
    return ref.path.rpartition("/")[2].casefold()


def _folded(chunk: StoredChunk) -> str:
    return f"{chunk.ref.path} {chunk.symbol} {chunk.heading} {chunk.text}".casefold()


def _in_known_words(text: str, read: Reading) -> str:
    """A query of which no word stands in the index, in its English words where most of it has such."""
    if foreign_share(text) < _MOSTLY or _foreign_word_found(text, read):
        return text
    in_english = glossed(text)
    return in_english.english if in_english.known >= _MOSTLY else text


def _foreign_word_found(text: str, read: Reading) -> bool:
    terms = [term for term in written_terms(text) if _FOREIGN.search(term)]
    return any(term in t for term in terms for t in read.texts.values())


def _phrases(words: Sequence[str]) -> list[str]:
    """The whole query, and every run of ``_QUOTED`` words in it of which at least three carry a subject."""
    runs = [words[start : start + _QUOTED] for start in range(max(0, len(words) - _QUOTED + 1))]
    telling = [run for run in runs if sum(word not in FUNCTION_WORDS for word in run) >= _QUOTED_SUBJECTS]
    return [" ".join(run) for run in (words, *telling[:_MOST_QUOTED]) if run]


def _has_phrase(text: str, phrases: Sequence[tuple[str, str]]) -> bool:
    """Whether one of ``phrases`` stands in ``text`` word for word; the look for its longest word spares most work."""
    possible = [phrase for phrase, longest in phrases if longest in text]
    plain = f" {plain_words(text)} " if possible else ""
    return any(f" {phrase} " in plain for phrase in possible)


def _rarity(count: int, chunks: int) -> float:
    return math.log(1 + (chunks + 0.5) / (count + 0.5))


def _having(term: str, texts: Iterable[str]) -> int:
    """How many of ``texts`` have a term.

    It is a stem: it may stand inside a word, but a short one only alone; a final ``i`` may have been a ``y``.
    """
    if term.isascii() and len(term) <= _SHORT_TERM:
        pattern = _alone(term, r"[^\W\d_]")
        return sum(pattern.search(t) is not None for t in texts)
    if not term.endswith("i"):
        return sum(term in t for t in texts)
    other = f"{term[:-1]}y"
    return sum(term in t or other in t for t in texts)


def _alone(word: str, letter: str) -> re.Pattern[str]:
    """Finds ``word`` between characters that are no ``letter``; begins with the word itself, for which `re` is fast."""
    escaped = re.escape(word)
    return re.compile(rf"{escaped}(?<!{letter}{escaped})(?!{letter})")
