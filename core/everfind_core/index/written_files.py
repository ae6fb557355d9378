"""What the files of a table were like when they were written, so that damage is told from what should be there.

The store's library never waits for the disk: after a power cut a file that was written last may be short, or hold zeros
in place of its end. It keeps no checksums either. So the writer notes the size and a digest of each file in
``written.json``, beside the index's manifest. A disk takes in what was written within half a minute; so after the
machine was down, only files of the last minutes before are read again. All are where damage is looked for; the small
manifest, from which all else is found, is read at each start.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from everfind_core.errors import IndexDamagedError
from everfind_core.files.parsed_json import OTHER_SHAPE, parse_json
from everfind_core.files.whole import replace_file
from everfind_core.index.json_files import REPAIR_HINT, storage_error
from everfind_core.index.store_schema import MANIFEST_SUFFIX

WRITTEN: Final = "written.json"

RECENT_SECONDS: Final = 600.0
"""What was written so long before the last note may not have reached the disk; systems write within half a minute."""

_BOOT: Final = Path("/proc/sys/kernel/random/boot_id")
_ABSENT: Final = "is absent"


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A file: ``size`` in bytes, ``digest`` (BLAKE2b 128, hex), and when it was written, in seconds of its boot.

    ``written`` is 0 for what has outlived a start of the machine.
    """

    size: int
    digest: str
    written: float = 0.0


@dataclass(frozen=True, slots=True)
class WrittenFiles:
    """The files by their path below the table's directory, and the start of the machine in which they were noted."""

    boot: str
    files: Mapping[str, WrittenFile]

    @property
    def of_this_start(self) -> bool:
        """Whether the machine is known not to have gone down since they were noted."""
        return bool(self.boot) and self.boot == boot_id()

    def recent(self) -> Iterator[str]:
        """Those that a power cut after the last note may have damaged."""
        since = max((file.written for file in self.files.values()), default=0.0) - RECENT_SECONDS
        return (name for name, file in self.files.items() if file.written > max(0.0, since))

    def outlived(self) -> WrittenFiles:
        """The same, for a later start of the machine that found them whole."""
        return replace(self, files={name: replace(file, written=0.0) for name, file in self.files.items()})


def boot_id() -> str:
    """Names the time since the machine's last start; empty where the system does not tell."""
    try:
        return _BOOT.read_text(encoding="ascii").strip()
    except OSError:
        return ""


def read_written(index: Path) -> WrittenFiles | None:
    """What was noted in an index's directory; None if nothing ever was.

    Raises:
        IndexDamagedError: the note itself is damaged.
    """
    path = index / WRITTEN
    try:
        found = parse_json(path.read_text(encoding="utf-8"))
        files = {str(name): WrittenFile(int(s), str(d), float(w)) for name, (s, d, w) in found["files"].items()}
        return WrittenFiles(str(found["boot"]), files)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise storage_error(error, index) from error
    except OTHER_SHAPE as error:
        raise file_damaged(path, "cannot be read") from error


def note_written(index: Path, table: Path, names: Sequence[str], known: WrittenFiles | None) -> WrittenFiles:
    """Note the files ``names`` of a table; those that are ``known`` are not read again, others are forgotten.

    Raises:
        OSError: one cannot be read, or the note not be written.
    """
    before = known.files if known else {}
    now = time.monotonic()
    files = {name: before.get(name) or _noted(table / name, now) for name in sorted(names)}
    noted = WrittenFiles(boot_id(), files)
    if known is None or (noted.boot, noted.files) != (known.boot, known.files):
        _write(index, noted)
    return noted


def find_damage(table: Path, written: WrittenFiles, names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Of the files ``names``, which are read whole, those that are not what was written, each with what is wrong."""
    for name in names:
        if problem := _problem(f"{table}/{name}", written.files[name], whole=True):
            yield name, problem


def check_written(index: Path, table: Path) -> WrittenFiles | None:
    """The check at each start: all sizes are compared, the manifest and what a power cut may have hit are read.

    Files that are gone are not missed: a newer version may have replaced them. None where nothing was ever noted.

    Raises:
        IndexDamagedError: one is not what was written, naming it.
    """
    written = read_written(index)
    if written is None:
        return None
    doubtful = frozenset(written.recent()) if not written.of_this_start else frozenset[str]()
    manifests = (name for name in written.files if name.endswith(MANIFEST_SUFFIX))
    manifest = min(manifests, default="")  # newer ones sort first
    for name, file in written.files.items():
        whole = name in doubtful or name == manifest
        problem = _problem(f"{table}/{name}", file, whole=whole)  # there are thousands after many saves
        if problem and problem != _ABSENT:
            raise file_damaged(table / name, problem)
    return written


def digest_of(path: Path) -> str:
    """The BLAKE2b 128 of a file, in hex.

    Raises:
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        return hashlib.file_digest(file, new_digest).hexdigest()


def new_digest() -> hashlib.blake2b:
    """What takes the bytes of a file for :func:`digest_of`."""
    return hashlib.blake2b(digest_size=16)


def file_damaged(path: Path, problem: str) -> IndexDamagedError:
    """A file of the index is not as it was written."""
    return IndexDamagedError(f"the index is damaged: {path} {problem}", hint=REPAIR_HINT)


def _problem(path: str, written: WrittenFile, *, whole: bool) -> str:
    try:
        size = os.stat(path).st_size  # noqa: PTH116 - a path object costs more than the look itself
        if size != written.size:
            return f"has {size:,} bytes instead of {written.size:,}"
        if whole and digest_of(Path(path)) != written.digest:
            return "does not hold what was written"
    except FileNotFoundError:
        return _ABSENT
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    return ""


def _noted(path: Path, now: float) -> WrittenFile:
    return WrittenFile(path.stat().st_size, digest_of(path), now)


def _write(index: Path, noted: WrittenFiles) -> None:
    files = {name: [file.size, file.digest, round(file.written, 1)] for name, file in noted.files.items()}
    text = json.dumps({"boot": noted.boot, "files": files}, separators=(",", ":"))
    replace_file(index / WRITTEN, text, mode=0o644, durable=False)
