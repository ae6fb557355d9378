"""Vectors kept for reuse: what was embedded once, by any index of this machine, is not embedded again for a while.

One SQLite file for all indexes of a user, so that worktrees, forks and rebuilt indexes share it. A vector is named by
the model's identity and the hash of the embedded text, and held as the store holds it (float16), with a checksum. The
file is only a saving: whatever is wrong with it costs embedding again, and never ends a run.

Entries come from embedding alone, never out of a table: an index that came with a clone cannot plant vectors here.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from everfind_core.causes import cause
from everfind_indexer.settings import KeptVectors

if TYPE_CHECKING:
    import numpy.typing as npt

T = TypeVar("T")

FILE = "vectors-1.sqlite"
LOCK = "vectors.lock"
DAY = 86_400.0
RENEWED_SHARE = 0.25
"""An index says after this share of the retention that it still has its vectors; so long they outlast the retention."""

_TOUCH_SECONDS = DAY
_TIDY_SECONDS = 3_600
_FILL = 0.6
"""Of a page's bytes, those that hold something, at worst in the long run."""
_ROOM = 0.9
"""Down to this share of the limit the oldest are dropped, so that it is not needed each time."""
_ENTRY_BYTES = 60
_BUSY_SECONDS = 2.0
_KEYS_A_QUERY = 500
_ROWS_A_COMMIT = 10_000
_SUM_BYTES = 8
_DAMAGE = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR, sqlite3.SQLITE_MISMATCH})

# What changes often (the time of use) lies apart from what is large. Ids are hashes, so that new vectors fill the holes
# that dropped ones leave.
_SCHEMA = """
PRAGMA page_size = 8192;
PRAGMA auto_vacuum = INCREMENTAL;
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
CREATE TABLE IF NOT EXISTS entries (
    model BLOB NOT NULL, key BLOB NOT NULL, id INTEGER NOT NULL, used INTEGER NOT NULL,
    PRIMARY KEY (model, key)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS vectors (id INTEGER PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
"""


