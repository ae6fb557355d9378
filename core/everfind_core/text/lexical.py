r"""Text to search terms, for the lexical arm: the one tokenizer of index and queries.

A *word* is a run of letters, digits and ``_``, with single ``-`` inside. It gives

- its parts, split at ``_``, ``-``, case changes and between letters and digits, lightly stemmed;
- if it has several parts, also the whole without separators, not stemmed: ``getUserName``, ``get_user_name`` and
  ``get-user-name`` all give ``getusername``;
- where a part is short, that part joined to its neighbours, as people write them in one: ``graphql`` and ``qlschema``
  of ``GraphQLSchema``.

Words chained by ``.``, ``/``, ``\``, ``#``, ``::`` or ``->`` (dotted names, versions, paths) give each two neighbours
joined by ``.`` besides. Scripts without spaces between words give single characters and pairs. Emoji are terms. All is
NFKC normalised, case folded and without diacritics.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from typing import TypeAlias

from everfind_core.text.stemming import stem

REVISION = "1"
"""Changes whenever the same text could give other terms; an index made by another revision must be built again."""

MAX_TERM_LENGTH = 64
"""Characters of a term. Longer ones are cut, so two long words match by their beginnings."""

MAX_QUERY_TERMS = 128
"""Distinct terms of a query. Later ones are left out."""

_MAX_RUN = 64  # a longer run of letters and digits is read as several words
_MAX_CHAIN = 8  # likewise a longer chain of words; both bound what the cache can hold
_SHORT_PART = 2
_NAME_WEIGHT = 5  # how often a file's name counts in each of its chunks
_FIELD_WEIGHT = 2  # and a chunk's symbol and headings; fitted on the evaluation sets, where 4 and 3 do as well

_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "\u3005-\u3007\u3040-\u30fa\u30fc-\u30ff\u31f0-\u31ff"  # kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
    "\u1100-\u11ff\uac00-\ud7af"  # Hangul
)
_INDIC = "\u0900-\u0963\u0966-\u0dff"  # their vowel signs are no letters to `re`, yet stand inside words
_SYMBOLS = "\u2600-\u27bf\U0001f000-\U0001faff"
_JOINT = r"(?:[-./#\\]|::|->)"


def _chain_pattern(letter: str) -> str:
    word = rf"{letter}{{1,{_MAX_RUN}}}"
    return rf"{word}(?:{_JOINT}{word}){{0,{_MAX_CHAIN - 1}}}"


_ASCII_CHAIN = re.compile(_chain_pattern(r"\w"), re.ASCII)
_SEPARATOR = re.compile("[_-]")
_LINK = re.compile(r"[./#\\]|::|->")
_LOWER = rf"(?:[^\W\d_A-Z]|[{_INDIC}])"
_PART = re.compile(rf"[A-Z]{{2,}}s(?!{_LOWER})|[A-Z]+(?=[A-Z]{_LOWER})|[A-Z]?{_LOWER}+|[A-Z]+|\d+")
_LATIN = zip("ßẞæÆœŒøØłŁđĐı", ("ss", "SS", "ae", "AE", "oe", "OE", "o", "O", "l", "L", "d", "D", "i"), strict=True)
_FOLDED = str.maketrans(dict.fromkeys(map(chr, range(0x300, 0x370))) | dict(_LATIN))  # diacritics go, too
_STOP_WORDS = frozenset(map(stem, ("a", "an", "and", "in", "is", "of", "the", "to")))


@cache
def _wide_chain() -> re.Pattern[str]:
    """Finds chains in any text. Made where one is not ASCII: that takes longer than most commands look at terms."""
    letter = rf"(?:[^\W{_UNSPACED}{_INDIC}]|[{_INDIC}])"
    return re.compile(rf"[{_UNSPACED}{_SYMBOLS}]{{1,{_MAX_RUN}}}|{_chain_pattern(letter)}")


@cache
def _unspaced() -> re.Pattern[str]:
    """Begins a run that is read by character."""
    return re.compile(f"[{_UNSPACED}{_SYMBOLS}]")


def document_terms(text: str, *, path: str, symbol: str = "", heading: str = "") -> str:
    """The terms of a chunk and of the fields around it, separated by single spaces; what the index holds.

    ``path`` is the file's path below its folder; the file's name weighs more than its directories.
    """
    directory, _, name = path.rpartition("/")
    stem_of_name = name.rpartition(".")[0] or name
    fields = [*[symbol, heading] * _FIELD_WEIGHT, directory, name, *[stem_of_name] * (_NAME_WEIGHT - 1)]
    return " ".join(filter(None, [_text_terms(text), *map(_field_terms, fields)]))


def query_terms(query: str) -> list[str]:
    """The distinct terms of a query in order, at most ``MAX_QUERY_TERMS``; empty if it has no word at all.

    Those of the query as it is written, then those of English words for its Chinese ones.
    """
    terms = dict.fromkeys(written_terms(query))
    if not query.isascii():
        from everfind_core.text.glossary import glossed  # a question in ASCII does not wait for it

        terms |= dict.fromkeys(written_terms(glossed(query).english))
    return list(terms)[:MAX_QUERY_TERMS]


def written_terms(text: str) -> list[str]:
    """The distinct terms of a query as it is written, in order, at most ``MAX_QUERY_TERMS``.

    Stop words are left out unless there is nothing else, and so are the single characters of a longer run of a script
    without spaces: its pairs say more.
    """
    terms = dict.fromkeys(" ".join(map(_query_chain_terms, _chains(text))).split())
    telling = [term for term in terms if term not in _STOP_WORDS]
    return (telling or list(terms))[:MAX_QUERY_TERMS]


Need: TypeAlias = tuple[tuple[str, ...], ...]
"""Terms of which a text has all in one way or another: each way lists its terms."""


def phrase_needs(phrase: str) -> list[Need]:
    """What the terms of each text that has ``phrase`` word for word meet; most of those that do need not have it.

    A word may stand there in another case than in the phrase, which splits it otherwise, or inside a hyphenated word.
    Only where both come together (``X-GitHub-Event`` for *github event*) its terms can be others.
    """
    needs: list[Need] = []
    for chain in _chains(phrase):
        if _is_by_character(chain):
            needs += [((character,),) for character in chain]  # pairs may be cut apart in a long run
        else:
            needs += [need for word in _LINK.split(chain) for need in _word_needs(word)]
    return list(dict.fromkeys(needs))


def _word_needs(word: str) -> Iterator[Need]:
    pieces = [piece for piece in word.split("-") if _whole(piece)]
    hyphenated = [(_whole(word),)] if len(pieces) > 1 else []
    for piece in pieces:
        whole = _whole(piece)
        split = [tuple(stem(p) for part in w.split("_") for p in _parts(part)) for w in (piece.casefold(), piece)]
        ways = [(stem(whole),), (whole,), *split, *hyphenated]
        yield tuple(dict.fromkeys(tuple(term[:MAX_TERM_LENGTH] for term in way) for way in ways))


@lru_cache(maxsize=1 << 10)
def _field_terms(field: str) -> str:
    """Those of a field that many chunks share."""
    return _text_terms(field)


def _text_terms(text: str) -> str:
    return " ".join(filter(None, map(_chain_terms, _chains(text))))


def _chains(text: str) -> list[str]:
    """The chains of words in ``text``, and the runs that are read by character."""
    return _ASCII_CHAIN.findall(text) if text.isascii() else _wide_chain().findall(_normalised(text))


def _is_by_character(chain: str) -> bool:
    return not chain.isascii() and _unspaced().match(chain) is not None


def _normalised(text: str) -> str:
    """NFKC without diacritics."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKD", text).translate(_FOLDED))


