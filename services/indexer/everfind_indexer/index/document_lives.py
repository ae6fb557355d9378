"""What the catalog knows of documents' lives: what each says, the fate that the store's rows have, what is wrong."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict

from everfind_core.files.parsed_json import parse_json
from everfind_core.lifecycle import Fate, Problem, Statement, join_refs, split_refs
from everfind_core.model import FileRef
from everfind_indexer.index import catalog_database as database

SCHEMA = """
CREATE TABLE IF NOT EXISTS documents (
    folder TEXT NOT NULL, path TEXT NOT NULL, statement TEXT NOT NULL, fate TEXT NOT NULL,
    PRIMARY KEY (folder, path)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS problems (folder TEXT NOT NULL, path TEXT NOT NULL, message TEXT NOT NULL);
"""

UNSETTLE = "DELETE FROM facts WHERE name = 'settled'"
_DOUBTFUL = '["?", "", ""]'


class DocumentLives:
    """Documents by file, in the catalog's database."""

    def __init__(self, db: database.CatalogDatabase) -> None:
        self._db = db

    def all(self) -> dict[FileRef, tuple[Statement, Fate]]:
        """What each document says, and the fate that the store's rows have."""
        rows = self._db.all("SELECT folder, path, statement, fate FROM documents")
        read = self._db.read
        return {
            FileRef(folder, path): (read(statement_of, said), read(fate_of, fate)) for folder, path, said, fate in rows
        }

    def noted(self, ref: FileRef, statement: Statement) -> Fate | None:
        """The fate that the rows of this document have, if it said just that before; None if nobody knows."""
        rows = self._db.all(
            "SELECT statement, fate FROM documents WHERE folder = ? AND path = ?", [ref.folder, ref.path]
        )
        if not rows or rows[0] != (statement_text(statement), rows[0][1]) or rows[0][1] == _DOUBTFUL:
            return None
        return self._db.read(fate_of, rows[0][1])

    def is_settled(self) -> bool:
        """Whether the store has the fates that follow from what all documents say."""
        return bool(self._db.all("SELECT 1 FROM facts WHERE name = 'settled'"))

    def doubt(self, refs: Iterable[FileRef]) -> None:
        """Before the store takes other fates: until they are recorded, nobody knows which ones its rows have."""
        doubtful = [(_DOUBTFUL, ref.folder, ref.path) for ref in refs]
        self._db.write(("UPDATE documents SET fate = ? WHERE folder = ? AND path = ?", doubtful))

    def correct(self, fates: Mapping[FileRef, Fate]) -> None:
        """Note the fates that the store's rows do have: a commit that was never recorded may have changed some."""
        found = {
            ref: fates.get(ref, Fate()) for ref, (_, noted) in self.all().items() if noted != fates.get(ref, Fate())
        }
        self._db.write(
            (
                "UPDATE documents SET fate = ? WHERE folder = ? AND path = ?",
                [(fate_text(fate), ref.folder, ref.path) for ref, fate in found.items()],
            ),
            (UNSETTLE, [()] if found else []),
        )

    def doubt_all(self) -> None:
        """Nobody knows which fates the store's rows have."""
        self._db.write(("UPDATE documents SET fate = ?", [(_DOUBTFUL,)]), (UNSETTLE, [()]))

    def settle(
        self, fates: Mapping[FileRef, Fate], problems: Iterable[Problem], *, generation: int | None = None
    ) -> None:
        """Note the fates that the store took, and what is wrong with statements: all is settled."""
        self._db.write(
            (
                "UPDATE documents SET fate = ? WHERE folder = ? AND path = ?",
                [(fate_text(fate), ref.folder, ref.path) for ref, fate in fates.items()],
            ),
            ("DELETE FROM problems", [()]),
            ("INSERT INTO problems VALUES (?, ?, ?)", [(p.ref.folder, p.ref.path, p.message) for p in problems]),
            ("INSERT OR REPLACE INTO facts VALUES ('settled', 1)", [()]),
            ("INSERT OR REPLACE INTO facts VALUES ('generation', ?)", [] if generation is None else [(generation,)]),
        )

    def problems(self) -> list[Problem]:
        """What is wrong with what documents say of each other."""
        if not self._db.has_table("problems"):
            return []  # an index from before there were any
        rows = self._db.all("SELECT folder, path, message FROM problems ORDER BY folder, path, message")
        return [Problem(FileRef(folder, path), message) for folder, path, message in rows]


def taken(
    statements: Mapping[FileRef, Statement | None], gone: Sequence[tuple[str, str]]
) -> Iterator[database.Statement]:
    """What to write for files that the store took anew (None: no document) and for those that are gone.

    Where no document comes, changes or goes, all stays as settled as it was.
    """
    told = [
        (ref.folder, ref.path, statement_text(said), fate_text(Fate(said.status, said.date)))
        for ref, said in statements.items()
        if said is not None
    ]
    none = [*gone, *((ref.folder, ref.path) for ref, said in statements.items() if said is None)]
    yield f"{UNSETTLE} AND EXISTS (SELECT 1 FROM documents WHERE folder = ? AND path = ?)", none  # noqa: S608 - constants only
    yield "INSERT OR REPLACE INTO documents VALUES (?, ?, ?, ?)", told
    yield "DELETE FROM documents WHERE folder = ? AND path = ?", none
    yield UNSETTLE, [()] if told else []


def statement_text(statement: Statement) -> str:
    """What a document says as it is kept; :func:`statement_of` reads it."""
    return json.dumps(asdict(statement))


def fate_text(fate: Fate) -> str:
    """A fate as it is kept; :func:`fate_of` reads it."""
    return json.dumps([fate.status, fate.date, join_refs(fate.successors)])


def fate_of(text: str) -> Fate:
    """The fate that :func:`fate_text` wrote."""
    status, date, successors = parse_json(text)
    return Fate(status, date, split_refs(successors))


def statement_of(text: str) -> Statement:
    """What a document says of itself, of the JSON that it is kept as."""
    said = parse_json(text)
    return Statement(
        title=said["title"],
        numbers=tuple((series, number) for series, number in said["numbers"]),
        status=said["status"],
        date=said["date"],
        superseded_by=tuple(said["superseded_by"]),
        supersedes=tuple(said["supersedes"]),
    )
