"""English words that say how a sentence is built, and nothing about its subject."""

from __future__ import annotations

from typing import Final

_WORDS = (
    "a an the and or of to in on for with without by from at as is are be been was it its this that these those how"
    " what where when which who why do does did can could should would i you we they my our your not no if then than"
    " into out over up use used using via while so s t"
)
FUNCTION_WORDS: Final = frozenset(_WORDS.split())
