"""Where a question's words stand in a text."""

from __future__ import annotations

from everfind_gateway.render.hits import term_pattern


def pieces(text: str, query: str) -> list[str]:
    """``text`` cut up so that every second piece, the first not, is a word of ``query``; joined they are ``text``."""
    pattern = term_pattern(query)
    found = [""]
    end = 0
    for match in pattern.finditer(text) if pattern is not None else ():
        found[-1] = text[end : match.start()]
        found += [match.group(), ""]
        end = match.end()
    found[-1] = text[end:]
    return found
