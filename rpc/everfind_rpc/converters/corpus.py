"""Folders, files, reading and grep."""

from __future__ import annotations

from everfind.common.v1 import corpus_pb2 as pb
from everfind.indexer.v1 import indexer_service_pb2 as indexer_pb
from everfind_core.model import (
    AddFolderRequest,
    FileRef,
    FileText,
    Folder,
    GrepAnswer,
    GrepMatch,
    GrepRequest,
    IndexedFile,
    ReadFileRequest,
    RemovedFolder,
    RemoveFolderRequest,
    SkippedFile,
    SkipReason,
)
from everfind_rpc.converters.wire import (
    EnumTable,
    check_sendable,
    duration,
    seconds_of_duration,
    seconds_of_timestamp,
    timestamp,
)

SKIP_REASONS = EnumTable(
    {
        SkipReason.IGNORED: pb.SKIP_REASON_IGNORED,
        SkipReason.BINARY: pb.SKIP_REASON_BINARY,
        SkipReason.TOO_LARGE: pb.SKIP_REASON_TOO_LARGE,
        SkipReason.UNREADABLE: pb.SKIP_REASON_UNREADABLE,
        SkipReason.LINK: pb.SKIP_REASON_LINK,
        SkipReason.EMPTY: pb.SKIP_REASON_EMPTY,
        SkipReason.SPECIAL: pb.SKIP_REASON_SPECIAL,
        SkipReason.VANISHED: pb.SKIP_REASON_VANISHED,
        SkipReason.NO_TEXT: pb.SKIP_REASON_NO_TEXT,
        SkipReason.EXTRACTION_FAILED: pb.SKIP_REASON_EXTRACTION_FAILED,
        SkipReason.ENCRYPTED: pb.SKIP_REASON_ENCRYPTED,
        SkipReason.OVER_LIMIT: pb.SKIP_REASON_OVER_LIMIT,
    }
)


def folder_to_proto(folder: Folder) -> pb.Folder:
    """A folder as a message."""
    return pb.Folder(name=folder.name, root=folder.root, include=folder.include)


def folder_from_proto(message: pb.Folder) -> Folder:
    """A folder from its message."""
    return Folder(name=message.name, root=message.root, include=tuple(message.include))


def add_folder_request_to_proto(request: AddFolderRequest) -> indexer_pb.AddFolderRequest:
    """A request to add a folder as a message.

    Raises:
        InvalidRequestError: it cannot be sent.
    """
    check_sendable(request)
    return indexer_pb.AddFolderRequest(
        workspace=request.workspace, root=request.root, name=request.name, include=request.include
    )


def add_folder_request_from_proto(message: indexer_pb.AddFolderRequest) -> AddFolderRequest:
    """A request to add a folder from its message."""
    return AddFolderRequest(
        root=message.root, name=message.name, include=tuple(message.include), workspace=message.workspace
    )


def remove_folder_request_to_proto(request: RemoveFolderRequest) -> indexer_pb.RemoveFolderRequest:
    """A request to remove a folder as a message.

    Raises:
        InvalidRequestError: it cannot be sent.
    """
    check_sendable(request)
    return indexer_pb.RemoveFolderRequest(
        workspace=request.workspace,
        folder=request.folder,
        keep_index=request.keep_index,
        purge=request.purge,
        wait=request.wait,
    )


def remove_folder_request_from_proto(message: indexer_pb.RemoveFolderRequest) -> RemoveFolderRequest:
    """A request to remove a folder from its message."""
    return RemoveFolderRequest(
        folder=message.folder,
        keep_index=message.keep_index,
        purge=message.purge,
        workspace=message.workspace,
        wait=message.wait if message.HasField("wait") else True,
    )


def removed_folder_to_proto(removed: RemovedFolder) -> indexer_pb.RemoveFolderResponse:
    """A removed folder as a message."""
    return indexer_pb.RemoveFolderResponse(
        folder=folder_to_proto(removed.folder), files_forgotten=removed.files_forgotten
    )


def removed_folder_from_proto(message: indexer_pb.RemoveFolderResponse) -> RemovedFolder:
    """A removed folder from its message."""
    return RemovedFolder(folder=folder_from_proto(message.folder), files_forgotten=message.files_forgotten)


def file_ref_to_proto(ref: FileRef) -> pb.FileRef:
    """A file's identity as a message."""
    return pb.FileRef(folder=ref.folder, path=ref.path)


def file_ref_from_proto(message: pb.FileRef) -> FileRef:
    """A file's identity from its message."""
    return FileRef(folder=message.folder, path=message.path)


def skipped_file_to_proto(skipped: SkippedFile) -> pb.SkippedFile:
    """A thing left out as a message."""
    return pb.SkippedFile(
        ref=file_ref_to_proto(skipped.ref), reason=SKIP_REASONS.to_proto(skipped.reason), message=skipped.message
    )


def skipped_file_from_proto(message: pb.SkippedFile) -> SkippedFile:
    """A thing left out from its message; an unknown reason reads as ``unreadable``."""
    return SkippedFile(
        ref=file_ref_from_proto(message.ref),
        reason=SKIP_REASONS.of_answer(message.reason, SkipReason.UNREADABLE),
        message=message.message,
    )


