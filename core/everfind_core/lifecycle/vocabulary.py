"""The words of document headers: which keys say what, and which status words mean the same."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from everfind_core.errors import InvalidRequestError
from everfind_core.model import HIDDEN_STATUSES

_SEPARATORS = re.compile(r"[\s_./-]+")


class Role(StrEnum):
    """What a header field says."""

    STATUS = "status"
    STAGE = "stage"
    DATE = "date"
    UPDATED = "updated"
    CREATED = "created"
    SUPERSEDED_BY = "superseded_by"
    SUPERSEDES = "supersedes"
    PROPOSED_SUCCESSOR = "proposed_successor"
    TITLE = "title"
    ID = "id"


_KEYS: Final = {
    Role.STATUS: "status state doc_status document_status adr_status decision_status lifecycle "
    "current_status current_state",
    Role.STAGE: "stage phase maturity outcome disposition",
    Role.DATE: "date decision_date decided date_accepted revdate",
    Role.UPDATED: "updated last_updated last_update updated_at last_modified modified lastmod",
    Role.CREATED: "created created_at created_on creation_date date_created start_date assigned published",
    Role.SUPERSEDED_BY: "superseded_by superceded_by supersededby replaced_by replacedby obsoleted_by obsoletedby "
    "successor replacement deprecated_by deprecated_in_favor_of deprecated_in_favour_of moved_to",
    Role.PROPOSED_SUCCESSOR: "proposed_replacement proposed_successor",
    Role.SUPERSEDES: "supersedes supercedes replaces obsoletes predecessor",
    Role.TITLE: "title feature_name",
    Role.ID: "id number identifier proposal",
}
_STATUSES: Final = {
    "superseded": "superseded superceded superseeded supersedes_by replaced supplanted",
    "obsolete": "obsolete obsoleted historic retired discontinued outdated",
    "deprecated": "deprecated",
    "archived": "archived archive",
    "rejected": "rejected declined denied refused discarded",
    "withdrawn": "withdrawn retracted abandoned cancelled canceled dropped",
}
_NOT_YET: Final = (
    "draft proposed proposal provisional review in_review under_review pending open idea wip deferred dormant stagnant "
    "postponed planned experimental"
)
_DRAFT: Final = "draft"
_OVER: Final = "closed"
_IN_FORCE: Final = (
    "accepted approved active final implemented implementable adopted stable current living decided done complete "
    "completed published standard informational agreed valid delivered deployed released recommended merged"
)


def _by_word(table: dict[Role, str]) -> dict[str, Role]:
    return {word: role for role, words in table.items() for word in words.split()}


def normal(word: str) -> str:
    """A key or status word as it is compared: ``Superseded-By`` → ``superseded_by``."""
    return _SEPARATORS.sub("_", word.strip().lower()).strip("_")


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What header keys and status words mean. ``not_yet`` are statuses of documents that are not in force.

    ``over`` are statuses of documents that are over for a reason that they do not tell; none is hidden for that alone.
    """

    keys: dict[str, Role] = field(default_factory=lambda: _by_word(_KEYS))
    statuses: dict[str, str] = field(
        default_factory=lambda: {word: status for status, words in _STATUSES.items() for word in words.split()}
    )
    not_yet: frozenset[str] = frozenset(_NOT_YET.split())
    in_force: frozenset[str] = frozenset(_IN_FORCE.split())
    over: frozenset[str] = frozenset(_OVER.split())
    extra: tuple[str, ...] = ()

    def status_of_flag(self, key: str) -> str:
        """The status of a document with ``key: true``, as in ``archived: true``; none if the key is no such."""
        return _DRAFT if key == _DRAFT else self.statuses.get(key, "")

    @classmethod
    def with_words(cls, words: Iterable[str], *, field: str = "lifecycle_words") -> Vocabulary:
        """The built-in one and ``words``, each ``WORD=MEANING``: another name of a key, or of a status.

        Raises:
            InvalidRequestError: a word is not of that form, or means nothing known; it names the caller's ``field``.
        """
        extra = tuple(words)
        if not extra:
            return DEFAULT_VOCABULARY
        made = cls(extra=tuple(sorted(extra)))
        for entry in extra:
            word, _, meaning = (normal(part) for part in entry.partition("="))
            if not word or "=" not in entry:
                raise InvalidRequestError.of(field, f"{entry!r} is not WORD=MEANING", hint=_HINT)
            if meaning in made.keys:
                made.keys[word] = made.keys[meaning]
            elif meaning in made.statuses:
                made.statuses[word] = made.statuses[meaning]
            else:
                raise InvalidRequestError.of(field, f"{meaning!r} in {entry!r} is no known key or status", hint=_HINT)
        return made

    @property
    def revision(self) -> str:
        """What distinguishes it from others; empty for the built-in one."""
        return ",".join(self.extra)

    def role(self, key: str) -> Role | None:
        """What a field with this (normal) key says; None if nothing of interest."""
        return self.keys.get(key)

    def status_of(self, word: str) -> str | None:
        """The status that a (normal) word stands for; None if it is no known status word."""
        if word in self.statuses:
            return self.statuses[word]
        return word if word in self.not_yet or word in self.in_force else None

    def is_over(self, status: str) -> bool:
        """Whether a document of this status is no longer in force, so that what was proposed in its place counts."""
        return status in self.over or status in HIDDEN_STATUSES

    def speaks_for(self, status: str) -> bool:
        """Whether what a document of this status says about others counts: not while, or if never, in force."""
        return status not in self.not_yet and status not in ("rejected", "withdrawn")


_HINT: Final = "Such as `ersetzt_durch=superseded_by` for a key, or `veraltet=obsolete` for a status."

DEFAULT_VOCABULARY: Final = Vocabulary()
