"""An index as one file: a tar archive whose first member says what all the others are.

``export.json`` has the index's manifest, its folders, and name, size and digest of each other member. Whoever reads an
archive takes nothing from it but what is listed there, in the order of the list, under names of a known form, and only
if size and digest are right.
"""

from __future__ import annotations

import io
import json
import re
import tarfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, TypeVar

from everfind_core.errors import ArchiveUnusableError, StorageError, StorageFullError
from everfind_core.files.parsed_json import OTHER_SHAPE, convert, parse_json
from everfind_core.files.whole import is_disk_full, replaced
from everfind_core.index.json_files import storage_error
from everfind_core.index.manifest import Manifest, check_format
from everfind_core.index.written_files import digest_of, new_digest
from everfind_core.model import Folder

if TYPE_CHECKING:
    from collections.abc import Iterator

T = TypeVar("T")

FORMAT: Final = 1
HEADER: Final = "export.json"
FILES: Final = "files.jsonl"
"""What is known of each file, one a line; the indexer's own."""

_MOST_HEADER: Final = 64 << 20
_BLOCK: Final = 1 << 20
_NAME: Final = re.compile(
    r"files\.jsonl|coverage\.json|calibration\.json|chunks\.sqlite"
    r"|chunks\.lance/(?:data|_versions|_deletions|_indices/[0-9a-f-]{36})/[0-9A-Za-z_-][0-9A-Za-z_.-]{0,199}"
)


@dataclass(frozen=True, slots=True)
class Member:
    """A file of an archive: ``digest`` is BLAKE2b 128 in hex."""

    name: str
    size: int
    digest: str


@dataclass(frozen=True, slots=True)
class Header:
    """What an archive holds; ``generation`` is the one that was exported, ``created`` in seconds since the epoch."""

    manifest: Manifest
    folders: tuple[Folder, ...]
    generation: int
    created: float
    members: tuple[Member, ...]

    @property
    def size(self) -> int:
        """Bytes of all members together."""
        return sum(member.size for member in self.members)


def members_of(directory: Path) -> tuple[Member, ...]:
    """The files below ``directory``, as an archive lists them.

    Raises:
        OSError: one cannot be read.
    """
    files = sorted(path for path in directory.rglob("*") if path.is_file())
    return tuple(Member(path.relative_to(directory).as_posix(), path.stat().st_size, digest_of(path)) for path in files)


def write_archive(target: Path, directory: Path, header: Header) -> None:
    """Write the files that ``header`` lists, which lie in ``directory``, as one archive; ``target`` is replaced whole.

    Raises:
        StorageError: it cannot be written.
    """
    text = json.dumps(
        {
            "format": FORMAT,
            "manifest": asdict(header.manifest),
            "folders": [asdict(folder) for folder in header.folders],
            "generation": header.generation,
            "created": header.created,
            "files": [asdict(member) for member in header.members],
        }
    ).encode()
    try:
        with replaced(target) as file, tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as archive:
            archive.addfile(_entry(HEADER, len(text)), io.BytesIO(text))
            for member in header.members:
                with (directory / member.name).open("rb") as content:
                    archive.addfile(_entry(member.name, member.size), content)
    except OSError as error:
        raise (StorageFullError if is_disk_full(error) else StorageError)(
            f"cannot write {target}: {error.strerror or error}", hint="Name a new file in a directory with room for it."
        ) from error


@contextmanager
def open_archive(path: Path) -> Iterator[ArchiveReader]:
    """An archive, for reading.

    Raises:
        ArchiveUnusableError: it is none, or of a newer format, or damaged.
    """
    with ExitStack() as stack:
        with _reading(path):
            file = stack.enter_context(path.open("rb"))
            archive = stack.enter_context(_sound(lambda: _opened(file)))
            reader = ArchiveReader(path, archive)
        yield reader


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """What goes wrong within the block, which reads ``path`` and does nothing else, is the archive's fault."""
    try:
        yield
    except (tarfile.TarError, EOFError) as error:
        raise _unusable(path, "it is no archive of an index, or was cut short") from error
    except OSError as error:
        raise ArchiveUnusableError(f"cannot read {path}: {error.strerror or error}", hint=_HINT) from error


