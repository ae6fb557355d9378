"""The documented JSON of every answer, the same in CLI, MCP and gRPC's own clients. docs/json.md describes it.

A key of the documented objects is always there. Keys that only some answers have (``date``, ``relation``, ``hidden`` …)
are there when they say something.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from everfind_core.model import (
    Calibration,
    Coverage,
    FileText,
    Folder,
    FolderStatus,
    FurtherFile,
    GatherAnswer,
    GrepAnswer,
    HealthFinding,
    Hit,
    IndexedFile,
    IndexReport,
    ModelInfo,
    OpenWorkspace,
    Passage,
    Provenance,
    RelatedAnswer,
    SearchAnswer,
    SkippedFile,
    WorkspaceStatus,
)

Json: TypeAlias = dict[str, Any]


def search_json(answer: SearchAnswer) -> Json:
    """The object of ``search --json``."""
    referred = {hit.relation_to for hit in answer.hits if hit.relation_to}
    form: Json = {
        "query": answer.query,
        "generation": answer.generation,
        "hits": [hit_json(hit, with_id=hit.chunk_id in referred) for hit in answer.hits],
        "abstained": None,
        "coverage": coverage_json(answer.coverage),
    }
    if answer.abstained is not None:
        form["abstained"] = {
            "best_score": _rounded(answer.abstained.best_score),
            "threshold": _rounded(answer.abstained.threshold),
        }
    if answer.hidden.count:
        hidden = answer.hidden
        form["hidden"] = {
            "count": hidden.count,
            "by_rule": _counts(hidden.by_rule),
            "best_folder": hidden.best_folder,
            "best_path": hidden.best_path,
        }
    return (
        form
        | _about(answer)
        | _given(
            further=[_further_json(file) for file in answer.further],
            parts=list(answer.parts),
            intents=list(answer.intents),
            unmatched=answer.unmatched,
        )
    )


def _further_json(file: FurtherFile) -> Json:
    return {
        "folder": file.folder,
        "path": file.path,
        "start_line": file.start_line,
        "end_line": file.end_line,
        "symbol": file.symbol,
        "heading": file.heading,
    }


def hit_json(hit: Hit, *, with_id: bool = False) -> Json:
    """One hit. ``with_id`` adds the chunk's id, for answers in which another hit refers to it."""
    form: Json = {
        "folder": hit.folder,
        "path": hit.path,
        "absolute_path": hit.absolute_path,
        "start_line": hit.start_line,
        "end_line": hit.end_line,
        "score": _rounded(hit.score),
        "provenance": _provenance_json(hit.provenance),
        "symbol": hit.symbol,
        "kind": hit.kind,
        "language": hit.language,
        "heading": hit.heading,
        "status": hit.status,
        "text": hit.text,
    }
    return form | _given(
        date=hit.date,
        successor=hit.successor,
        page=hit.page,
        relation="" if hit.relation is None else hit.relation.value,
        relation_to=hit.relation_to,
        relation_path=hit.relation_path,
        chunk_id=hit.chunk_id if with_id else "",
        explain=[{"rule": c.rule, "value": _rounded(c.value)} for c in hit.explain],
    )


def gather_json(answer: GatherAnswer) -> Json:
    """The object of ``gather --json``: the search's object, its passages, and the Markdown block."""
    return {
        "answer": search_json(answer.answer),
        "passages": [_passage_json(passage) for passage in answer.passages],
        "markdown": answer.markdown,
    }


def related_json(answer: RelatedAnswer) -> Json:
    """The object of ``related --json``."""
    form: Json = {
        "generation": answer.generation,
        "targets": [hit_json(hit, with_id=True) for hit in answer.targets],
        "related": [
            {
                "relation": related.relation.value,
                "confidence": _rounded(related.confidence),
                "line": related.line,
                "symbol": related.symbol,
                "hit": hit_json(related.hit),
            }
            for related in answer.related
        ],
        "coverage": coverage_json(answer.coverage),
    }
    return form | _about(answer)


def _about(answer: SearchAnswer | RelatedAnswer) -> Json:
    """What a reader must know of an answer besides its hits."""
    form: Json = {}
    stale = answer.staleness
    if stale.stale or stale.pending:
        form["staleness"] = {"stale": stale.stale, "pending": stale.pending, "indexed_at": stale.indexed_at}
    return form | _given(warnings=list(answer.warnings), next_cursor=answer.next_cursor, left_out=answer.left_out)


def coverage_json(coverage: Coverage) -> Json:
    """What was searched; ``unembedded`` where chunks wait for their vectors."""
    form: Json = {
        "files": coverage.files,
        "chunks": coverage.chunks,
        "skipped": _counts(coverage.skipped),
        "pending": coverage.pending,
    }
    return form | _given(unembedded=coverage.unembedded)


def index_json(report: IndexReport) -> Json:
    """The one object that ``index --json`` ends with."""
    form: Json = {
        "files": {
            "indexed": report.indexed,
            "unchanged": report.unchanged,
            "deleted": report.deleted,
            "skipped": _counts(report.skipped),
        },
        "chunks": {
            "written": report.chunks_written,
            "embedded": report.chunks_embedded,
            "reused": report.chunks_reused,
        },
        "tokens": report.tokens,
        "seconds": {stage: round(seconds, 6) for stage, seconds in report.seconds.items()},
        "errors": [skipped_json(skipped) for skipped in report.errors],
    }
    return form | _given(
        context_tokens=report.context_tokens,
        corpus_tokens=report.corpus_tokens,
        redactions=report.redactions,
        pending=report.pending,
        generation=report.generation,
        warnings=list(report.warnings),
        calibration=report.calibration and calibration_json(report.calibration),
    )


