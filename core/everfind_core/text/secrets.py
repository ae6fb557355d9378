"""Masks secrets of known formats before text is stored, embedded or returned.

Only formats that their issuer made recognisable (a prefix, an armour, a well-known key name) are masked: precision
first, no guessing by entropy. A mask such as ``[redacted:github-token]`` never adds or removes a line, and masking
masked text changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from hashlib import blake2b

from everfind_core.text.secret_formats import RULES, Rule

_MAX_KEY_LINES = 1000

# Long runs are a few percent of ordinary text: looking for most literals only there is what makes masking fast.
_LONG_RUN = re.compile(r"[A-Za-z0-9_\-]{20,}")
_BEFORE_RUN = 9

_ARMOUR_BEGIN = re.compile(r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_ARMOUR_END = re.compile(r"-----END (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
# A line ends for real or, in a string literal, as an escape; before and after it may stand what source code, diffs and
# YAML put around lines (quotes, a plus, commas, comment marks).
_LINE_BREAK = re.compile(r"(?:\\r)?\\n|\r?\n")
_DECORATION = " \t\"'`,;+#*>|/\\()."
_KEY_LINE = re.compile(r"[A-Za-z0-9+/=]+")
_HEADER_LINE = re.compile(r"[A-Za-z-]{3,20}: [^\n]{0,200}")
_PUTTY = re.compile(r"^Private-Lines: (\d{1,3})\r?\n((?:[A-Za-z0-9+/=]{1,80}(?:\r?\n|\Z)){1,200})", re.MULTILINE)


_LITERALS = tuple(literal for rule in RULES if not rule.in_run for literal in rule.literals)
_RUN_LITERALS = tuple(literal for rule in RULES if rule.in_run for literal in rule.literals)

_KEYS_REVISION = "2"
REVISION = blake2b(
    "\n".join([_KEYS_REVISION, *(f"{rule.name} {rule.pattern}" for rule in RULES)]).encode(), digest_size=8
).hexdigest()
"""Another one whenever another text could be masked; an index made by another revision must be built again."""


def mask_secrets(text: str) -> tuple[str, int]:
    """``text`` with each secret of a known format replaced by a mask, and how many there were.

    Line breaks are kept, so line numbers stay. Masking again changes nothing and counts 0.
    """
    count = 0
    if "PRIVATE KEY" in text or "Private-Lines" in text:
        text, count = _mask_spans(text, _private_keys(text), "private-key")
    runs = "\n".join(text[max(0, m.start() - _BEFORE_RUN) : m.end()] for m in _LONG_RUN.finditer(text))
    for rule in _suspects(text, runs):
        text, found = _mask_spans(text, _secret_spans(rule, text), rule.name)
        count += found
    return text, count


def _suspects(text: str, runs: str) -> list[Rule]:
    """The rules of which a literal is there."""
    anywhere = {literal for literal in _LITERALS if literal in text}
    in_runs = {literal for literal in _RUN_LITERALS if literal in runs} if runs else set()
    if not anywhere and not in_runs:
        return []
    return [rule for rule in RULES if not (in_runs if rule.in_run else anywhere).isdisjoint(rule.literals)]


def _secret_spans(rule: Rule, text: str) -> Iterator[tuple[int, int]]:
    group = "secret" if "secret" in rule.regex.groupindex else 0
    return (match.span(group) for match in rule.regex.finditer(text))


def _mask_spans(text: str, spans: Iterator[tuple[int, int]], name: str) -> tuple[str, int]:
    pieces: list[str] = []
    position = 0
    for start, end in spans:
        lines = text.count("\n", start, end)
        pieces += [text[position:start], f"[redacted:{name}]", "\n" * lines]
        position = end
    if not pieces:
        return text, 0
    pieces.append(text[position:])
    return "".join(pieces), len(pieces) // 3


def _private_keys(text: str) -> Iterator[tuple[int, int]]:
    spans = [match.span(2) for match in _PUTTY.finditer(text)]
    position = 0
    while begin := _ARMOUR_BEGIN.search(text, position):
        position = begin.end()
        end = _key_end(text, position)
        if end:
            spans.append((begin.start(), end))
            position = end
    return iter(sorted(spans))


def _key_end(text: str, position: int) -> int:
    """Where the key ends whose armour begins before ``position``; 0 if no key material follows it.

    A key may be cut off: then it ends with its last line.
    """
    material = last = 0
    for _ in range(_MAX_KEY_LINES):
        line_break = _LINE_BREAK.search(text, position)
        line_end = line_break.start() if line_break else len(text)
        closing = _ARMOUR_END.search(text, position, line_end)
        line = text[position : closing.start() if closing else line_end].strip(_DECORATION)
        if _KEY_LINE.fullmatch(line):
            material += len(line)
            last = line_end
        elif line and not _HEADER_LINE.fullmatch(line):
            break
        if closing:
            return closing.end() if material >= 16 else 0
        if line_break is None:
            break
        position = line_break.end()
    return last if material >= 40 else 0
