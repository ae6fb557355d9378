"""Did-you-mean, for keys, commands and names."""

from __future__ import annotations

from collections.abc import Iterable


def closest(word: str, known: Iterable[str]) -> str:
    """The one of ``known`` that ``word`` was probably meant to be; empty where none is close."""
    from difflib import get_close_matches  # who mistypes nothing does not wait for it

    close = get_close_matches(word, list(known), n=1, cutoff=0.6)
    return close[0] if close else ""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """``; did you mean 'limit'?`` where one of ``known`` is close, else nothing."""
    meant = closest(word, known)
    return f"; did you mean {meant!r}?" if meant else ""
