"""The words of everfind as typed values: immutable, without behaviour that needs I/O. See ARCHITECTURE.md."""

from __future__ import annotations

from typing import TYPE_CHECKING

from everfind_core.late_names import late_names

if TYPE_CHECKING:
    from everfind_core.model.chunks import Chunk, Document, LineKind, TokenSpans
    from everfind_core.model.coverage import Coverage
    from everfind_core.model.embedding import (
        Calibration,
        Floor,
        InputKind,
        ModelInfo,
        ModelSource,
        RerankRequest,
        Vectors,
    )
    from everfind_core.model.files import FileRef, FileState, IndexedFile, SkippedFile, SkipReason
    from everfind_core.model.folders import AddFolderRequest, Folder, RemovedFolder, RemoveFolderRequest
    from everfind_core.model.gathering import GatherAnswer, GatherRequest, Passage
    from everfind_core.model.indexing import (
        FileFailed,
        FileProcessed,
        FolderFinished,
        FolderStarted,
        IndexPhase,
        IndexProgress,
        IndexReport,
        IndexRequest,
        IndexRun,
        IndexStage,
        RunEvent,
        RunFinished,
        RunState,
    )
    from everfind_core.model.reading import FileText, GrepAnswer, GrepMatch, GrepRequest, ReadFileRequest
    from everfind_core.model.related import RelatedAnswer, RelatedHit, RelatedRequest
    from everfind_core.model.search import (
        HIDDEN_STATUSES,
        Abstention,
        Contribution,
        Filters,
        FurtherFile,
        Hidden,
        Hit,
        LexicalRank,
        Provenance,
        ProvenanceLabel,
        Relation,
        RerankRank,
        SearchAnswer,
        SearchMode,
        SearchRequest,
        SemanticRank,
        Staleness,
    )
    from everfind_core.model.status import FolderStatus, HealthFinding, OpenWorkspace, Severity, WorkspaceStatus
else:
    __getattr__ = late_names(
        __name__,
        {
            "chunks": "Chunk Document LineKind TokenSpans",
            "coverage": "Coverage",
            "embedding": "Calibration Floor InputKind ModelInfo ModelSource RerankRequest Vectors",
            "files": "FileRef FileState IndexedFile SkipReason SkippedFile",
            "folders": "AddFolderRequest Folder RemoveFolderRequest RemovedFolder",
            "gathering": "GatherAnswer GatherRequest Passage",
            "indexing": (
                "FileFailed FileProcessed FolderFinished FolderStarted IndexPhase IndexProgress IndexReport "
                "IndexRequest IndexRun IndexStage RunEvent RunFinished RunState"
            ),
            "reading": "FileText GrepAnswer GrepMatch GrepRequest ReadFileRequest",
            "related": "RelatedAnswer RelatedHit RelatedRequest",
            "search": (
                "Abstention Contribution Filters FurtherFile HIDDEN_STATUSES Hidden Hit LexicalRank Provenance "
                "ProvenanceLabel Relation RerankRank SearchAnswer SearchMode SearchRequest SemanticRank Staleness"
            ),
            "status": "FolderStatus HealthFinding OpenWorkspace Severity WorkspaceStatus",
        },
    )

__all__ = [
    "HIDDEN_STATUSES",
    "Abstention",
    "AddFolderRequest",
    "Calibration",
    "Chunk",
    "Contribution",
    "Coverage",
    "Document",
    "FileFailed",
    "FileProcessed",
    "FileRef",
    "FileState",
    "FileText",
    "Filters",
    "Floor",
    "Folder",
    "FolderFinished",
    "FolderStarted",
    "FolderStatus",
    "FurtherFile",
    "GatherAnswer",
    "GatherRequest",
    "GrepAnswer",
    "GrepMatch",
    "GrepRequest",
    "HealthFinding",
    "Hidden",
    "Hit",
    "IndexPhase",
    "IndexProgress",
    "IndexReport",
    "IndexRequest",
    "IndexRun",
    "IndexStage",
    "IndexedFile",
    "InputKind",
    "LexicalRank",
    "LineKind",
    "ModelInfo",
    "ModelSource",
    "OpenWorkspace",
    "Passage",
    "Provenance",
    "ProvenanceLabel",
    "ReadFileRequest",
    "RelatedAnswer",
    "RelatedHit",
    "RelatedRequest",
    "Relation",
    "RemoveFolderRequest",
    "RemovedFolder",
    "RerankRank",
    "RerankRequest",
    "RunEvent",
    "RunFinished",
    "RunState",
    "SearchAnswer",
    "SearchMode",
    "SearchRequest",
    "SemanticRank",
    "Severity",
    "SkipReason",
    "SkippedFile",
    "Staleness",
    "TokenSpans",
    "Vectors",
    "WorkspaceStatus",
]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