def _terms_of_chain(chain: str) -> str:
    if _is_by_character(chain):
        return " ".join([*chain, *_pairs(chain)])
    words = _LINK.split(chain)
    terms = [term for word in words for term in _word_terms(word)]
    for left, right in pairwise(words):
        before, after = _whole(left.rpartition("-")[2]), _whole(right.partition("-")[0])
        if before and after:
            terms.append(f"{before}.{after}")
    return " ".join(term[:MAX_TERM_LENGTH] for term in terms)


_chain_terms = lru_cache(maxsize=1 << 15)(_terms_of_chain)
_asked_chain_terms = lru_cache(maxsize=1 << 10)(_terms_of_chain)
"""Apart, so that a server that is asked, and indexes little, does not fill the other with words of questions."""


def _query_chain_terms(chain: str) -> str:
    return " ".join(_pairs(chain) or [chain]) if _is_by_character(chain) else _asked_chain_terms(chain)


def _word_terms(word: str) -> Iterator[str]:
    pieces = [_parts(piece) for piece in _SEPARATOR.split(word)]
    parts = [part for piece in pieces for part in piece]
    yield from map(stem, parts)
    if len(parts) > 1:
        yield _whole(word)
    if len(parts) > 2:
        for piece in pieces:
            yield from (a + b for a, b in pairwise(piece) if min(len(a), len(b)) <= _SHORT_PART)


def _parts(piece: str) -> list[str]:
    """The folded parts of a word without separators; a digest or an encoded blob is one part."""
    if piece.isascii() and piece.isalpha() and piece.islower():  # as most are
        return [piece]
    parts = _PART.findall(piece)
    opaque = len(parts) >= 4 and len(piece) < 2.5 * len(parts)
    return [piece.casefold()] if opaque else [part.casefold() for part in parts]


def _pairs(items: Sequence[str]) -> list[str]:
    return list(map("".join, pairwise(items)))


def _whole(word: str) -> str:
    return word.replace("_", "").replace("-", "").casefold()
