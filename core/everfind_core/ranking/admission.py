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
from everfind_core.ranking.combine import Candidate
from everfind_core.ranking.exact import exact_matches
from everfind_core.ranking.reading import FIRST, Reading, standing_alone
from everfind_core.text.glossary import glossed
from everfind_core.text.lexical import query_terms, written_terms

_CHUNKS_FOR_EACH = 20  # a small corpus has few chunks about anything: so many chunks for each of the first hits
AGREEMENT = 0.4
_WORDS_IN_CODE = 1.0
_WORDS_IN_PROSE = 0.25
_WORDS_OF_ANY_CODE = 0.08  # the share of its words that a question has in code by chance
_CHANCE = 0.05  # so much nearer comes the nearest for each ten times as many chunks
_CHANCE_FROM, _CHANCE_TO, _CHANCE_AT = 100, 20_000, 1_000  # the sizes it was measured on, and the one where it is 0
_WORDS_ALONE = 3.7
_GLOSSED = 0.5  # an English word for a Chinese one counts so much of a word of the question
_TERM_MOST = 2.2  # what one occurrence-saturated term adds at most, in units of its idf: k1 + 1 of BM25 with k1 = 1.2
_SHORT_TERM = 3
_MOSTLY = 0.5

TAIL = 0.25
"""Of the best fused score: fewer than one relevant hit in 200 lies below it, and up to a third of what fills a page."""
OF_A_FILE = 3
"""Hits of one file in an answer; ranking lets hardly more through, but exact matches pass whatever their rank."""
EXACT_SHARE = 0.3

_FOREIGN = re.compile(r"[^\W\d_\u0000-\u024f\u1e00-\u1eff]")
_LETTER = re.compile(r"[^\W\d_]")


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
    in_code, in_prose = _WORDS_IN_CODE * words - _WORDS_OF_ANY_CODE, _WORDS_IN_PROSE * words
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


def _in_known_words(text: str, read: Reading) -> str:
    """A query of which no word stands in the index, in its English words where most of it has such."""
    if foreign_share(text) < _MOSTLY or _foreign_word_found(text, read):
        return text
    in_english = glossed(text)
    return in_english.english if in_english.known >= _MOSTLY else text


def _foreign_word_found(text: str, read: Reading) -> bool:
    terms = [term for term in written_terms(text) if _FOREIGN.search(term)]
    return any(term in t for term in terms for t in read.texts.values())


def _rarity(count: int, chunks: int) -> float:
    return math.log(1 + (chunks + 0.5) / (count + 0.5))


def _having(term: str, texts: Iterable[str]) -> int:
    """How many of ``texts`` have a term.

    It is a stem: it may stand inside a word, but a short one only alone; a final ``i`` may have been a ``y``.
    """
    if term.isascii() and len(term) <= _SHORT_TERM:
        pattern = standing_alone(term, r"[^\W\d_]")
        return sum(pattern.search(t) is not None for t in texts)
    if not term.endswith("i"):
        return sum(term in t for t in texts)
    other = f"{term[:-1]}y"
    return sum(term in t or other in t for t in texts)
