"""What a line without a key says of the document that it stands in: what replaced it, what it is, its date."""

from __future__ import annotations

import re

from everfind_core.lifecycle.dates import iso_date, without_date
from everfind_core.lifecycle.vocabulary import Vocabulary, normal

_DATELINE_CHARACTERS = 60
_DATELINE_WORDS = 5  # besides the date
_NOUNS = (
    "document|doc|page|rfc|adr|pep|kep|proposal|decision|record|spec|specification|guide|note|memo|standard|design|"
    "draft|version|text|article|recommendation|policy|chapter|manual"
)
_IS = r"(?:is|was|has been|is now|has now been|is currently)"
_REPLACED = re.compile(
    rf"\bthis (?:[\w-]+ ){{0,2}}?(?P<noun>[\w-]+) (?:[\w.#-]+ )?{_IS} "
    r"(?:superseded|superceded|replaced|obsoleted|made obsolete) by:? (?P<value>.+)"
    r"|^[\s>*_!:-]*(?:superseded|superceded|replaced|obsoleted) by:? (?P<outright>.+)",
    re.IGNORECASE,
)
_STATED = re.compile(
    rf"\bthis (?:[\w-]+ ){{0,2}}?(?P<noun>[\w-]+) {_IS} (?:(?:officially|formally|now|in) )?[*_`]*(?P<status>[a-z]+)\b",
    re.IGNORECASE,
)
INSTEAD = re.compile(
    r"\b(?:(?:use|see|read)\b(?=.*\binstead\b)|moved to\b|in favou?r of\b)[ \t:*_]*(?P<by>.+)", re.IGNORECASE
)
"""What to read in place of a document, beside a word that it is not in force."""

_NOUN = re.compile(_NOUNS, re.IGNORECASE)
_SERIES = re.compile(r"\W*(?P<series>[A-Za-z]{2,8})[-_ #]?\d")
_WORD = re.compile(r"[^\W_]+")
_SENTENCE_END = re.compile(r"[.!?][ \t]+\S|[,;:][ \t]*$")


def replaced_by(line: str, title: str) -> str:
    """What a sentence says that its document, of this ``title``, was replaced by; empty if none does."""
    match = _REPLACED.search(line)
    if not match or not (match["outright"] or _is_the_document(match["noun"], title)):
        return ""
    return (match["value"] or match["outright"]).strip(" *_~")


def stated(line: str, title: str, vocabulary: Vocabulary) -> tuple[str, str]:
    """The status of a document not in force that a sentence gives it, and what to read instead; empty without."""
    match = _STATED.search(line)
    status = vocabulary.statuses.get(normal(match["status"]), "") if match else ""
    if not match or not status or not _is_the_document(match["noun"], title):
        return "", ""
    instead = INSTEAD.search(line, match.end())
    return status, instead["by"] if instead else ""


def dateline(line: str, vocabulary: Vocabulary) -> tuple[str, str]:
    """The date of a short line that has little else in it, and a status of a document not in force; empty without."""
    line = line.strip()
    date = iso_date(line) if len(line) <= _DATELINE_CHARACTERS else ""
    words = _WORD.findall(without_date(line)) if date else []
    if not date or len(words) > _DATELINE_WORDS or _SENTENCE_END.search(line):
        return "", ""
    return date, next((vocabulary.statuses[word] for word in map(normal, words) if word in vocabulary.statuses), "")


def _is_the_document(noun: str, title: str) -> bool:
    """Whether ``this <noun>`` is the document: a word for documents, or for those of its own series."""
    series = _SERIES.match(title)
    return bool(_NOUN.fullmatch(noun) or (series and series["series"].casefold() == noun.casefold()))
