"""What is taken over from another system's configuration, and what is not and why."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from everfind_core.errors import ConfigError
from everfind_core.files.parsed_json import parse_json

MAX_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class WantedFolder:
    """A directory (the operating system's path, absolute), and what it had of its own."""

    path: str
    include: tuple[str, ...] = ()
    default_exclude: tuple[str, ...] = ()
    path_boosts: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Something that has no counterpart, or must be decided by a person: what it is called there, and why."""

    key: str
    why: str


@dataclass(slots=True)
class Plan:
    """What an importer found: folders, settings by our names, lines for the user's ``.indexignore``, and the rest."""

    source: Path
    folders: list[WantedFolder] = field(default_factory=list)
    settings: dict[str, Any] = field(default_factory=dict)
    ignore: list[str] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)

    def leave(self, key: str, why: str) -> None:
        """Note that ``key`` is not taken over."""
        self.left_out.append(LeftOut(key, why))


def read_text(path: Path) -> str:
    """A configuration file's text.

    Raises:
        ConfigError: it is not there, cannot be read, or is no text of a sensible size.
    """
    try:
        with path.open("rb") as stream:
            raw = stream.read(MAX_BYTES + 1)
        if len(raw) > MAX_BYTES:
            raise ConfigError(f"{path} is larger than {MAX_BYTES:,} bytes, so it is no settings file")
        return raw.decode("utf-8-sig")
    except OSError as error:
        raise ConfigError(
            f"cannot read {path}: {error.strerror}", hint="Name the file: `everfind import-config SYSTEM PATH`."
        ) from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not UTF-8 text", hint="Name the configuration file itself.") from error


def read_object(path: Path) -> dict[str, Any]:
    """The object that a JSON file holds.

    Raises:
        ConfigError: it cannot be read, or holds something else.
    """
    try:
        document = parse_json(read_text(path))
    except ValueError as error:
        raise ConfigError(f"{path} is no JSON object: {error}", hint="Name the configuration file itself.") from None
    if not isinstance(document, dict):
        raise ConfigError(f"{path} is no JSON object", hint="Name the configuration file itself.")
    return document


def texts(value: Any) -> list[str] | None:
    """A text or a list of texts as a list; None if it is something else, or one is empty or cannot name a file."""
    listed = [value] if isinstance(value, str) else value
    return listed if isinstance(listed, list) and all(map(_is_text, listed)) else None


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value) and not re.search("[\0\ud800-\udfff]", value)
