"""JSON files of an index, replaced whole (written beside, then renamed): a reader sees the old one or the new.

And what an error of the operating system about an index stands for.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from everfind_core.errors import IndexDamagedError, StorageError, StorageFullError
from everfind_core.files.parsed_json import convert, parse_json
from everfind_core.files.whole import is_disk_full, replace_file

T = TypeVar("T")

REPAIR_HINT = "Run `everfind doctor --repair`: it keeps what is whole, indexes the rest again, and then swaps."


def read_json(path: Path) -> dict[str, Any] | None:
    """The object in a file; None where there is no file.

    Raises:
        IndexDamagedError: it holds something else.
        StorageError: it cannot be read.
    """
    try:
        found = parse_json(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise StorageError(
            f"cannot read {path}: {error.strerror}", hint="Check owner and mode of the index directory."
        ) from error
    except ValueError as error:
        raise damaged(path) from error
    if not isinstance(found, dict):
        raise damaged(path)
    return found


def decoded(path: Path, found: dict[str, Any], kind: type[T]) -> T:
    """What was ``found`` in a file, as a dataclass.

    Raises:
        IndexDamagedError: it has another shape.
    """
    try:
        return convert(found, kind)
    except (TypeError, ValueError) as error:
        raise damaged(path) from error


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """Replace a JSON file whole.

    Raises:
        StorageError: the directory cannot be written.
    """
    try:
        replace_file(path, json.dumps(value, ensure_ascii=True, separators=(",", ":")), mode=0o644)
    except OSError as error:
        raise storage_error(error, path.parent) from error


def damaged(path: Path) -> IndexDamagedError:
    """The error that says so of a file of the index."""
    return IndexDamagedError(f"the index is damaged: {path} cannot be read", hint=REPAIR_HINT)


def storage_error(error: OSError, place: Path) -> StorageError:
    """The storage error that stands for an error of the operating system at ``place``."""
    if is_disk_full(error):
        return StorageFullError(
            f"no space left in {place}", hint="Free some space, or set `index_dir` to another disk; then run it again."
        )
    why = error.strerror or str(error)
    return StorageError(
        f"the index in {place} cannot be read or written: {why}",
        hint="Check its owner and mode, or set `index_dir` elsewhere.",
    )
