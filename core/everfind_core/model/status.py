"""What a workspace holds, and how it is doing."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from everfind_core.model.coverage import Coverage
from everfind_core.model.embedding import Calibration, Floor, ModelInfo
from everfind_core.model.files import SkippedFile
from everfind_core.model.folders import Folder


class Severity(StrEnum):
    """How much a finding matters."""

    OK = "ok"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class HealthFinding:
    """One check's outcome, with the way out where something is wrong."""

    check: str
    severity: Severity
    message: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class FolderStatus:
    """One folder's coverage; whether its directory can be read now (``usable``) and is configured (``added``).

    ``watched`` is whether changes in it are followed now.
    """

    folder: Folder
    coverage: Coverage
    usable: bool = True
    added: bool = True
    redactions: int = 0
    watched: bool = False


@dataclass(frozen=True, slots=True)
class OpenWorkspace:
    """One of the workspaces that a server has open.

    ``workspace`` is its name or its directory, empty for the server's own; ``last_used`` in seconds since the epoch;
    ``indexing`` is whether a client's run is under way in it.
    """

    workspace: str
    last_used: float = 0.0
    indexing: bool = False


@dataclass(frozen=True, slots=True)
class WorkspaceStatus:
    """Coverage by folder, the model, sizes in bytes, and findings. ``indexed_at`` in seconds since the epoch.

    ``vector_type`` is what the index's vectors are stored in (``half``, ``int8``); empty before the first run.

    ``workspace`` is as in :class:`OpenWorkspace`; ``open_workspaces`` are those of a server that has several.

    ``version`` of everfind and ``settings_digest`` (hex) are those of the process that answers; a service of a team,
    which shares its settings with nobody, has no digest.
    """

    workspace: str
    index_directory: str
    generation: int
    folders: tuple[FolderStatus, ...]
    coverage: Coverage
    model: ModelInfo | None = None
    vector_type: str = ""
    indexed_at: float = 0.0
    disk_bytes: int = 0
    redactions: int = 0
    writer: str = ""
    skipped_files: tuple[SkippedFile, ...] = ()
    findings: tuple[HealthFinding, ...] = ()
    outgoing: tuple[str, ...] = field(default=())
    calibration: Calibration | None = None
    floor: Floor | None = None
    version: str = ""
    settings_digest: str = ""
    open_workspaces: tuple[OpenWorkspace, ...] = ()
