"""Light English stemming: plurals, -ed, -ing, final -e and -y; the first step of Porter's stemmer (Program, 1980).

Nothing longer is taken off, so that ``parse``, ``parser`` and ``partial`` stay apart. Words of other alphabets or with
digits stay as they are.
"""

from __future__ import annotations

import re

_IRREGULAR = {"apis": "api", "embed": "embed", "ids": "id", "used": "use", "using": "use"}
_VOWEL = re.compile("[aeiouy]")
_CONSONANT_Y = re.compile("[^aeiou]y$")


def stem(word: str) -> str:
    """The stem of a case-folded word."""
    if len(word) < 3 or not word.isascii() or not word.isalpha():
        return word
    singular = _singular(word)
    return _IRREGULAR.get(singular) or _without_final_vowel(_without_participle(singular))


def _singular(word: str) -> str:
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is", "ias")):
        return word
    long_ending = len(word) > 4 and word.endswith(("ies", "ses", "xes", "zes", "ches", "shes"))
    return word[:-2] if long_ending else word[:-1]


def _without_participle(word: str) -> str:
    for ending in ("ing", "ed"):
        base = word.removesuffix(ending)
        if base == word or len(base) < 3 or not _VOWEL.search(base) or word.endswith("eed"):
            continue
        doubled = len(base) > 3 and base[-1] == base[-2] and base[-1] not in "lsz"
        return base[:-1] if doubled else base
    return word


def _without_final_vowel(word: str) -> str:
    if len(word) > 3 and word.endswith("e"):
        return word[:-1]
    return word[:-1] + "i" if _CONSONANT_Y.search(word) else word
