"""The one error tree. Every error a user can meet is a class here, with a stable reason, a kind and a way out.

::

    EverfindError
    ├── InvalidRequestError       INVALID_REQUEST       a field of a call is wrong (names it)
    ├── ConfigError               CONFIG_INVALID        a settings file or value cannot be used
    │   └── UntrustedSettingError CONFIG_UNTRUSTED      a project's file sets what only its user may set
    ├── WorkspaceNotFoundError    WORKSPACE_NOT_FOUND   a request is for another workspace than the one here
    ├── FolderNotFoundError       FOLDER_NOT_FOUND      no added folder has this name or path
    ├── FolderExistsError         FOLDER_EXISTS         the directory or the name is already added
    ├── FolderUnusableError       FOLDER_UNUSABLE       missing, unreadable, or not a directory
    ├── FileNotIndexableError     FILE_NOT_INDEXABLE    outside the folders, ignored, or absent
    ├── IndexMissingError         INDEX_MISSING         nothing was indexed yet
    ├── IndexIncompatibleError    INDEX_INCOMPATIBLE    made by another model, chunker or newer everfind
    ├── IndexDamagedError         INDEX_DAMAGED         a file of the index is truncated or absent
    ├── ArchiveUnusableError      ARCHIVE_UNUSABLE      a file to import is damaged, or none that was exported
    ├── IndexLockedError          INDEX_LOCKED          another process writes (names it)
    ├── StorageError              STORAGE_FAILED        index directory unwritable
    │   └── StorageFullError      STORAGE_FULL          no space left
    ├── ModelUnusableError        MODEL_UNUSABLE        absent, wrong digest, or not an embedding model
    ├── RunNotFoundError          RUN_NOT_FOUND         no index run has this id
    ├── NotOfferedError           NOT_OFFERED           the contract has this call, the server does not answer it
    ├── UnauthenticatedError      UNAUTHENTICATED       no token, or an unknown one
    ├── PermissionDeniedError     PERMISSION_DENIED     the token's scopes or folders do not allow it
    ├── OverloadedError           OVERLOADED            try again later
    ├── UnavailableError          UNAVAILABLE           a service or a remote provider does not answer
    ├── CancelledError            CANCELLED             the caller gave up
    ├── DeadlineExceededError     DEADLINE_EXCEEDED     the caller's time is over
    └── InternalError             INTERNAL              a fault of ours
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar


class ErrorKind(StrEnum):
    """What a caller can do about an error. Exit codes and transport codes follow from it."""

    USAGE = "usage"
    CONFIG = "config"
    NOT_FOUND = "not_found"
    CONFLICT = "conflict"
    PRECONDITION = "precondition"
    BUSY = "busy"
    DATA = "data"
    STORAGE = "storage"
    MODEL = "model"
    DENIED = "denied"
    UNAVAILABLE = "unavailable"
    CANCELLED = "cancelled"
    INTERNAL = "internal"


EXIT_CODES: dict[ErrorKind, int] = {
    ErrorKind.INTERNAL: 1,
    ErrorKind.USAGE: 2,
    ErrorKind.CONFIG: 3,
    ErrorKind.NOT_FOUND: 4,
    ErrorKind.CONFLICT: 4,
    ErrorKind.PRECONDITION: 5,
    ErrorKind.DATA: 5,
    ErrorKind.BUSY: 6,
    ErrorKind.STORAGE: 7,
    ErrorKind.MODEL: 8,
    ErrorKind.DENIED: 9,
    ErrorKind.UNAVAILABLE: 10,
    ErrorKind.CANCELLED: 130,
}
"""Process exit code per kind; 0 is success, an empty answer included."""


@dataclass(frozen=True, slots=True)
class FieldViolation:
    """One field of a request that is wrong.

    ``field`` is the request's own field name, dotted where nested (``filters.include``).
    """

    field: str
    description: str


class EverfindError(Exception):
    """Root of the tree. ``str(error)`` is one sentence: what is wrong and where; ``hint`` is what to do.

    ``details`` are short machine-readable facts (path, holder, expected and found digests).
    """

    reason: ClassVar[str] = "INTERNAL"
    kind: ClassVar[ErrorKind] = ErrorKind.INTERNAL

    def __init__(
        self,
        message: str,
        *,
        hint: str = "",
        details: dict[str, str] | None = None,
        violations: tuple[FieldViolation, ...] = (),
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.details = dict(details or {})
        self.violations = violations

    @property
    def exit_code(self) -> int:
        """The process exit code for this error."""
        return EXIT_CODES[self.kind]


class InvalidRequestError(EverfindError):
    """A field of a call is wrong; ``violations`` name it."""

    reason = "INVALID_REQUEST"
    kind = ErrorKind.USAGE

    @classmethod
    def of(cls, field: str, description: str, *, hint: str = "") -> InvalidRequestError:
        """The usual case: one field."""
        return cls(f"{field}: {description}", hint=hint, violations=(FieldViolation(field, description),))


class ConfigError(EverfindError):
    """A settings file cannot be parsed, or a value cannot be used."""

    reason = "CONFIG_INVALID"
    kind = ErrorKind.CONFIG


class UntrustedSettingError(ConfigError):
    """A project's settings file sets what only the user's own settings may set."""

    reason = "CONFIG_UNTRUSTED"


class WorkspaceNotFoundError(EverfindError):
    """A request names a workspace that is not here."""

    reason = "WORKSPACE_NOT_FOUND"
    kind = ErrorKind.NOT_FOUND


class FolderNotFoundError(EverfindError):
    """No added folder has this name or path."""

    reason = "FOLDER_NOT_FOUND"
    kind = ErrorKind.NOT_FOUND


class FolderExistsError(EverfindError):
    """The directory, or the wanted name, is already added."""

    reason = "FOLDER_EXISTS"
    kind = ErrorKind.CONFLICT


class FolderUnusableError(EverfindError):
    """A folder's directory is missing, unreadable, or not a directory."""

    reason = "FOLDER_UNUSABLE"
    kind = ErrorKind.NOT_FOUND