def skipped_json(skipped: SkippedFile) -> Json:
    """One thing that was left out, and why."""
    return {
        "folder": skipped.ref.folder,
        "path": skipped.ref.path,
        "reason": skipped.reason.value,
        "message": skipped.message,
    }


def indexed_file_json(file: IndexedFile) -> Json:
    """One file that the index holds."""
    return {
        "folder": file.ref.folder,
        "path": file.ref.path,
        "size": file.size,
        "modified": file.modified,
        "chunks": file.chunks,
        "tokens": file.tokens,
        "redactions": file.redactions,
    }


def folder_json(folder: Folder) -> Json:
    """One added folder."""
    return {"name": folder.name, "path": folder.root, "include": list(folder.include)}


def grep_json(answer: GrepAnswer) -> Json:
    """The object of ``grep --json``. ``truncated`` says why these are not all matches; null if they are."""
    return {
        "matches": [
            {
                "folder": match.ref.folder,
                "path": match.ref.path,
                "absolute_path": match.absolute_path,
                "line": match.line,
                "text": match.text,
                "page": match.page or None,
                "extracted_from": match.extracted_from or None,
            }
            for match in answer.matches
        ],
        "files_searched": answer.files_searched,
        "truncated": answer.truncated or None,
    }


def file_json(text: FileText) -> Json:
    """The object of ``cat --json``."""
    return {
        "folder": text.ref.folder,
        "path": text.ref.path,
        "absolute_path": text.absolute_path,
        "start_line": text.start_line,
        "end_line": text.end_line,
        "total_lines": text.total_lines,
        "text": text.text,
        "truncated": text.truncated,
        "indexed": text.indexed,
        "redactions": text.redactions,
        "extracted_from": text.extracted_from or None,
    }


def status_json(status: WorkspaceStatus, *, skipped_files: bool = False) -> Json:
    """The object of ``status --json``; ``skipped_files`` adds the list of what was left out."""
    form: Json = {
        "index_dir": status.index_directory,
        "generation": status.generation,
        "indexed_at": status.indexed_at or None,
        "folders": [_folder_status_json(folder) for folder in status.folders],
        "coverage": coverage_json(status.coverage),
        "model": None if status.model is None else _model_json(status.model),
        "vector_type": status.vector_type or None,
        "disk_bytes": status.disk_bytes,
        "redactions": status.redactions,
        "writer": status.writer or None,
        "findings": findings_json(status.findings),
        "outgoing": list(status.outgoing),
        "floor": status.floor and {"min_score": status.floor.min_score, "origin": status.floor.origin},
        "calibration": None if status.calibration is None else calibration_json(status.calibration),
        "workspace": status.workspace,
        "open_workspaces": [_open_workspace_json(opened) for opened in status.open_workspaces],
    }
    if skipped_files:
        form["skipped_files"] = [skipped_json(skipped) for skipped in status.skipped_files]
    return form


def _open_workspace_json(opened: OpenWorkspace) -> Json:
    return {"workspace": opened.workspace, "last_used": opened.last_used or None, "indexing": opened.indexing}


def calibration_json(calibration: Calibration) -> Json:
    """The object of ``calibrate --json``, and part of ``status``. Scores are on the scale of cosines."""
    return {
        "noise_floor": calibration.noise_floor,
        "pair_noise": calibration.pair_noise,
        "samples": calibration.samples,
        "chunks": calibration.chunks,
        "suggested_min_score": calibration.suggested_min_score,
        "min_score": calibration.min_score,
        "origin": calibration.origin,
        "measured": calibration.measured,
    }


def findings_json(findings: Iterable[HealthFinding]) -> list[Json]:
    """The outcomes of health checks."""
    return [{"check": f.check, "severity": f.severity.value, "message": f.message, "hint": f.hint} for f in findings]


def _provenance_json(provenance: Provenance) -> Json:
    semantic, lexical = provenance.semantic, provenance.lexical
    form: Json = {
        "label": provenance.label.value,
        "semantic": None if semantic is None else {"rank": semantic.rank, "cosine": _rounded(semantic.cosine)},
        "lexical": None if lexical is None else {"rank": lexical.rank, "bm25": _rounded(lexical.bm25)},
    }
    if provenance.exact:
        form["exact"] = {"rank": provenance.exact}
    if provenance.rerank is not None:
        form["rerank"] = {"rank": provenance.rerank.rank, "score": _rounded(provenance.rerank.score)}
    return form


def _passage_json(passage: Passage) -> Json:
    return {
        "folder": passage.hit.folder,
        "path": passage.hit.path,
        "start_line": passage.start_line,
        "end_line": passage.end_line,
        "text": passage.text,
        "changed": passage.changed,
        "extracted_from": passage.extracted_from or None,
    }


def _folder_status_json(status: FolderStatus) -> Json:
    return {
        **folder_json(status.folder),
        "usable": status.usable,
        "watched": status.watched,
        "added": status.added,
        "coverage": coverage_json(status.coverage),
        "redactions": status.redactions,
    }


def _model_json(model: ModelInfo) -> Json:
    return {
        "id": model.id,
        "revision": model.revision,
        "dimensions": model.dimensions,
        "max_tokens": model.max_tokens,
        "pooling": model.pooling,
        "source": model.source.value,
        "variant": model.variant,
        "noise_floor": model.noise_floor,
    }


def _counts(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items()))


def _rounded(score: float) -> float:
    """Nine significant digits: more than float32 has, and without its noise."""
    return float(f"{score:.9g}")


def _given(**values: Any) -> Json:
    """The values that say something."""
    return {key: value for key, value in values.items() if value}
