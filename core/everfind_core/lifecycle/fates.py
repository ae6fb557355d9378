"""What becomes of each document, by what all of them say: who is replaced by whom, also through chains.

A statement counts whichever document makes it: an old one that names its successor, or a new one that names what it
replaces. What a document says of others does not count before it is in force, nor if it was rejected or withdrawn.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from everfind_core.lifecycle.references import Library
from everfind_core.lifecycle.statement import Statement
from everfind_core.lifecycle.vocabulary import Vocabulary
from everfind_core.model import HIDDEN_STATUSES
from everfind_core.model.files import FileRef

SUPERSEDED = "superseded"
_MOST_SUCCESSORS = 8


@dataclass(frozen=True, slots=True)
class Fate:
    """A document's status after all statements, its date, and what replaces it in the end (empty: nothing does)."""

    status: str = ""
    date: str = ""
    successors: tuple[FileRef, ...] = ()


@dataclass(frozen=True, slots=True)
class Problem:
    """A statement that leads nowhere: what is wrong with it, in a sentence."""

    ref: FileRef
    message: str


@dataclass(frozen=True, slots=True)
class Fates:
    """The fates of all documents, and the problems found."""

    fates: Mapping[FileRef, Fate]
    problems: tuple[Problem, ...] = ()


@dataclass(slots=True)
class _Edges:
    """Who replaces whom: ``after`` has for a document what comes after it; ``own`` are those that say so themselves."""

    after: dict[FileRef, list[FileRef]] = field(default_factory=dict)
    own: set[FileRef] = field(default_factory=set)
    problems: list[Problem] = field(default_factory=list)

    def add(self, old: FileRef, new: FileRef) -> None:
        """``new`` comes after ``old``."""
        known = self.after.setdefault(old, [])
        if new not in known:
            known.append(new)


def settle(statements: Mapping[FileRef, Statement], vocabulary: Vocabulary) -> Fates:
    """The fates that follow from all statements. Deterministic: the order of ``statements`` does not matter."""
    ordered = {ref: statements[ref] for ref in sorted(statements)}
    said, parts = _with_parts(ordered)
    edges = _edges(said, vocabulary)
    circling = _circling(edges.after)
    fates = {ref: _fate(ref, statement, edges, circling) for ref, statement in said.items()}
    fates |= {part: fates[whole] for part, whole in parts.items()}
    problems = edges.problems + list(_circles(edges.after, circling))
    return Fates(fates, tuple(problems))


def _with_parts(statements: Mapping[FileRef, Statement]) -> tuple[dict[FileRef, Statement], dict[FileRef, FileRef]]:
    """Statements, those of metadata files (``kep.yaml``) made by the README beside them; and which file is whose."""
    readmes = {
        (ref.folder, posixpath.dirname(ref.path)): ref
        for ref in statements
        if posixpath.basename(ref.path).lower().startswith("readme.")
    }
    said = dict(statements)
    parts: dict[FileRef, FileRef] = {}
    for ref, statement in statements.items():
        whole = readmes.get((ref.folder, posixpath.dirname(ref.path)))
        if whole is not None and ref.path.lower().endswith((".yaml", ".yml")):
            parts[ref] = whole
            said[whole] = _joined(said[whole], statement)
            del said[ref]
    return said, parts


def _joined(readme: Statement, metadata: Statement) -> Statement:
    return replace(
        readme,
        title=readme.title or metadata.title,
        numbers=tuple(dict.fromkeys((*metadata.numbers, *readme.numbers))),
        status=metadata.status or readme.status,
        date=metadata.date or readme.date,
        superseded_by=(*metadata.superseded_by, *readme.superseded_by),
        supersedes=(*metadata.supersedes, *readme.supersedes),
    )


def _edges(statements: Mapping[FileRef, Statement], vocabulary: Vocabulary) -> _Edges:
    """A document's own word about its successor counts before what others say of it."""
    library, edges = Library.of(statements), _Edges()
    for ref, statement in statements.items():
        for value in statement.superseded_by:
            found, missing = library.find(value, ref)
            edges.own.add(ref)
            edges.problems += [Problem(ref, f"its successor {name!r} is not in the index") for name in missing]
            for new in found:
                edges.add(ref, new)
    settled = set(edges.after)
    for ref, statement in statements.items():
        for value in statement.supersedes if vocabulary.speaks_for(statement.status) else ():
            found, missing = library.find(value, ref)
            edges.problems += [
                Problem(ref, f"what it replaces, {name!r}, is not in the index")
                for name in missing
                if "://" not in name
            ]
            for old in found:
                if old not in settled:
                    edges.add(old, ref)
    return edges


def _fate(ref: FileRef, statement: Statement, edges: _Edges, circling: frozenset[FileRef]) -> Fate:
    """Documents that replace each other in a circle are not believed: each keeps the status that it gives itself."""
    after = edges.after.get(ref, [])
    if ref in circling:
        after = [new for new in after if new not in circling]
    replaced = bool(after) or (ref in edges.own and ref not in circling)
    status = SUPERSEDED if replaced and statement.status not in HIDDEN_STATUSES else statement.status
    return Fate(status, statement.date, _ends(ref, edges.after) if after else ())


def _ends(start: FileRef, after: Mapping[FileRef, list[FileRef]]) -> tuple[FileRef, ...]:
    """The documents at the ends of all chains from ``start``; where none ends, what comes directly after it."""
    ends: list[FileRef] = []
    seen, stack = {start}, [*reversed(after[start])]
    while stack:
        ref = stack.pop()
        if ref not in seen:
            seen.add(ref)
            following = after.get(ref, [])
            stack += reversed(following)
            ends += [] if following else [ref]
    return tuple(ends or after[start])[:_MOST_SUCCESSORS]


def _circling(after: Mapping[FileRef, list[FileRef]]) -> frozenset[FileRef]:
    """Documents in circles, or between two: what stays when all ends and all beginnings are taken away, repeatedly."""
    edges = {(old, new) for old, following in after.items() for new in following}
    for end in (1, 0):
        while edges:
            kept = {edge[1 - end] for edge in edges}
            remaining = {edge for edge in edges if edge[end] in kept}
            if len(remaining) == len(edges):
                break
            edges = remaining
    return frozenset(ref for edge in edges for ref in edge)


def _circles(after: Mapping[FileRef, list[FileRef]], circling: frozenset[FileRef]) -> Iterator[Problem]:
    """One problem a circle, at its first document."""
    told: set[FileRef] = set()
    for ref in sorted(circling):
        if ref in told:
            continue
        circle, following = [], ref
        while following not in circle:
            circle.append(following)
            following = next((new for new in after.get(following, []) if new in circling), following)
        told.update(circle)
        names = ", ".join(one.path for one in circle[1:]) or "itself"
        yield Problem(ref, f"it and {names} replace each other in a circle")
