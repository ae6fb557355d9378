"""Changing files that belong to others, too: whole or not at all, and nothing in them is lost."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from everfind_core.errors import ConfigError, StorageError
from everfind_core.files.parsed_json import parse_json
from everfind_core.files.whole import replace_file


def mode_of(file: Path, new: int) -> int:
    """The mode of ``file``; ``new`` where there is none yet."""
    return file.stat().st_mode & 0o777 if file.exists() else new


def edit_text(file: Path, edit: Callable[[str], str]) -> bool:
    """Replace a file's text (empty where it does not exist) by what ``edit`` makes of it. False if that is the same.

    Links are followed, so that a linked file stays one. Whatever ``edit`` raises leaves the file as it is.

    Raises:
        ConfigError: it is not UTF-8 text.
        StorageError: it cannot be read or written.
    """
    target = file.resolve()
    try:
        before = target.read_text(encoding="utf-8") if target.exists() else ""
        after = edit(before)
        if after == before:
            return False
        target.parent.mkdir(parents=True, exist_ok=True)
        replace_file(target, after, mode=mode_of(target, 0o644))
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file} is not UTF-8 text", hint="Correct it; it was left as it is.") from error
    except OSError as error:
        raise StorageError(f"cannot write {file}: {error.strerror}", hint="Check its owner and mode.") from error
    return True


def json_object(file: Path, text: str) -> dict[str, Any]:
    """The object that a JSON file holds; empty for an empty file.

    Raises:
        ConfigError: it holds something else.
    """
    try:
        document = parse_json(text) if text.strip() else {}
    except ValueError as error:
        raise left_alone(file, f"it is not plain JSON ({error}; comments count as such)") from None
    if not isinstance(document, dict):
        raise left_alone(file, "it holds no object")
    return document


def json_text(document: dict[str, Any]) -> str:
    """``document`` as such a file is written: two spaces, one newline at the end."""
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def left_alone(file: Path, why: str) -> ConfigError:
    """The error for a file that cannot be changed without losing something in it."""
    return ConfigError(f"{file} was left as it is: {why}", hint="Correct it, or add the entry by hand.")
