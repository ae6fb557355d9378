"""What one document says of itself and of others."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from everfind_core.lifecycle.dates import iso_date
from everfind_core.lifecycle.fields import DATELINE, SENTENCE, STATED, YES, Header, HeaderField
from everfind_core.lifecycle.header import read_header, read_xml, read_yaml
from everfind_core.lifecycle.sentences import INSTEAD
from everfind_core.lifecycle.vocabulary import Role, Vocabulary, normal
from everfind_core.model.chunks import Document, LineKind

_STATUS_CHARACTERS = 60
_SHORT = 4
_TEMPLATE_STATUSES = 3
_WORDS = re.compile(r"[^\W_]+(?:[-_][^\W_]+)*")
_STRUCK = re.compile(r"~~.*?~~|<(?:s|del)>.*?</(?:s|del)>|<!--.*?(?:-->|$)", re.IGNORECASE | re.MULTILINE)
_BY = re.compile(
    r"\b(?:(?:superseded|superceded|superseeded|replaced|supplanted|obsoleted|made obsolete|deprecated)\b[^\w\n]*"
    r"(?:\w+[^\w\n]+)?(?:by|with)|(?:\w+ed|withdrawn|obsolete)\b[^\w\n]*in favou?r of)\b[ \t:*_`]*(?P<by>.+)",
    re.IGNORECASE,
)
_REPLACES = re.compile(r"\b(?:supersedes|supercedes|replaces|obsoletes)\b[ \t:*_`]*(?P<others>.+)", re.IGNORECASE)
_UNSURE = re.compile(
    r"\b(?:not|will|to be|may|might|could|would|should|can|partial|partially|partly|in part)\b|\bif approved\b",
    re.IGNORECASE,
)
_NOTHING = frozenset(
    {"", "none", "n/a", "na", "no", "nothing", "null", "nil", "tbd", "unknown", "~", "-", "–", "—", "false"}
)
_DATES = (Role.DATE, Role.UPDATED, Role.CREATED, Role.STATUS, DATELINE)
"""What gives a document's date, the first of them that is there."""

_NUMBER = re.compile(r"\W{0,2}(?P<series>[A-Za-z]{2,8})?[-_# ]{0,2}(?P<number>\d{1,6})\b")
_LEADING_NUMBER = re.compile(r"(?:(?P<series>[A-Za-z]{2,8})[-_ #]?)?0*(?P<number>\d{1,6})(?=\W|_|$)")
_DATED = re.compile(r"\d{4}[-_.]?\d{2}[-_.]?\d{2}(?!\d)|(?:19|20)\d\d[-_.]\d\d?(?!\d)")

Number = tuple[str, int]
"""A document's number in a series: ``("pep", 8)``; the series is empty where it is not named."""


@dataclass(frozen=True, slots=True)
class Statement:
    """What a document says. ``superseded_by`` and ``supersedes`` are references as written, ``date`` is ISO 8601."""

    title: str = ""
    numbers: tuple[Number, ...] = ()
    status: str = ""
    date: str = ""
    superseded_by: tuple[str, ...] = ()
    supersedes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Read:
    """A document's statement, and the lines (from 0) that make it: they say nothing of what it is about."""

    statement: Statement
    lines: frozenset[int] = frozenset()


def read_document(path: str, document: Document, vocabulary: Vocabulary) -> Read | None:
    """What the document at ``path`` says of itself; None for what is no prose, nor the header of some."""
    if document.kind in (LineKind.PROSE, LineKind.MARKDOWN):
        header = read_header(document.text, vocabulary)
    elif document.language == "yaml":
        header = read_yaml(document.text, vocabulary)
    elif document.language == "xml":
        header = read_xml(document.text, vocabulary)
    else:
        return None
    statement = interpret(path, header, vocabulary)
    if document.kind is LineKind.CONFIG:
        speaks = statement.title and (statement.status or statement.superseded_by or statement.supersedes)
        return Read(statement) if speaks else None
    return Read(statement, _lines(header, document.text, vocabulary))


