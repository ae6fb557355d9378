"""Text reduced to its words, for comparing wordings: folded, punctuation gone, single spaces."""

from __future__ import annotations

import string

_PUNCTUATION = str.maketrans(
    dict.fromkeys(string.punctuation.replace("_", "") + "“”‘’«»…，。、；：？！（）《》【】", " ")
)


def plain_words(text: str) -> str:
    """The words of ``text`` in lower case with single spaces between: ``"Can't open {p}."`` → ``can t open p``."""
    return " ".join(text.lower().translate(_PUNCTUATION).split())
