"""Which language a text is written in, as far as it matters to a model that was trained on English alone. Pure.

Not a detector for any text: words tell languages apart where chunks are long, and a script is told by its letters.
"""

from __future__ import annotations

import re

_SCRIPTS = {
    "Japanese": re.compile("[\u3040-\u30ff]"),
    "Chinese": re.compile("[\u3400-\u9fff]"),
    "Korean": re.compile("[\uac00-\ud7af]"),
    "Russian or its like": re.compile("[\u0400-\u04ff]"),
    "Greek": re.compile("[\u0370-\u03ff]"),
    "Arabic": re.compile("[\u0600-\u06ff]"),
    "Hebrew": re.compile("[\u0590-\u05ff]"),
    "Hindi or its like": re.compile("[\u0900-\u097f]"),
    "Thai": re.compile("[\u0e00-\u0e7f]"),
}
_WORDS = {
    "German": "der die das und nicht ist wird werden eine mit auf für",
    "French": "les des une est dans pour avec sur qui pas cette sont",
    "Spanish": "los las una del que para con por como está también esta",
    "Portuguese": "uma não para com dos das que pelo também são mais ser",
    "Italian": "che della delle sono una per con nel gli anche questo essere",
    "Dutch": "het een van niet wordt voor met zijn deze worden naar ook",
    "Polish": "się nie jest oraz dla przez które można lub przy",
    "Turkish": "ve bir için olarak ile bu değil daha gibi olan",
}
FOREIGN_WORDS = ("的 是 の は 는 и на η και في של के", *_WORDS.values())
"""Queries of words that nearly every page in one of these languages has; together, rare words would hide the others."""

_LEAST_WORDS = 4
_LEAST_SHARE = 0.2
_LETTER = re.compile(r"[^\W\d_]")
_WORD = re.compile(r"[^\W\d_]+")
_LISTS = {name: frozenset(words.split()) for name, words in _WORDS.items()}


def foreign_language(text: str) -> str:
    """The language of ``text`` if it is surely not English, else nothing.

    A fifth of its letters are of another script, or it has four different words of one list.
    """
    letters = len(_LETTER.findall(text))
    for name, script in _SCRIPTS.items():
        if len(script.findall(text)) > _LEAST_SHARE * letters:
            return name
    words = frozenset(_WORD.findall(text.casefold()))
    most, name = max((len(words & known), name) for name, known in _LISTS.items())
    return name if most >= _LEAST_WORDS else ""