def interpret(path: str, header: Header, vocabulary: Vocabulary) -> Statement:
    """The statement that a header makes for the document at ``path``."""
    said = _Said()
    for field in header.fields:
        said.take(field, vocabulary)
    title = said.titles[0] if said.titles else header.title
    status = said.status or said.stage
    proposed = said.proposed if vocabulary.is_over(status) else ()
    named = (*said.numbers, *_numbers_of_name(path), *_numbers_of_text(title))
    return Statement(
        title=title,
        numbers=tuple(dict.fromkeys(named)),
        status=status,
        date=next((said.dates[role] for role in _DATES if role in said.dates), ""),
        superseded_by=tuple(dict.fromkeys((*said.superseded_by, *proposed))),
        supersedes=tuple(dict.fromkeys(said.supersedes)),
    )


class _Said:
    """Collects what the fields say; of two statuses or dates of one kind the first counts."""

    def __init__(self) -> None:
        self.titles: list[str] = []
        self.numbers: list[Number] = []
        self.status = ""
        self.stage = ""
        self.dates: dict[str, str] = {}
        self.superseded_by: list[str] = []
        self.proposed: list[str] = []
        self.supersedes: list[str] = []

    def take(self, field: HeaderField, vocabulary: Vocabulary) -> None:
        """Add what one field says."""
        match role := vocabulary.role(field.key):
            case Role.STATUS:
                self._take_status(field.value, vocabulary)
            case Role.STAGE:
                self.stage = self.stage or _stage(field.value, vocabulary)
            case Role.SUPERSEDED_BY:
                self.superseded_by += _references(field.value)
            case Role.PROPOSED_SUCCESSOR:
                self.proposed += _references(field.value)
            case Role.SUPERSEDES:
                self.supersedes += _references(field.value)
            case Role.TITLE:
                self.titles.append(" ".join(field.value.split()))
            case Role.DATE | Role.UPDATED | Role.CREATED:
                if date := iso_date(field.value):
                    self.dates.setdefault(role, date)
            case _:
                self._take_other(field, vocabulary)

    def _take_status(self, value: str, vocabulary: Vocabulary) -> None:
        status, by, others = read_status(value, vocabulary)
        self.status = self.status or status
        if date := max(map(iso_date, value.split("\n"))):
            self.dates.setdefault(Role.STATUS, date)
        self.superseded_by += by
        self.supersedes += others

    def _take_other(self, field: HeaderField, vocabulary: Vocabulary) -> None:
        if field.key == SENTENCE:  # a sentence: it counts if it names a document by a link or a number
            if _is_reference(field.value) and not _UNSURE.search(field.value):
                self.superseded_by.append(field.value)
        elif field.key in (STATED, DATELINE):
            self._take_aside(field)
        elif flag := vocabulary.status_of_flag(field.key):
            self._take_flag(field, flag)
        elif match := _NUMBER.match(field.value):
            series = match["series"] or _series_of(field.key)
            self.numbers.append((series.lower(), int(match["number"])))

    def _take_aside(self, field: HeaderField) -> None:
        """What a sentence or a line without a key says counts where no field says it."""
        first, _, second = field.value.partition("\n")
        if field.key == DATELINE:
            self.dates.setdefault(DATELINE, first)
            self.stage = self.stage or second
        else:
            self.stage = self.stage or first
            self.superseded_by += [second] if _is_reference(second) else []

    def _take_flag(self, field: HeaderField, status: str) -> None:
        """``archived: true``, or the day since when."""
        date = iso_date(field.value) if _DATED.match(field.value) else ""
        if date or field.value.strip().lower() in YES:
            self.status = self.status or status
        if date:
            self.dates.setdefault(Role.STATUS, date)


def _stage(value: str, vocabulary: Vocabulary) -> str:
    """The status of a document not in force that a stage is, if it is one; others have words of their own."""
    words = _WORDS.findall(value)
    return vocabulary.statuses.get(normal(words[0]), "") if 0 < len(words) <= _SHORT else ""


