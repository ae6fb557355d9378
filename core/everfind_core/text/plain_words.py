"""Text reduced to its words, for comparing wordings: folded, punctuation gone, single spaces."""

from __future__ import annotations

import re
import string

_PUNCTUATION = str.maketrans(
    dict.fromkeys(string.punctuation.replace("_", "") + "“”‘’«»…，。、；：？！（）《》【】", " ")
)

CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
"""A Chinese, Japanese or Korean character: words in them have no borders."""


def plain_words(text: str) -> str:
    """The words of ``text`` in lower case with single spaces between: ``"Can't open {p}."`` → ``can t open p``."""
    return " ".join(text.lower().translate(_PUNCTUATION).split())


def stands_in(phrase: str, plain: str) -> bool:
    """Whether the words of ``phrase`` stand in ``plain`` one after the other, both as :func:`plain_words` gives them.

    Chinese, Japanese and Korean words have no borders, so that what stands beside such a phrase may be any.
    """
    if not phrase:
        return False
    before, after = ("" if CJK.match(end) else " " for end in (phrase[0], phrase[-1]))
    return f"{before}{phrase}{after}" in f" {plain} "


def says(text: str, phrase: str) -> bool:
    """Whether ``text`` has the words of ``phrase``, which are plain, one after the other."""
    lowered = text.lower()
    return all(word in lowered for word in phrase.split()) and stands_in(phrase, plain_words(text))