def indexed_file_to_proto(file: IndexedFile) -> indexer_pb.IndexedFile:
    """An indexed file as a message."""
    return indexer_pb.IndexedFile(
        ref=file_ref_to_proto(file.ref),
        size_bytes=file.size,
        modify_time=timestamp(file.modified),
        chunks=file.chunks,
        tokens=file.tokens,
        redactions=file.redactions,
    )


def indexed_file_from_proto(message: indexer_pb.IndexedFile) -> IndexedFile:
    """An indexed file from its message."""
    return IndexedFile(
        ref=file_ref_from_proto(message.ref),
        size=message.size_bytes,
        modified=seconds_of_timestamp(message.modify_time),
        chunks=message.chunks,
        tokens=message.tokens,
        redactions=message.redactions,
    )


def read_file_request_to_proto(request: ReadFileRequest) -> indexer_pb.ReadFileRequest:
    """A request to read a file as a message.

    Raises:
        InvalidRequestError: it cannot be sent.
    """
    check_sendable(request)
    return indexer_pb.ReadFileRequest(
        workspace=request.workspace,
        folder=request.folder,
        path=request.path,
        start_line=request.start_line,
        end_line=request.end_line,
    )


def read_file_request_from_proto(message: indexer_pb.ReadFileRequest) -> ReadFileRequest:
    """A request to read a file from its message."""
    return ReadFileRequest(
        folder=message.folder,
        path=message.path,
        start_line=message.start_line if message.HasField("start_line") else 1,
        end_line=message.end_line,
        workspace=message.workspace,
    )


def file_text_to_proto(text: FileText) -> indexer_pb.ReadFileResponse:
    """Lines of a file as a message."""
    return indexer_pb.ReadFileResponse(
        ref=file_ref_to_proto(text.ref),
        absolute_path=text.absolute_path,
        start_line=text.start_line,
        end_line=text.end_line,
        total_lines=text.total_lines,
        text=text.text,
        truncated=text.truncated,
        indexed=text.indexed,
        redactions=text.redactions,
        extracted_from=text.extracted_from,
    )


def file_text_from_proto(message: indexer_pb.ReadFileResponse) -> FileText:
    """Lines of a file from their message."""
    return FileText(
        ref=file_ref_from_proto(message.ref),
        absolute_path=message.absolute_path,
        start_line=message.start_line,
        end_line=message.end_line,
        total_lines=message.total_lines,
        text=message.text,
        truncated=message.truncated,
        indexed=message.indexed,
        redactions=message.redactions,
        extracted_from=message.extracted_from,
    )


def grep_request_to_proto(request: GrepRequest) -> indexer_pb.GrepRequest:
    """A grep as a message.

    Raises:
        InvalidRequestError: it cannot be sent.
    """
    check_sendable(request)
    return indexer_pb.GrepRequest(
        workspace=request.workspace,
        pattern=request.pattern,
        regex=request.regex,
        case_sensitive=request.case_sensitive,
        folders=request.folders,
        globs=request.globs,
        max_results=request.max_results,
        timeout=duration(request.seconds, "seconds"),
    )


def grep_request_from_proto(message: indexer_pb.GrepRequest) -> GrepRequest:
    """A grep from its message."""
    return GrepRequest(
        pattern=message.pattern,
        regex=message.regex,
        case_sensitive=message.case_sensitive if message.HasField("case_sensitive") else True,
        folders=tuple(message.folders),
        globs=tuple(message.globs),
        max_results=message.max_results if message.HasField("max_results") else 100,
        seconds=seconds_of_duration(message.timeout) if message.HasField("timeout") else 10.0,
        workspace=message.workspace,
    )


def grep_match_to_proto(match: GrepMatch) -> indexer_pb.GrepMatch:
    """A matching line as a message."""
    return indexer_pb.GrepMatch(
        ref=file_ref_to_proto(match.ref),
        absolute_path=match.absolute_path,
        line=match.line,
        text=match.text,
        page=match.page,
        extracted_from=match.extracted_from,
    )


def grep_match_from_proto(message: indexer_pb.GrepMatch) -> GrepMatch:
    """A matching line from its message."""
    return GrepMatch(
        ref=file_ref_from_proto(message.ref),
        absolute_path=message.absolute_path,
        line=message.line,
        text=message.text,
        page=message.page,
        extracted_from=message.extracted_from,
    )


def grep_answer_to_proto(answer: GrepAnswer) -> indexer_pb.GrepResponse:
    """All matches as a message."""
    return indexer_pb.GrepResponse(
        matches=[grep_match_to_proto(match) for match in answer.matches],
        files_searched=answer.files_searched,
        truncated=answer.truncated,
    )


def grep_answer_from_proto(message: indexer_pb.GrepResponse) -> GrepAnswer:
    """All matches from their message."""
    return GrepAnswer(
        matches=tuple(grep_match_from_proto(match) for match in message.matches),
        files_searched=message.files_searched,
        truncated=message.truncated,
    )