def read_status(value: str, vocabulary: Vocabulary) -> tuple[str, list[str], list[str]]:
    """A status, what replaces the document, and what it replaces, from a status's text of one or more lines."""
    by: list[str] = []
    others: list[str] = []
    found: list[tuple[str, str]] = []
    for line in _STRUCK.sub("", value).split("\n"):
        words = [normal(word) for word in _WORDS.findall(line)]
        known = {status for word in words if (status := vocabulary.status_of(word))}
        if len(known) >= _TEMPLATE_STATUSES and "|" in line:
            return "", [], []
        named = _successors(line)
        by += named
        if (match := _REPLACES.search(line)) and not _UNSURE.search(line):
            others += _references(match["others"])
        elif status := "superseded" if named else _first_status(line, words, vocabulary):
            found.append((iso_date(line), status))
    return _in_force(found, replaced=bool(by)), by, others


def _successors(line: str) -> list[str]:
    """What a line of a status says to replace the document."""
    if _UNSURE.search(line):
        return []
    if match := _BY.search(line):
        return _references(match["by"])
    match = INSTEAD.search(line)
    return _references(match["by"]) if match and _is_reference(match["by"]) else []


def _in_force(found: list[tuple[str, str]], *, replaced: bool) -> str:
    """Of the statuses that lines give: superseded; else of a history with days the latest; else the first."""
    if replaced:
        return "superseded"
    dated = [one for one in found if one[0]]
    if len(dated) > 1:
        return max(reversed(dated), key=lambda one: one[0])[1]
    return found[0][1] if found else ""


def _first_status(line: str, words: list[str], vocabulary: Vocabulary) -> str:
    """The known status that a line begins with or, where it is but a few words, has in it; else those words."""
    if words and (first := vocabulary.status_of(words[0])):
        return first
    if len(words) > _SHORT or len(line) > _STATUS_CHARACTERS or _UNSURE.search(line):
        return ""
    return next((found for word in words if (found := vocabulary.status_of(word))), "_".join(words))


def _references(value: str) -> list[str]:
    """The lines of a field's value that refer to something."""
    lines = (line.strip(" \t*_>") for line in _STRUCK.sub("", value).split("\n"))
    return [line for line in lines if line.lower().strip(".()") not in _NOTHING and not _UNSURE.search(line)]


def _is_reference(value: str) -> bool:
    return bool(re.search(r"\[\[?[^\]]+\]|`[^`]+`|https?://|\b[A-Za-z]{2,6}[- #]?\d{1,6}\b", value))


def _series_of(key: str) -> str:
    """``pep`` of ``PEP: 8`` and of ``kep-number: 12``; nothing of ``id: 12``."""
    if key == "request_for_comments":
        return "rfc"
    key = key.removesuffix("_number").removesuffix("_id")
    return "" if key in ("id", "number", "identifier", "proposal") else key


def _numbers_of_name(path: str) -> Iterable[Number]:
    """The number that a file's stem begins with, or its directory's where the file is a README or index."""
    *directories, name = path.split("/")
    stem = name.rpartition(".")[0] or name
    if stem.lower() in ("readme", "index") and directories:
        stem = directories[-1]
    return () if _DATED.match(stem) else _numbers_of_text(stem)


def _numbers_of_text(text: str) -> Iterable[Number]:
    match = _LEADING_NUMBER.match(text.strip(" [("))
    return [((match["series"] or "").lower(), int(match["number"]))] if match else []


def _lines(header: Header, text: str, vocabulary: Vocabulary) -> frozenset[int]:
    """The lines of fields about the document's life; with front matter's fences where nothing else stands in it."""
    told = frozenset(
        {Role.STATUS, Role.DATE, Role.UPDATED, Role.SUPERSEDED_BY, Role.SUPERSEDES, Role.PROPOSED_SUCCESSOR}
    )
    lines = {
        number
        for field in header.fields
        if vocabulary.role(field.key) in told or field.key in (SENTENCE, STATED) or field.key in vocabulary.statuses
        for number in range(field.first, field.last + 1)
    }
    matter = text.split("\n", header.front_matter)[: header.front_matter]
    if matter and all(n in lines or not line.strip() for n, line in enumerate(matter[1:-1], start=1)):
        lines |= set(range(header.front_matter))
    return frozenset(lines)
