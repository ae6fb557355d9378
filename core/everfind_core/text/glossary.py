"""English words for Chinese ones, so that a Chinese question finds what is written in English.

A table of the words of computing (``glossary.txt``: a Chinese word and its English ones a line), and no translation:
the longest known word at each place counts, the order stays, what is unknown is left out. Where all that is known are
words like *how*, nothing is: they say nothing of the question's subject.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

from everfind_core.text.function_words import FUNCTION_WORDS

_HAN = re.compile("[\u3400-\u9fff]+")
_KANA = re.compile("[\u3040-\u30ff]")
_PUNCTUATION = str.maketrans(dict.fromkeys("，。、；：？！（）《》【】“”‘’", " "))


@dataclass(frozen=True, slots=True)
class Glossed:
    """A question in English words, and the share of its Chinese characters that the table knows, 0 to 1."""

    english: str
    known: float


@lru_cache(maxsize=256)
def glossed(text: str) -> Glossed:
    """``text`` with its Chinese words in English, other words as they stand; Japanese is not read."""
    runs = [] if _KANA.search(text) else list(_HAN.finditer(text))
    if not runs:
        return Glossed(text, 0.0)
    words = [_known_words(run.group()) for run in runs]
    if not any(_tells(_table()[word]) for found in words for word in found):
        words = [[] for _ in runs]
    pieces, end = [], 0
    for run, found in zip(runs, words, strict=True):
        pieces += [text[end : run.start()], *[_table()[word] for word in found]]
        end = run.end()
    pieces.append(text[end:])
    known = sum(len(word) for found in words for word in found)
    characters = sum(run.end() - run.start() for run in runs)
    return Glossed(" ".join(" ".join(pieces).translate(_PUNCTUATION).split()), known / characters)


def _tells(english: str) -> bool:
    """Whether English words say something of a subject."""
    return not FUNCTION_WORDS.issuperset(english.split())


def _known_words(run: str) -> list[str]:
    """The words of a run of Chinese characters that the table has, the longest at each place."""
    table, longest = _table(), _longest()
    words, at = [], 0
    while at < len(run):
        found = next((run[at:end] for end in range(min(len(run), at + longest), at, -1) if run[at:end] in table), "")
        words += [found] if found else []
        at += len(found) or 1
    return words


@lru_cache(maxsize=1)
def _table() -> dict[str, str]:
    """The English words of each Chinese one."""
    lines = (files("everfind_core.text") / "glossary.txt").read_text(encoding="utf-8").splitlines()
    pairs = (line.partition(" ") for line in lines)
    return {chinese: english for chinese, _, english in pairs}


@lru_cache(maxsize=1)
def _longest() -> int:
    return max(map(len, _table()))
