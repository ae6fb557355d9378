"""What a header consists of."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from everfind_core.lifecycle.vocabulary import Vocabulary

SENTENCE = "this_was_replaced"
"""The key of what a sentence about the document itself says."""

STATED = "this_is"
"""The key of what a sentence says that the document itself is: a status, and what to use instead."""

DATELINE = "dateline"
"""The key of a short line that has a date and no key, or of the date in an RFC's right column."""

YES = frozenset({"true", "yes", "on"})
"""What says of a flag, as in ``archived: true``, that it is set."""

_ID_KEY = re.compile(r"[a-z]{2,6}|[a-z]{2,6}_(?:number|id)|request_for_comments")
_ID_VALUE = re.compile(r"\W{0,2}[A-Za-z]{0,6}[-_# ]?\d{1,6}\b")


@dataclass(frozen=True, slots=True)
class HeaderField:
    """A field: its normal key, its value (lines joined by line feeds), and its lines, from 0, both included."""

    key: str
    value: str
    first: int
    last: int


@dataclass(slots=True)
class Header:
    """A document's title and header fields; ``front_matter`` counts its lines, fences included."""

    title: str = ""
    fields: list[HeaderField] = field(default_factory=list)
    front_matter: int = 0


def is_wanted(key: str, value: str, vocabulary: Vocabulary) -> bool:
    """Whether a field says something of interest: its key is known, or it names a number, as in ``PEP: 8``.

    A line ``Archived: …`` speaks of the document, whatever follows; ``Draft: …`` only if that is *true*.
    """
    flag = key in vocabulary.statuses or (vocabulary.status_of_flag(key) and value.strip().lower() in YES)
    return vocabulary.role(key) is not None or bool(flag) or _names_number(key, value)


def _names_number(key: str, value: str) -> bool:
    return bool(_ID_KEY.fullmatch(key) and _ID_VALUE.match(value))
