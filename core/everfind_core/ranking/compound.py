"""Questions that ask for two things at once: transparent rules, English and Chinese; in doubt it is one question."""

from __future__ import annotations

import re

from everfind_core.ranking.query import read_query
from everfind_core.text.plain_words import CJK

MAX_PARTS = 3
"""Parts that are searched on their own; what asks for more is searched whole."""

_LEAST_WORDS = 3
_LEAST_CJK = 4  # characters of a Chinese part
_LEANING = re.compile(r"\b(?:it|its|they|them|their|this|that|these|those|he|she)\b|[它其这那]", re.IGNORECASE)
_ASKING = r"how|where|what|which|who|when|why|whether"
_BORDER = re.compile(
    rf"[?？]\s*(?=\S)|[;；]\s*(?=(?:{_ASKING})\b)|,?\s+(?:and|as well as|plus)\s+(?:also\s+)?(?=(?:{_ASKING})\b)"
    r"|[，,、]\s*(?:以及|并且|还有|同时|另外)\s*|(?:以及|还有)(?=.{0,12}(?:如何|怎么|怎样|哪里|哪个|什么|为什么|在哪))",
    re.IGNORECASE,
)


def parts_of(text: str) -> tuple[str, ...]:
    """The questions in ``text`` if it asks for two or three things, else nothing.

    Parts begin at the end of a question, or where a question word follows an "and"; each must have a subject of its
    own, and none may lean on another by a pronoun.
    """
    parts = [part.strip(" \t\n,.?!，。？！") for part in _BORDER.split(text)]
    if not 2 <= len(parts) <= MAX_PARTS or not all(map(_has_subject, parts)) or any(map(_LEANING.search, parts[1:])):
        return ()
    if read_query(text).phrases != tuple(phrase for part in parts for phrase in read_query(part).phrases):
        return ()  # a phrase in quotation marks is not taken apart
    return tuple(parts)


def _has_subject(part: str) -> bool:
    query = read_query(part)
    return (query.subjects > 0 and len(query.words) >= _LEAST_WORDS) or len(CJK.findall(part)) >= _LEAST_CJK
