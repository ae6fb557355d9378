"""What a workspace holds, and the outcome of health checks, as text."""

from __future__ import annotations

import time
from collections.abc import Iterable

from everfind_core.answers.text_form import semantic_part
from everfind_core.files.paths import printable, shown_path
from everfind_core.model import (
    Coverage,
    FolderStatus,
    HealthFinding,
    OpenWorkspace,
    Severity,
    SkippedFile,
    WorkspaceStatus,
)
from everfind_core.noise.model_registry import facts_of
from everfind_core.text.numbers import by_reason, count, duration, size
from everfind_gateway.render.calibration import floor_line
from everfind_gateway.render.hits import location

_MARKS = {Severity.OK: "ok", Severity.WARNING: "warning", Severity.ERROR: "error"}


def status_text(
    status: WorkspaceStatus, *, name: str = "", outgoing: str = "", server: str = "", skipped_files: bool = False
) -> str:
    """Coverage by folder, sizes, model and findings; what leaves the machine (``outgoing``), and what serves it."""
    lines = [f"{'corpus':<10} {printable(name)}"] if name else []
    lines += [
        f"{'index':<10} {printable(status.index_directory)}",
        f"{'size':<10} {size(status.disk_bytes)}",
        f"{'generation':<10} {status.generation}{_age(status.indexed_at)}",
        f"{'model':<10} {_model(status)}",
        f"{'floor':<10} {_floor(status)}",
        f"{'searchable':<10} {count(status.coverage.files, 'file')}, {count(status.coverage.chunks, 'chunk')}",
        f"{'semantic':<10} {_semantic(status.coverage)}",
        f"{'pending':<10} {count(status.coverage.pending, 'file')}",
        f"{'skipped':<10} {by_reason(status.coverage.skipped) or 'nothing'}",
        f"{'masked':<10} {count(status.redactions, 'secret')}",
    ]
    if outgoing:
        lines.append(f"{'outgoing':<10} {printable(outgoing)}")
    if server:
        lines.append(f"{'server':<10} {printable(server)}")
    if status.writer:
        lines.append(f"{'writer':<10} {status.writer}")
    if status.workspace:
        lines.insert(0, f"{'workspace':<10} {printable(status.workspace)}")
    for folder in status.folders:
        lines += ["", *_folder_lines(folder)]
    if not status.folders:
        lines += ["", "no folders yet: `everfind add DIR`"]
    if status.open_workspaces:
        lines += ["", "open workspaces", *map(_open_workspace_line, status.open_workspaces)]
    findings = [finding for finding in status.findings if finding.severity is not Severity.OK]
    if findings:
        lines += ["", findings_text(findings)]
    if skipped_files:
        lines += ["", *map(_skipped_line, status.skipped_files)]
    return "\n".join(lines)


def findings_text(findings: Iterable[HealthFinding]) -> str:
    """One line a finding, with its hint below it."""
    lines = []
    for finding in findings:
        lines.append(f"{_MARKS[finding.severity]:<8} {finding.check:<9} {printable(finding.message)}")
        if finding.hint and finding.severity is not Severity.OK:
            lines.append(f"{'':<18} {printable(finding.hint)}")
    return "\n".join(lines)


def _folder_lines(status: FolderStatus) -> list[str]:
    remarks = [
        text
        for text, applies in (
            ("not readable", not status.usable),
            ("removed", not status.added),
            ("followed", status.watched),
        )
        if applies
    ]
    coverage = status.coverage
    skipped = by_reason(coverage.skipped)
    remark = f"  ({', '.join(remarks)})" if remarks else ""
    lines = [
        f"{printable(status.folder.name)}  {shown_path(status.folder.root)}{remark}",
        f"  {count(coverage.files, 'file')}, {count(coverage.chunks, 'chunk')}, {coverage.pending:,} pending",
    ]
    if status.folder.include:
        lines.append(f"  only {', '.join(map(printable, status.folder.include))}")
    if skipped:
        lines.append(f"  skipped {skipped}")
    return lines


def _open_workspace_line(opened: OpenWorkspace) -> str:
    name = printable(opened.workspace) or "the server's own"
    asked = f", asked {duration(max(0.0, time.time() - opened.last_used))} ago" if opened.last_used else ""
    return f"  {name}{asked}{', indexing' if opened.indexing else ''}"


def _model(status: WorkspaceStatus) -> str:
    if status.model is None:
        return "none yet"
    stored = ", vectors in int8" if status.vector_type == "int8" else ""
    model = status.model
    return f"{printable(model.id)} ({model.dimensions} dimensions, {model.max_tokens} tokens{stored})"


def _floor(status: WorkspaceStatus) -> str:
    """What an answer's evidence must reach, where that comes from, and whether anybody verified the model."""
    unverified = "" if status.model is None or facts_of(status.model.id) else "; nobody verified this model"
    return ("none yet" if status.floor is None else floor_line(status.floor)) + unverified


def _semantic(coverage: Coverage) -> str:
    """How much of it is found by meaning."""
    return semantic_part(coverage) or ("all chunks have vectors" if coverage.chunks else "nothing yet")


def _age(indexed_at: float) -> str:
    return f", indexed {duration(max(0.0, time.time() - indexed_at))} ago" if indexed_at else ""


def _skipped_line(skipped: SkippedFile) -> str:
    message = f"\t{printable(skipped.message)}" if skipped.message else ""
    return f"{skipped.reason.value}\t{location(skipped.ref.folder, skipped.ref.path)}{message}"