class FileNotIndexableError(EverfindError):
    """The file lies outside the folders, is absent, or is one that the indexer would not index."""

    reason = "FILE_NOT_INDEXABLE"
    kind = ErrorKind.NOT_FOUND


class IndexMissingError(EverfindError):
    """There is no index yet."""

    reason = "INDEX_MISSING"
    kind = ErrorKind.PRECONDITION


class IndexIncompatibleError(EverfindError):
    """The index was made by another model, another chunker, or a newer everfind."""

    reason = "INDEX_INCOMPATIBLE"
    kind = ErrorKind.PRECONDITION


class IndexDamagedError(EverfindError):
    """A file of the index is truncated, absent or unreadable."""

    reason = "INDEX_DAMAGED"
    kind = ErrorKind.DATA


class ArchiveUnusableError(EverfindError):
    """A file to import is damaged, of a newer format, or none that was exported."""

    reason = "ARCHIVE_UNUSABLE"
    kind = ErrorKind.DATA


class IndexLockedError(EverfindError):
    """Another process holds the writer's lock, or serves the index; the message names it."""

    reason = "INDEX_LOCKED"
    kind = ErrorKind.BUSY


class StorageError(EverfindError):
    """The index directory cannot be written."""

    reason = "STORAGE_FAILED"
    kind = ErrorKind.STORAGE


class StorageFullError(StorageError):
    """No space is left where the index lies."""

    reason = "STORAGE_FULL"


class ModelUnusableError(EverfindError):
    """The embedding model is absent, has the wrong digest, or is not an embedding model."""

    reason = "MODEL_UNUSABLE"
    kind = ErrorKind.MODEL


class RunNotFoundError(EverfindError):
    """No index run has this id."""

    reason = "RUN_NOT_FOUND"
    kind = ErrorKind.NOT_FOUND


class NotOfferedError(EverfindError):
    """The contract has this call, the server does not answer it."""

    reason = "NOT_OFFERED"
    kind = ErrorKind.USAGE


class UnauthenticatedError(EverfindError):
    """The call carries no token, or an unknown or revoked one."""

    reason = "UNAUTHENTICATED"
    kind = ErrorKind.DENIED


class PermissionDeniedError(EverfindError):
    """The token's scopes or folders do not allow this call."""

    reason = "PERMISSION_DENIED"
    kind = ErrorKind.DENIED


class OverloadedError(EverfindError):
    """The service is at its limits; try again later."""

    reason = "OVERLOADED"
    kind = ErrorKind.BUSY


class UnavailableError(EverfindError):
    """A service or a remote provider does not answer."""

    reason = "UNAVAILABLE"
    kind = ErrorKind.UNAVAILABLE


class CancelledError(EverfindError):
    """The caller gave up."""

    reason = "CANCELLED"
    kind = ErrorKind.CANCELLED


class DeadlineExceededError(EverfindError):
    """The caller's time is over."""

    reason = "DEADLINE_EXCEEDED"
    kind = ErrorKind.UNAVAILABLE


class InternalError(EverfindError):
    """A fault of everfind's own."""

    reason = "INTERNAL"


def error_classes() -> dict[str, type[EverfindError]]:
    """Every class of the tree by its reason: what a transport inverts."""
    found: dict[str, type[EverfindError]] = {}
    queue: list[type[EverfindError]] = list(EverfindError.__subclasses__())
    while queue:
        cls = queue.pop()
        found[cls.reason] = cls
        queue.extend(cls.__subclasses__())
    return found
