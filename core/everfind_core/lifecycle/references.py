"""From what a document calls another one to that document: by link, path, number or title; the nearest one counts."""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote

from everfind_core.lifecycle.statement import Statement
from everfind_core.model.files import FileRef
from everfind_core.text.plain_words import plain_words

_LINK = re.compile(
    r"\[\[(?P<wiki>[^\]|]+)(?:(?:\||\]\[)(?P<shown>[^\]]*))?\]\]"
    r"|\[(?P<text>[^\]]*)\]\((?P<target><[^>]*>|[^)\s]*)[^)]*\)"
    r"|(?::[\w:+-]+:)?`(?P<label>[^`<]*?)\s*<(?P<place>[^>`]+)>`_{0,2}"
    r"|(?::[\w:+-]+:)?`(?P<code>[^`]+)`_{0,2}"
    r"|(?P<macro>(?:xref|link):[^\s\[]+)\[(?P<words>[^\]]*)\]"
    r"|<?(?P<url>https?://[^\s>)\]]+)>?"
)
_ROLE = re.compile(r":(?P<series>[A-Za-z]{2,8}):`(?P<number>\d{1,6})`")
_SPLIT = re.compile(r"\s*(?:[,;\n&]|\band\b|\bplus\b)\s*", re.IGNORECASE)
_NUMBERED = re.compile(r"(?:(?P<series>[A-Za-z]{2,8})[-_ #]{0,2})?#?0*(?P<number>\d{1,6})(?=$|[\s.:_(),-])")
_SUFFIXES = ("", ".md", ".rst", ".markdown", ".mdx", ".adoc", ".txt", ".org", "/README.md", "/README.rst", "/index.md")
_SCHEME = re.compile(r"[a-z]+:(?!//)")
"""What stands before a path in macros (``xref:``), Org links (``file:``) and wikis with namespaces (``rfc:``)."""
_NAMING = re.compile(r"[\d/]|\.\w")
"""What a name has that is meant to lead to a document, and a remark beside one has not."""

_EDGES = " \t\"'()[]<>.:;*_"


