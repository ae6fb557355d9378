"""What the indexer knows of each file: whether it changed, and what it says of its life. SQLite, the indexer's alone.

The catalog is written after the store, so it is never ahead of it: after a kill the worst case is a file that is read
again and found to be there already.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

from everfind_core.errors import IndexDamagedError
from everfind_core.index.directory import of_current
from everfind_core.index.names import CATALOG
from everfind_core.lifecycle import Statement
from everfind_core.model import Coverage, FileRef, FileState, IndexedFile, SkippedFile, SkipReason
from everfind_indexer.index.catalog_database import CatalogDatabase
from everfind_indexer.index.document_lives import SCHEMA as DOCUMENTS
from everfind_indexer.index.document_lives import UNSETTLE, DocumentLives, taken

_SCHEMA = """
CREATE TABLE IF NOT EXISTS files (
    folder TEXT NOT NULL, path TEXT NOT NULL,
    size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, ctime_ns INTEGER NOT NULL, inode INTEGER NOT NULL,
    checked_ns INTEGER NOT NULL, content_hash TEXT NOT NULL,
    chunks INTEGER NOT NULL, tokens INTEGER NOT NULL, redactions INTEGER NOT NULL,
    skip TEXT NOT NULL, message TEXT NOT NULL, unembedded INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (folder, path)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS left_out (
    folder TEXT NOT NULL, path TEXT NOT NULL, reason TEXT NOT NULL, message TEXT NOT NULL,
    PRIMARY KEY (folder, path)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
"""

# What is counted by folder and reason (empty: indexed) follows each change, so that a small one costs little.
_TOTALS = """
CREATE TABLE totals (
    folder TEXT NOT NULL, reason TEXT NOT NULL,
    files INTEGER NOT NULL, chunks INTEGER NOT NULL, redactions INTEGER NOT NULL,
    PRIMARY KEY (folder, reason)
) WITHOUT ROWID;
"""
_COUNT = """
INSERT INTO totals
    SELECT folder, reason, count(*), total(chunks), total(redactions) FROM (
        SELECT folder, skip AS reason, chunks, redactions FROM files
        UNION ALL SELECT folder, reason, 0, 0 FROM left_out
    ) GROUP BY folder, reason;
"""
_ADD = """
    INSERT INTO totals SELECT new.folder, new.{reason}, 0, 0, 0
        WHERE NOT EXISTS (SELECT 1 FROM totals WHERE folder = new.folder AND reason = new.{reason});
    UPDATE totals SET files = files + 1, chunks = chunks + {new_chunks}, redactions = redactions + {new_redactions}
        WHERE folder = new.folder AND reason = new.{reason};
"""
_TAKE = """
    UPDATE totals SET files = files - 1, chunks = chunks - {old_chunks}, redactions = redactions - {old_redactions}
        WHERE folder = old.folder AND reason = old.{reason};
    DELETE FROM totals WHERE folder = old.folder AND reason = old.{reason} AND files = 0;
"""
# Added later; where a file waits for vectors is looked up, so that a catalog without such files is not read for it.
_ADD_UNEMBEDDED = "ALTER TABLE files ADD COLUMN unembedded INTEGER NOT NULL DEFAULT 0"
_WAITING = "CREATE INDEX IF NOT EXISTS waiting ON files (folder, unembedded) WHERE unembedded > 0"
_UNSIGNED = 2**64 - 1
_COLUMNS = (
    "folder, path, size, mtime_ns, ctime_ns, inode, checked_ns, content_hash, chunks, tokens, redactions, skip, "
    "message, unembedded"
)
_NAMES = _COLUMNS.split(", ")
# Not "OR REPLACE": that would delete without the trigger for it.
_UPSERT = (
    f"INSERT INTO files ({_COLUMNS}) VALUES ({', '.join('?' * len(_NAMES))}) "  # noqa: S608 - constants only
    f"ON CONFLICT (folder, path) DO UPDATE SET {', '.join(f'{n} = excluded.{n}' for n in _NAMES[2:])}"
)
_UPSERT_LEFT_OUT = (
    "INSERT INTO left_out VALUES (?, ?, ?, ?) "
    "ON CONFLICT (folder, path) DO UPDATE SET reason = excluded.reason, message = excluded.message"
)


@contextmanager
def current_catalog(index_directory: Path) -> Iterator[Catalog]:
    """The catalog of the index that answers, to be read within the block, whatever takes that one's place meanwhile.

    Raises:
        IndexMissingError, IndexDamagedError, IndexIncompatibleError, StorageError: there is none that can be read.
    """
    with closing(of_current(index_directory, lambda one: Catalog(one.directory / CATALOG, read_only=True))) as catalog:
        yield catalog


class Catalog:
    """The states of all files of one index, and their ``lives``. Not thread-safe: one run uses it from one thread."""

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self._db = CatalogDatabase(path, read_only=read_only)
        self.lives = DocumentLives(self._db)
        self._columns = _COLUMNS
        try:
            self._prepare(read_only=read_only)
        except BaseException:  # an interruption leaves no connection open
            self._db.close()
            raise

    def _prepare(self, *, read_only: bool) -> None:
        if read_only and not self._db.has_column("files", "unembedded"):
            self._columns = _COLUMNS.replace("unembedded", "0")
        if not read_only:
            self._db.script(_SCHEMA + DOCUMENTS)
            if not self._db.has_column("files", "unembedded"):
                self._db.script(_ADD_UNEMBEDDED)
            self._db.script(_WAITING)
            if not self._db.has_table("totals"):
                self._db.script(f"BEGIN IMMEDIATE; {_TOTALS} {_COUNT} {_triggers()} COMMIT;")

    def states(self, folder: str, below: Sequence[str] = ()) -> Iterator[FileState]:
        """States of a folder's files in the order of their paths; with ``below``, of those at or below these paths.

        ``below`` holds no path twice, nor one below another.
        """
        found = (
            self._db.read(_state, row)
            for where, values in _at_or_below(folder, below)
            for row in self._db.each(f"SELECT {self._columns} FROM files WHERE {where} ORDER BY path", values)  # noqa: S608 - constants only
        )
        return iter(sorted(found, key=lambda state: state.ref.path)) if len(below) > 1 else found

    def state(self, folder: str, path: str) -> FileState | None:
        """One file's state; None if it is not known."""
        statement = f"SELECT {self._columns} FROM files WHERE folder = ? AND path = ?"  # noqa: S608 - constants only
        rows = self._db.all(statement, [folder, path])
        return self._db.read(_state, rows[0]) if rows else None

    def record(
        self,
        states: Iterable[FileState],
        forgotten: Iterable[FileRef] = (),
        *,
        statements: Mapping[FileRef, Statement | None] = MappingProxyType({}),
        generation: int | None = None,
    ) -> None:
        """Put states in place and drop the forgotten ones, in one transaction, with the store's generation.

        ``statements`` are of files that the store took anew; None for what is no document. Fates wait to be settled.
        """
        gone = [(ref.folder, ref.path) for ref in forgotten]
        self._db.write(
            (_UPSERT, [_row(state) for state in states]),
            ("DELETE FROM files WHERE folder = ? AND path = ?", gone),
            *taken(statements, gone),
            ("INSERT OR REPLACE INTO facts VALUES ('generation', ?)", [] if generation is None else [(generation,)]),
        )

    def record_left_out(self, folder: str, left_out: Sequence[SkippedFile], *, below: Sequence[str] = ()) -> None:
        """What discovery left out of a folder (or of parts of it), in place of what it left out before."""
        rows = sorted((s.ref.folder, s.ref.path, s.reason.value, s.message) for s in left_out)
        if rows == self._left_out(folder, below):
            return
        self._db.write(
            *(
                (f"DELETE FROM left_out WHERE {where}", [values])  # noqa: S608 - constants only
                for where, values in _at_or_below(folder, below)
            ),
            (_UPSERT_LEFT_OUT, rows),
        )

    def forget_folder(self, folder: str) -> int:
        """Drop a folder; gives the number of indexed files it had."""
        count = self.coverage(folder)[0].files
        self._db.write(
            ("DELETE FROM files WHERE folder = ?", [(folder,)]),
            ("DELETE FROM left_out WHERE folder = ?", [(folder,)]),
            ("DELETE FROM documents WHERE folder = ?", [(folder,)]),
            (UNSETTLE, [()]),
        )
        return count

    def folders(self) -> list[str]:
        """Names of the folders of which anything is known."""
        statement = "SELECT DISTINCT folder FROM totals ORDER BY folder"
        return [row[0] for row in self._db.all(statement, [])]

    def generation(self) -> int:
        """The store's generation at the last :meth:`record`; 0 before the first."""
        return self.fact("generation")

    def fact(self, name: str) -> int:
        """A number that was noted under this name; 0 if none was."""
        rows = self._db.all("SELECT value FROM facts WHERE name = ?", [name])
        return int(rows[0][0]) if rows else 0

    def set_fact(self, name: str, value: int) -> None:
        """Note a number."""
        self._db.write(("INSERT OR REPLACE INTO facts VALUES (?, ?)", [(name, value)]))

    def coverage(self, folder: str) -> tuple[Coverage, int]:
        """A folder's coverage, and how many secrets were masked in it."""
        rows = self._db.all(
            "SELECT reason, files, chunks, redactions FROM totals WHERE folder = ? ORDER BY reason", [folder]
        )
        skipped = {reason: files for reason, files, _, _ in rows if reason}
        files, chunks, redactions = next((row[1:] for row in rows if not row[0]), (0, 0, 0))
        waiting = "SELECT total(unembedded) FROM files WHERE folder = ? AND unembedded > 0"
        ((unembedded,),) = self._db.all(waiting, [folder])
        covered = Coverage(files=files, chunks=int(chunks), skipped=skipped, unembedded=int(unembedded))
        return covered, int(redactions)

    def indexed_files(self, folder: str, after: str = "") -> Iterator[IndexedFile]:
        """The indexed files of a folder by path, of those behind ``after``, as they are asked for."""
        where = "folder = ? AND path > ? AND skip = ''"
        statement = f"SELECT {self._columns} FROM files WHERE {where} ORDER BY path"  # noqa: S608 - constants only
        for row in self._db.each(statement, [folder, after]):
            state = self._db.read(_state, row)
            yield IndexedFile(state.ref, state.size, state.mtime_ns / 1e9, state.chunks, state.tokens, state.redactions)

    def ignored_directories(self, folder: str) -> list[str]:
        """Directories of a folder that rules leave out as a whole, each with ``/`` at its end."""
        statement = "SELECT path FROM left_out WHERE folder = ? AND reason = ? AND path LIKE '%/'"
        return [path for (path,) in self._db.all(statement, [folder, SkipReason.IGNORED.value])]

    def skipped(self, folder: str, below: Sequence[str] = ()) -> dict[str, int]:
        """How much was left out of a folder (or of parts of it), by reason."""
        if not below:
            return dict(self.coverage(folder)[0].skipped)
        counted: Counter[str] = Counter()
        for where, values in _at_or_below(folder, below):
            for table, reason in (("files", "skip"), ("left_out", "reason")):
                statement = f"SELECT {reason}, count(*) FROM {table} WHERE {where} AND {reason} != '' GROUP BY {reason}"  # noqa: S608 - constants only
                counted.update(dict(self._db.all(statement, values)))
        return dict(sorted(counted.items()))

    def skipped_files(self, folder: str) -> list[SkippedFile]:
        """Everything left out of a folder, by path."""
        rows = self._db.all(
            "SELECT path, skip, message FROM files WHERE folder = ? AND skip != '' "
            "UNION ALL SELECT path, reason, message FROM left_out WHERE folder = ? ORDER BY 1",
            [folder, folder],
        )
        read = self._db.read
        return [SkippedFile(FileRef(folder, path), read(SkipReason, reason), message) for path, reason, message in rows]

    def problem(self) -> str:
        """What is wrong with the file, all of which is read; empty if nothing is."""
        try:
            for row in self._db.each(f"SELECT {self._columns} FROM files"):  # noqa: S608 - constants only
                self._db.read(_state, row)
            self.lives.all()
        except IndexDamagedError:
            return "cannot be read"
        return "" if self._db.is_sound() else "is no sound database"

    def copy_to(self, path: Path) -> None:
        """Write a copy of one moment, whoever writes meanwhile."""
        self._db.copy_to(path)

    def doubt(self, *, fates: bool) -> None:
        """Take nothing for granted: whoever opens the index next compares all with the store.

        With ``fates`` nobody knows which ones the store's rows have.
        """
        if fates:
            self.lives.doubt_all()
        self._db.write(
            ("DELETE FROM facts WHERE name = 'generation'", [()]),
            (UNSETTLE, [()]),
            ("DELETE FROM totals", [()]),
            (_COUNT, [()]),
        )

    def close(self) -> None:
        """Release the file."""
        self._db.close()

    def _left_out(self, folder: str, below: Sequence[str]) -> list[tuple[str, str, str, str]]:
        statement = "SELECT folder, path, reason, message FROM left_out WHERE"
        return sorted(
            row for where, values in _at_or_below(folder, below) for row in self._db.all(f"{statement} {where}", values)
        )


def _at_or_below(folder: str, below: Sequence[str]) -> list[tuple[str, list[str]]]:
    """Conditions and their values: all of a folder, or for each of ``below`` it and what lies under it."""
    if not below:
        return [("folder = ?", [folder])]
    condition = "folder = ? AND (path = ? OR (path >= ? AND path < ?))"  # "0" follows "/"
    return [(condition, [folder, path, f"{path}/", f"{path}0"]) for path in below]


def _triggers() -> str:
    made = []
    for table, reason, counted in (("files", "skip", True), ("left_out", "reason", False)):
        names = {
            f"{row}_{name}": f"{row}.{name}" if counted else "0"
            for row in ("old", "new")
            for name in ("chunks", "redactions")
        }
        take, add = _TAKE.format(reason=reason, **names), _ADD.format(reason=reason, **names)
        for event, body in (("INSERT", add), ("DELETE", take), ("UPDATE", take + add)):
            made.append(f"CREATE TRIGGER {table}_{event.lower()} AFTER {event} ON {table} BEGIN {body} END;")
    return "".join(made)


def _signed(number: int) -> int:
    """An unsigned 64-bit number as SQLite's signed one with the same bits; some file systems use the top bit."""
    return number - (_UNSIGNED + 1) if number > _UNSIGNED >> 1 else number


def _row(state: FileState) -> tuple[object, ...]:
    return (
        state.ref.folder,
        state.ref.path,
        state.size,
        state.mtime_ns,
        state.ctime_ns,
        _signed(state.inode),
        state.checked_ns,
        state.content_hash,
        state.chunks,
        state.tokens,
        state.redactions,
        state.skip.value if state.skip else "",
        state.message,
        state.unembedded,
    )


def _state(row: Sequence[Any]) -> FileState:
    folder, path, size, mtime, ctime, inode, checked, digest, chunks, tokens, redactions, skip, message, waiting = row
    return FileState(
        ref=FileRef(str(folder), str(path)),
        size=int(size),
        mtime_ns=int(mtime),
        ctime_ns=int(ctime),
        inode=int(inode) & _UNSIGNED,
        checked_ns=int(checked),
        content_hash=str(digest),
        chunks=int(chunks),
        tokens=int(tokens),
        redactions=int(redactions),
        skip=SkipReason(str(skip)) if skip else None,
        message=str(message),
        unembedded=int(waiting),
    )