class VectorCache:
    """The kept vectors of one model. One thread at a time; any number of processes.

    ``warnings`` are sentences for the user on what went wrong; after a fault other than damage it stays closed.
    """

    def __init__(self, kept: KeptVectors, model: str, dimensions: int) -> None:
        self.warnings: list[str] = []
        self._kept = kept
        self._path = kept.directory / FILE
        self._model = blake2b(model.encode(), digest_size=16).digest()
        self._vector_bytes = 2 * dimensions
        self._db: sqlite3.Connection | None = None
        self._dropped = False
        self._closed = False

    @property
    def renewal_seconds(self) -> float:
        """How often an index should :meth:`renew` what it holds."""
        return self._kept.days * DAY * RENEWED_SHARE

    def get(self, keys: Iterable[str]) -> dict[str, npt.NDArray[np.floating]]:
        """The vectors that are kept for these embedding keys: float16 of shape (dimensions,)."""
        return self._tolerant(lambda db: self._get(db, [bytes.fromhex(key) for key in keys]), {})

    def put(self, vectors: Mapping[str, npt.NDArray[np.floating]]) -> None:
        """Keep what was just embedded."""
        if vectors:
            self._tolerant(lambda db: self._put(db, vectors), None)

    def renew(self, keys: Iterable[str]) -> None:
        """Count these as used now, where they are kept."""
        self._tolerant(lambda db: self._renew(db, keys), None)

    def forget(self, keys: Iterable[str]) -> None:
        """Drop these, and leave no trace of them in the file."""
        self._tolerant(lambda db: self._forget(db, keys), None)

    def tidy(self) -> None:
        """Now and then: drop what was not used for long, and the oldest beyond the limit of bytes."""
        self._tolerant(self._tidy, None)

    def close(self) -> None:
        """Release the file."""
        if self._db is not None:
            self._db.close()
        self._db, self._closed = None, True

    # --- faults -------------------------------------------------------------------------------------------------------

    def _tolerant(self, work: Callable[[sqlite3.Connection], T], otherwise: T) -> T:
        if self._closed:
            return otherwise
        try:
            self._db = self._db or self._open()
            return work(self._db)
        except (sqlite3.Error, OSError) as error:
            self._give_up(error)
        return otherwise

    def _give_up(self, error: sqlite3.Error | OSError) -> None:
        if self._db is not None and self._db.in_transaction:
            with contextlib.suppress(sqlite3.Error):
                self._db.execute("ROLLBACK")
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGE:
            self._drop()
            self.warnings.append(f"the vectors kept for reuse in {self._path} were damaged and are dropped")
            if not self._dropped:
                self._dropped = True
                return
        self.close()
        self.warnings.append(f"vectors are not reused from {self._path} in this run: {cause(error)}")

    def _open(self) -> sqlite3.Connection:
        self._kept.directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        os.close(os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        db = sqlite3.connect(self._path, isolation_level=None, timeout=_BUSY_SECONDS)
        try:
            db.executescript(_SCHEMA)
        except sqlite3.Error:
            db.close()
            raise
        return db

    def _drop(self) -> None:
        """Remove the damaged file, unless another process has done so already."""
        if self._db is not None:
            self._db.close()
            self._db = None
        with contextlib.suppress(OSError), (self._kept.directory / LOCK).open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not _is_sound(self._path):
                # The log first: beside no file, or an empty one, it means nothing to SQLite.
                for suffix in ("-wal", "-shm", ""):
                    self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)

    # --- work ---------------------------------------------------------------------------------------------------------

    def _get(self, db: sqlite3.Connection, keys: Sequence[bytes]) -> dict[str, npt.NDArray[np.floating]]:
        found: dict[str, npt.NDArray[np.floating]] = {}
        old: list[bytes] = []
        broken: list[bytes] = []
        now = int(time.time())
        for part in _parts(keys, _KEYS_A_QUERY):
            statement = (
                "SELECT key, used, data FROM entries LEFT JOIN vectors USING (id) "  # noqa: S608 - marks only
                f"WHERE model = ? AND key IN ({','.join('?' * len(part))})"
            )
            for key, used, data in db.execute(statement, [self._model, *part]):
                vector = self._checked(key, data)
                if vector is None:
                    broken.append(key)
                    continue
                found[key.hex()] = vector
                if used < now - _TOUCH_SECONDS:
                    old.append(key)
        if old:
            self._write(db, "UPDATE entries SET used = ? WHERE model = ? AND key = ?", now, old)
        if broken:
            self._remove(db, broken)
            self.warnings.append(f"{len(broken)} of the vectors kept for reuse were damaged and are dropped")
        return found

    def _put(self, db: sqlite3.Connection, vectors: Mapping[str, npt.NDArray[np.floating]]) -> None:
        now = int(time.time())
        data = {bytes.fromhex(key): np.ascontiguousarray(v, dtype="<f2").tobytes() for key, v in vectors.items()}
        with _transaction(db):
            db.executemany(
                "INSERT OR REPLACE INTO vectors VALUES (?, ?)",
                sorted((self._id(key), self._sum(key, body) + body) for key, body in data.items()),  # page by page
            )
            db.executemany(
                "INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?)",
                [(self._model, key, self._id(key), now) for key in data],
            )

    def _renew(self, db: sqlite3.Connection, keys: Iterable[str]) -> None:
        for part in _parts((bytes.fromhex(key) for key in keys), _ROWS_A_COMMIT):
            self._write(db, "UPDATE entries SET used = ? WHERE model = ? AND key = ?", int(time.time()), part)

    def _forget(self, db: sqlite3.Connection, keys: Iterable[str]) -> None:
        db.execute("PRAGMA secure_delete = ON")
        for part in _parts((bytes.fromhex(key) for key in keys), _ROWS_A_COMMIT):
            self._remove(db, part)
        db.execute("PRAGMA incremental_vacuum").fetchall()
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def _remove(self, db: sqlite3.Connection, keys: Sequence[bytes]) -> None:
        with _transaction(db):
            db.executemany("DELETE FROM vectors WHERE id = ?", [(self._id(key),) for key in keys])
            db.executemany("DELETE FROM entries WHERE model = ? AND key = ?", [(self._model, key) for key in keys])

    def _write(self, db: sqlite3.Connection, statement: str, now: int, keys: Sequence[bytes]) -> None:
        with _transaction(db):
            db.executemany(statement, [(now, self._model, key) for key in keys])

    def _tidy(self, db: sqlite3.Connection) -> None:
        now = time.time()
        (last,) = db.execute("SELECT total(value) FROM facts WHERE name = 'tidied'").fetchone()
        if now < last + _TIDY_SECONDS and _live_bytes(db) <= self._kept.max_bytes:
            return
        oldest = int(now - self._kept.days * DAY * (1 + RENEWED_SHARE))
        while _delete_oldest(db, "WHERE used < ?", [oldest], _ROWS_A_COMMIT):
            pass
        (count,) = db.execute("SELECT count(*) FROM entries").fetchone()
        most = int(_FILL * self._kept.max_bytes / (_ENTRY_BYTES + _mean_bytes(db)))
        surplus = count - int(_ROOM * most) if count > most else 0
        for start in range(0, surplus, _ROWS_A_COMMIT):
            _delete_oldest(db, "", [], min(_ROWS_A_COMMIT, surplus - start))
        db.execute("INSERT OR REPLACE INTO facts VALUES ('tidied', ?)", [int(now)])
        db.execute("PRAGMA incremental_vacuum").fetchall()

    def _checked(self, key: bytes, data: Any) -> npt.NDArray[np.float16] | None:
        if not isinstance(data, bytes) or len(data) != _SUM_BYTES + self._vector_bytes:
            return None
        body = data[_SUM_BYTES:]
        return np.frombuffer(body, dtype="<f2") if data[:_SUM_BYTES] == self._sum(key, body) else None

    def _id(self, key: bytes) -> int:
        return int.from_bytes(blake2b(self._model + key, digest_size=8).digest(), "big", signed=True)

    def _sum(self, key: bytes, data: bytes) -> bytes:
        """Covers the name, too: a whole vector under another's name is as wrong as a broken one."""
        return blake2b(self._model + key + data, digest_size=_SUM_BYTES).digest()


