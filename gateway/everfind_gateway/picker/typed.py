"""What is typed into the picker: a question, with filters among its words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from everfind_gateway.requests import SearchOptions

FILTERS = ("folder", "path", "lang", "kind", "status")
"""``folder:api``, ``path:src/**``, ``lang:python``, ``kind:function``, ``status:accepted``; ``-path:`` leaves out."""


@dataclass(frozen=True, slots=True)
class Typed:
    """A question, and the values of each filter by its name; ``not_paths`` are those of ``-path:``."""

    question: str = ""
    folders: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()
    not_paths: tuple[str, ...] = ()

    def options(self, given: SearchOptions) -> SearchOptions:
        """What the command was told, and what was typed besides."""
        return replace(
            given,
            folders=(*given.folders, *self.folders),
            include=(*given.include, *self.paths),
            exclude=(*given.exclude, *self.not_paths),
            languages=(*given.languages, *self.languages),
            kinds=(*given.kinds, *self.kinds),
            statuses=(*given.statuses, *self.statuses),
        )


_FIELDS = dict(zip(FILTERS, ("folders", "paths", "languages", "kinds", "statuses"), strict=True)) | {
    "-path": "not_paths"
}


def parse(text: str) -> Typed:
    """``retry lang:go`` as a question and its filters. A filter without a value yet, and ``std::vector``, are words."""
    words: list[str] = []
    found: dict[str, tuple[str, ...]] = {}
    for word in text.split():
        name, colon, value = word.partition(":")
        field = _FIELDS.get(name)
        if field and colon and value and not value.startswith(":"):
            found[field] = (*found.get(field, ()), value)
        elif not (field and colon and not value):
            words.append(word)
    return Typed(" ".join(words), **found)