@dataclass(slots=True)
class Library:
    """All documents by what others may call them."""

    statements: Mapping[FileRef, Statement]
    paths: frozenset[FileRef]
    by_stem: dict[str, list[FileRef]] = field(default_factory=lambda: defaultdict(list))
    by_number: dict[int, list[tuple[str, FileRef]]] = field(default_factory=lambda: defaultdict(list))
    by_title: dict[str, list[FileRef]] = field(default_factory=lambda: defaultdict(list))

    @classmethod
    def of(cls, statements: Mapping[FileRef, Statement]) -> Library:
        """The library of these documents."""
        made = cls(statements, frozenset(statements))
        for ref, statement in statements.items():
            name = ref.path.rpartition("/")[2].lower()
            for stem in {name, name.rpartition(".")[0]} - {""}:
                made.by_stem[stem].append(ref)
            for series, number in statement.numbers:
                made.by_number[number].append((series, ref))
            for title in _titles(statement.title):
                made.by_title[title].append(ref)
        return made

    def find(self, value: str, said_by: FileRef) -> tuple[list[FileRef], list[str]]:
        """The documents that ``value`` names in a document, and the names in it that are none's."""
        value = _ROLE.sub(r"\g<series> \g<number>", value)
        links = [[part for part in match.groups() if part] for match in _LINK.finditer(value)]
        if links:
            found = [(self._any(names, said_by), names[0]) for names in links]
        elif whole := self._at(value.strip(), said_by) or self._titled(value, said_by):
            found = [(whole, value)]
        else:
            parts = [part for part in map(_trimmed, _SPLIT.split(value)) if part]
            found = [(self._one(part, said_by), part) for part in parts]
        refs = list(dict.fromkeys(ref for ref, _ in found if ref))
        return refs, [name for ref, name in found if not ref and (not refs or _NAMING.search(name))]

    def _any(self, names: Iterable[str], said_by: FileRef) -> FileRef | None:
        """What a link leads to: by its target, else by its text."""
        ordered = sorted(names, key=lambda name: "/" not in name and "." not in name)
        return next((ref for ref in (self._one(name, said_by) for name in ordered) if ref), None)

    def _one(self, name: str, said_by: FileRef) -> FileRef | None:
        name = _trimmed(name)
        target = unquote(_SCHEME.sub("", name)).partition("#")[0].partition("?")[0]
        looks = (self._at(target, said_by), self._called(target, said_by), self._titled(name, said_by))
        return next((ref for ref in (*looks, self._numbered(name, said_by)) if ref), None)

    def _at(self, target: str, said_by: FileRef) -> FileRef | None:
        """The file at a path: beside the document, below its folder, or in the folder that the path begins with."""
        if not target or "://" in target:
            return None
        here = posixpath.dirname(said_by.path)
        folder, _, below = target.partition("/")
        places = [FileRef(said_by.folder, posixpath.normpath(posixpath.join(here, target)))]
        places += [FileRef(said_by.folder, posixpath.normpath(target.lstrip("/"))), FileRef(folder, below)]
        return next(
            (
                ref
                for place in places
                for s in _SUFFIXES
                if (ref := FileRef(place.folder, place.path + s)) in self.paths
            ),
            None,
        )

    def _called(self, target: str, said_by: FileRef) -> FileRef | None:
        """The nearest file whose name the last part of a path or address is; more of its path decides among several."""
        segments = [part for part in target.lower().split("/") if part]
        candidates = self.by_stem.get(segments[-1], []) if segments else []
        if len(candidates) > 1:
            agreeing = [(_common_tail(ref.path.lower(), segments), ref) for ref in candidates]
            most = max(count for count, _ in agreeing)
            candidates = [ref for count, ref in agreeing if count == most]
        return _nearest(candidates, said_by)

    def _titled(self, name: str, said_by: FileRef) -> FileRef | None:
        return _nearest(self.by_title.get(plain_words(name), []), said_by)

    def _numbered(self, name: str, said_by: FileRef) -> FileRef | None:
        """The nearest document with a number: of the series named, else of the series of the document itself."""
        last = name.rstrip("/").rpartition("/")[2] if "/" in name else name
        match = _NUMBERED.match(last)
        if not match:
            return None
        found = self.by_number.get(int(match["number"]), [])
        own = {series for series, _ in self.statements[said_by].numbers if series}
        wanted = {match["series"].lower()} if match["series"] else own
        exact = [ref for series, ref in found if series in wanted and ref != said_by]
        loose = [ref for series, ref in found if (not series or not wanted) and ref != said_by]
        return _nearest(exact, said_by) or _nearest(loose, said_by)


def _titles(title: str) -> Iterator[str]:
    """A title as it may be quoted: whole, and without the number before it."""
    whole = plain_words(title)
    bare = plain_words(re.sub(r"^\W*(?:[A-Za-z]{2,8}[-_ #]{0,2})?\d{1,6}\W+", "", title))
    yield from {whole, bare} - {""}


def _trimmed(name: str) -> str:
    name = name.strip().strip("<>")
    return name if "/" in name else name.strip(_EDGES)


def _nearest(candidates: Iterable[FileRef], said_by: FileRef) -> FileRef | None:
    """The candidate that shares most directories with the document; none if several do."""
    ranked = sorted({(-_shared(ref, said_by), ref) for ref in candidates if ref != said_by})
    if not ranked or (len(ranked) > 1 and ranked[0][0] == ranked[1][0]):
        return None
    return ranked[0][1]


def _shared(one: FileRef, other: FileRef) -> int:
    """How many directories two files share, -1 if not even the folder; the same directory counts most."""
    if one.folder != other.folder:
        return -1
    first, second = (posixpath.dirname(ref.path) for ref in (one, other))
    if first == second:
        return 1_000
    return len(posixpath.commonpath([first, second]).split("/")) if first and second else 0


def _common_tail(path: str, segments: list[str]) -> int:
    count = 0
    for one, other in zip(reversed(path.split("/")), reversed(segments), strict=False):
        if one != other and not (count == 0 and one.rpartition(".")[0] == other):
            break
        count += 1
    return count