class ArchiveReader:
    """Reads an archive once from its start to its end; takes nothing from it on trust."""

    def __init__(self, path: Path, archive: tarfile.TarFile) -> None:
        self._path = path
        self._archive = archive
        self.header = self._header()

    def unpack(self, directory: Path) -> None:
        """Write all members below ``directory``, which is empty.

        Raises:
            ArchiveUnusableError: one is not what the header says.
            StorageError: one cannot be written.
        """
        for member in self.header.members:
            with _reading(self._path):
                entry = self._next()
            if entry is None or entry.name != member.name or not entry.isreg() or entry.size != member.size:
                raise _unusable(self._path, f"{member.name} is absent, or another than its list says")
            source = self._archive.extractfile(entry)
            if source is None or self._copy(source, directory / member.name) != member.digest:
                raise _unusable(self._path, f"{member.name} does not hold what was exported")
        with _reading(self._path):
            more = self._next()
        if more is not None:
            raise _unusable(self._path, "it holds more than its list says")

    def _copy(self, source: IO[bytes], target: Path) -> str:
        digest = new_digest()
        try:
            target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with target.open("xb") as copy:
                while block := self._block(source):
                    digest.update(block)
                    copy.write(block)
        except OSError as error:
            raise storage_error(error, target.parent) from error
        return digest.hexdigest()

    def _block(self, source: IO[bytes]) -> bytes:
        with _reading(self._path):
            return source.read(_BLOCK)

    def _next(self) -> tarfile.TarInfo | None:
        return _sound(self._archive.next)

    def _header(self) -> Header:
        entry = self._next()
        if entry is None or entry.name != HEADER or not entry.isreg() or entry.size > _MOST_HEADER:
            raise _unusable(self._path, "it does not begin as an archive of an index does")
        source = self._archive.extractfile(entry)
        try:
            found = parse_json(source.read() if source else b"")
            version = int(found["format"])
            if version <= FORMAT:
                check_format(self._path, found["manifest"])
                return _decoded(found, most=self._path.stat().st_size)
        except OTHER_SHAPE as error:
            raise _unusable(self._path, "its list cannot be read") from error
        raise ArchiveUnusableError(
            f"{self._path} is an archive of format {version}, this everfind reads up to {FORMAT}",
            hint="Use the everfind that made it, or a newer one.",
        )


_HINT: Final = "Make it again with `everfind export`, and copy it whole."


def _unusable(path: Path, why: str) -> ArchiveUnusableError:
    return ArchiveUnusableError(f"{path} cannot be imported: {why}", hint=_HINT)


def _opened(file: IO[bytes]) -> tarfile.TarFile:
    return tarfile.open(fileobj=file, mode="r:")


def _sound(read: Callable[[], T]) -> T:
    """What ``read`` makes of a member's header; for some that are none ``tarfile`` raises other errors than its own."""
    try:
        return read()
    except (ValueError, OverflowError, RecursionError) as error:
        raise tarfile.ReadError("no header of a member") from error


def _decoded(found: Mapping[str, Any], *, most: int) -> Header:
    """The header in ``found``, of an archive of ``most`` bytes."""
    members = convert(found["files"], tuple[Member, ...])
    _check_names([member.name for member in members])
    if any(member.size < 0 for member in members) or sum(member.size for member in members) > most:
        raise ValueError("sizes that cannot be")
    return Header(
        manifest=convert(found["manifest"], Manifest),
        folders=convert(found["folders"], tuple[Folder, ...]),
        generation=int(found["generation"]),
        created=float(found["created"]),
        members=members,
    )


def _check_names(names: Sequence[str]) -> None:
    if len(set(names)) != len(names) or not all(_NAME.fullmatch(name) for name in names):
        raise ValueError("a name that no index has")


def _entry(name: str, size: int) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = size, 0o600
    return entry
