"""Where on an object store something lies: ``s3://BUCKET/PREFIX``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

SCHEME: Final = "s3://"

_BUCKET: Final = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_BUCKET_SAID: Final = "3 to 63 lower-case letters, digits, dots and hyphens"


def checked_directory(given: object) -> object:
    """What a setting says of an index's directory, which is none on an object store; for validators.

    Raises:
        ValueError: it names a place there.
    """
    if str(given).startswith(SCHEME):
        raise ValueError(
            "an index is written on a disk; `publish_to` copies it to an object store, for searchers to read it there: "
            "ask one with --server HOST:PORT"
        )
    return given


@dataclass(frozen=True, slots=True)
class ObjectPlace:
    """A bucket, and what names of our objects in it begin with: no ``/`` at its ends, empty for the whole bucket."""

    bucket: str
    prefix: str = ""

    @classmethod
    def parse(cls, text: str) -> ObjectPlace:
        """The place that ``s3://BUCKET/PREFIX`` names.

        Raises:
            ValueError: it names none.
        """
        bucket, _, prefix = text.removeprefix(SCHEME).partition("/")
        prefix = prefix.strip("/")
        if not text.startswith(SCHEME) or not _BUCKET.fullmatch(bucket) or not _names_objects(prefix):
            raise ValueError(f"{text!r} is no s3://BUCKET/PREFIX with a bucket of {_BUCKET_SAID}")
        return cls(bucket, prefix)

    @classmethod
    def checked(cls, text: str) -> str:
        """The text of a setting, empty or a place; for validators. Raises as :meth:`parse`."""
        return str(cls.parse(text)) if text else ""

    def key(self, name: str) -> str:
        """The whole name of one of our objects."""
        return f"{self.prefix}/{name}" if self.prefix else name

    def __str__(self) -> str:
        return f"{SCHEME}{self.bucket}/{self.prefix}".rstrip("/")


def _names_objects(prefix: str) -> bool:
    """Whether every program takes names that begin so for the same objects: some make paths of them."""
    parts = prefix.split("/")
    return prefix.isprintable() and not {".", ".."}.intersection(parts) and (not prefix or all(parts))
