"""What a workspace holds, and how it is doing."""

from __future__ import annotations

from everfind.common.v1 import status_pb2 as pb
from everfind_core.model import FolderStatus, HealthFinding, OpenWorkspace, Severity, SkippedFile, WorkspaceStatus
from everfind_rpc.converters.corpus import folder_from_proto, folder_to_proto
from everfind_rpc.converters.coverage import coverage_from_proto, coverage_to_proto
from everfind_rpc.converters.models import (
    calibration_from_proto,
    calibration_to_proto,
    floor_from_proto,
    floor_to_proto,
    model_from_proto,
    model_to_proto,
)
from everfind_rpc.converters.wire import EnumTable, maybe, seconds_of_timestamp, timestamp

SEVERITIES = EnumTable(
    {Severity.OK: pb.SEVERITY_OK, Severity.WARNING: pb.SEVERITY_WARNING, Severity.ERROR: pb.SEVERITY_ERROR}
)


def finding_to_proto(finding: HealthFinding) -> pb.HealthFinding:
    """A check's outcome as a message."""
    return pb.HealthFinding(
        check=finding.check,
        severity=SEVERITIES.to_proto(finding.severity),
        message=finding.message,
        hint=finding.hint,
    )


def finding_from_proto(message: pb.HealthFinding) -> HealthFinding:
    """A check's outcome from its message; an unknown severity reads as a warning."""
    return HealthFinding(
        check=message.check,
        severity=SEVERITIES.of_answer(message.severity, Severity.WARNING),
        message=message.message,
        hint=message.hint,
    )


def folder_status_to_proto(status: FolderStatus) -> pb.FolderStatus:
    """A folder's status as a message."""
    return pb.FolderStatus(
        folder=folder_to_proto(status.folder),
        coverage=coverage_to_proto(status.coverage),
        usable=status.usable,
        added=status.added,
        redactions=status.redactions,
        watched=status.watched,
    )


def folder_status_from_proto(message: pb.FolderStatus) -> FolderStatus:
    """A folder's status from its message."""
    return FolderStatus(
        folder=folder_from_proto(message.folder),
        coverage=coverage_from_proto(message.coverage),
        usable=message.usable,
        added=message.added,
        redactions=message.redactions,
        watched=message.watched,
    )


def open_workspace_to_proto(opened: OpenWorkspace) -> pb.OpenWorkspace:
    """An open workspace as a message."""
    return pb.OpenWorkspace(
        workspace=opened.workspace, last_used_time=timestamp(opened.last_used), indexing=opened.indexing
    )


def open_workspace_from_proto(message: pb.OpenWorkspace) -> OpenWorkspace:
    """An open workspace from its message."""
    return OpenWorkspace(message.workspace, seconds_of_timestamp(message.last_used_time), message.indexing)


def workspace_status_to_proto(status: WorkspaceStatus) -> pb.WorkspaceStatus:
    """A workspace's status as a message, without ``skipped_files``: those have pages of their own."""
    return pb.WorkspaceStatus(
        workspace=status.workspace,
        index_directory=status.index_directory,
        generation=status.generation,
        folders=[folder_status_to_proto(folder) for folder in status.folders],
        coverage=coverage_to_proto(status.coverage),
        model=maybe(model_to_proto, status.model),
        vector_type=status.vector_type,
        index_time=timestamp(status.indexed_at),
        disk_bytes=status.disk_bytes,
        redactions=status.redactions,
        writer=status.writer,
        findings=[finding_to_proto(finding) for finding in status.findings],
        outgoing=status.outgoing,
        calibration=maybe(calibration_to_proto, status.calibration),
        version=status.version,
        settings_digest=status.settings_digest,
        floor=maybe(floor_to_proto, status.floor),
        open_workspaces=[open_workspace_to_proto(opened) for opened in status.open_workspaces],
    )


def workspace_status_from_proto(
    message: pb.WorkspaceStatus, skipped_files: tuple[SkippedFile, ...] = ()
) -> WorkspaceStatus:
    """A workspace's status from its message, and from what ``ListSkippedFiles`` gave."""
    return WorkspaceStatus(
        workspace=message.workspace,
        index_directory=message.index_directory,
        generation=message.generation,
        folders=tuple(folder_status_from_proto(folder) for folder in message.folders),
        coverage=coverage_from_proto(message.coverage),
        model=model_from_proto(message.model) if message.HasField("model") else None,
        vector_type=message.vector_type,
        indexed_at=seconds_of_timestamp(message.index_time),
        disk_bytes=message.disk_bytes,
        redactions=message.redactions,
        writer=message.writer,
        skipped_files=skipped_files,
        findings=tuple(finding_from_proto(finding) for finding in message.findings),
        outgoing=tuple(message.outgoing),
        calibration=calibration_from_proto(message.calibration) if message.HasField("calibration") else None,
        version=message.version,
        settings_digest=message.settings_digest,
        floor=floor_from_proto(message.floor) if message.HasField("floor") else None,
        open_workspaces=tuple(map(open_workspace_from_proto, message.open_workspaces)),
    )
