"""A table that is not in its index's directory: a file there says where on an object store it is, and which version."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from everfind_core.errors import IndexDamagedError, StorageError
from everfind_core.files.parsed_json import parse_json

REMOTE: Final = "remote_table.json"

_PATIENCE: Final = {"client_max_retries": "3", "client_retry_timeout": "20", "timeout": "30s", "connect_timeout": "5s"}


@dataclass(frozen=True, slots=True)
class RemoteTable:
    """A version of a table on an object store. ``options`` say where the store answers; credentials are in none."""

    uri: str
    version: int
    options: Mapping[str, str]

    def as_json(self) -> dict[str, Any]:
        """As it lies in an index's directory."""
        return asdict(self)

    def storage_options(self) -> dict[str, str]:
        """As Lance wants to be told."""
        return {**_PATIENCE, **self.options}

    def unreadable(self) -> IndexDamagedError:
        """A file of it is gone or damaged, or the store does not give it."""
        return IndexDamagedError(
            f"the published index cannot be read: {self.uri}, version {self.version}",
            hint="Try again; if it stays so, remove published.json there and let the indexer publish anew.",
        )


def remote_table(index: Path) -> RemoteTable | None:
    """The table of an index as it is told now; None if it lies in the index's directory.

    Raises:
        StorageError: it cannot be read.
    """
    try:
        return RemoteTable(**parse_json((index / REMOTE).read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError) as error:
        raise StorageError(f"cannot read {index / REMOTE}", hint="Start the searcher anew.") from error
