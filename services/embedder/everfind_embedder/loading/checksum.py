"""Digests of model files, and the refusal of a file that has another one than expected."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

from everfind_core.errors import ModelUnusableError

REVISION_LENGTH = 16
"""Hex digits of a digest that a model's revision shows."""


def sha256_of(path: Path) -> str:
    """The file's SHA-256 as hex.

    Raises:
        ModelUnusableError: it cannot be read.
    """
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ModelUnusableError(
            f"the model file {path} cannot be read: {error.strerror}",
            hint="Restore the file or install the model again.",
            details={"path": str(path)},
        ) from error


def verify_sha256(path: Path, expected: str, *, hint: str) -> None:
    """Check the file at ``path`` before it is used.

    Raises:
        ModelUnusableError: it cannot be read, or its digest is not ``expected``; ``hint`` is the way out.
    """
    found = sha256_of(path)
    if found != expected:
        raise ModelUnusableError(
            f"the model file {path} is not the expected one: its SHA-256 is {found}, expected {expected}",
            hint=hint,
            details={"path": str(path), "expected": expected, "found": found},
        )


def revision_of(parts: Iterable[str]) -> str:
    """One short digest over ``parts`` in their order: digests of files, settings, a variant's name."""
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:REVISION_LENGTH]