@contextlib.contextmanager
def _transaction(db: sqlite3.Connection) -> Iterator[None]:
    db.execute("BEGIN IMMEDIATE")
    yield
    db.execute("COMMIT")


def _delete_oldest(db: sqlite3.Connection, where: str, values: Sequence[object], most: int) -> int:
    """Delete up to ``most`` entries that meet the condition, those used longest ago first; gives how many."""
    chosen = db.execute(
        f"SELECT model, key, id FROM entries {where} ORDER BY used LIMIT ?",  # noqa: S608 - constants only
        [*values, most],
    ).fetchall()
    with _transaction(db):
        db.executemany("DELETE FROM vectors WHERE id = ?", [(number,) for _, _, number in chosen])
        db.executemany("DELETE FROM entries WHERE model = ? AND key = ?", [(model, key) for model, key, _ in chosen])
    return len(chosen)


def _live_bytes(db: sqlite3.Connection) -> int:
    """Bytes of the file that hold something."""
    pages, free, size = (
        db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
    )
    return int((pages - free) * size)


def _mean_bytes(db: sqlite3.Connection) -> float:
    """Mean length of a vector's data, over some."""
    found = db.execute("SELECT avg(length(data)) FROM (SELECT data FROM vectors LIMIT 1000)").fetchone()[0]
    return float(found or 0)


def _is_sound(path: Path) -> bool:
    """Whether the file can be opened and passes SQLite's own quick check."""
    try:
        with contextlib.closing(sqlite3.connect(path, timeout=_BUSY_SECONDS)) as db:
            found = db.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok"
            db.execute("SELECT model, key, id, used FROM entries LIMIT 1").fetchall()
            db.execute("SELECT id, data FROM vectors LIMIT 1").fetchall()
            return bool(found)
    except sqlite3.Error:
        return False


def _parts(values: Iterable[bytes], size: int) -> Iterator[list[bytes]]:
    rest = iter(values)
    while part := list(islice(rest, size)):
        yield part
