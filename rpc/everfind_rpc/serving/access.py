"""What a folder-limited token gets to see: other folders do not exist for it, in answers and in errors alike."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from google.protobuf.message import Message

from everfind_core.errors import FolderNotFoundError, IndexLockedError, InvalidRequestError, PermissionDeniedError
from everfind_core.model import (
    Coverage,
    Filters,
    Folder,
    IndexRequest,
    IndexRun,
    RelatedRequest,
    SearchRequest,
    WorkspaceStatus,
)
from everfind_core.workspaces import check_workspace
from everfind_rpc.auth import Principal, Scope
from everfind_rpc.serving.service import Call, Method, Service, Unary


def in_workspace(service: Service, folders: Callable[[], Iterable[Folder]]) -> Service:
    """``service``, with calls that refuse another workspace than the one of these ``folders``.

    Streams check for themselves.
    """

    def checked(method: Method) -> Method:
        if not isinstance(method, Unary) or "workspace" not in method.request.DESCRIPTOR.fields_by_name:
            return method

        def answer(request: Any, call: Call) -> Message:
            check_called_workspace(request.workspace, folders, call)
            return method.answer(request, call)

        return replace(method, answer=answer)

    return replace(service, methods={name: checked(method) for name, method in service.methods.items()})


def check_called_workspace(asked: str, folders: Callable[[], Iterable[Folder]], call: Call) -> None:
    """Refuse a call for another workspace; what its caller must not see is none of its own.

    Raises:
        WorkspaceNotFoundError: it is for another one.
    """
    if asked:
        check_workspace(asked, "", (folder.root for folder in folders() if sees(call.principal, folder.name)))


def sees(principal: Principal, folder: str) -> bool:
    """Whether a folder exists for ``principal``."""
    return principal.folders is None or folder in principal.folders


def check_folder(principal: Principal, folder: str, existing: Iterable[str]) -> None:
    """Refuse a folder that does not exist for ``principal``, as an engine refuses one that is not added.

    Raises:
        FolderNotFoundError: it does not.
    """
    if principal.folders is None or folder in principal.folders.intersection(existing):
        return
    names = ", ".join(sorted(principal.folders.intersection(existing))) or "none"
    raise FolderNotFoundError(f"no folder is called {folder!r}; there are {names}", hint="See `everfind list`.")


def chosen_folders(principal: Principal, asked: Sequence[str], existing: Iterable[str]) -> tuple[str, ...]:
    """The folders that a call means: those asked for, or all that exist for ``principal`` (empty: no limit).

    Raises:
        FolderNotFoundError: one does not exist for it, or none does.
    """
    if principal.folders is None:
        return tuple(asked)
    existing = frozenset(existing)
    for name in asked:
        check_folder(principal, name, existing)
    allowed = tuple(asked) or tuple(sorted(principal.folders & existing))
    if not allowed:
        names = ", ".join(sorted(principal.folders))
        raise FolderNotFoundError(
            f"none of this token's folders ({names}) is there", hint="Ask the server's operator to add and index one."
        )
    return allowed


def limited_search(principal: Principal, request: SearchRequest, indexed: Iterable[str]) -> SearchRequest:
    """``request`` over what exists for ``principal`` only.

    Raises:
        InvalidRequestError: it names a folder that does not.
        FolderNotFoundError: nothing does.
    """
    if principal.folders is None:
        return request
    return replace(request, filters=_limited_filters(principal, request.filters, indexed))


def limited_related(principal: Principal, request: RelatedRequest, indexed: Iterable[str]) -> RelatedRequest:
    """As :func:`limited_search`; the folder that the request names counts, too."""
    if principal.folders is None:
        return request
    indexed = frozenset(indexed)
    if request.folder:
        check_folder(principal, request.folder, indexed)
    return replace(request, filters=_limited_filters(principal, request.filters, indexed))


def _limited_filters(principal: Principal, filters: Filters, indexed: Iterable[str]) -> Filters:
    indexed = frozenset(indexed) & (principal.folders or frozenset())
    for name in filters.folders:
        if name not in indexed:
            known = ", ".join(sorted(indexed)) or "none"
            raise InvalidRequestError.of(
                "filters.folders", f"the index has no folder {name!r}; it has {known}", hint="See `everfind list`."
            )
    return replace(filters, folders=chosen_folders(principal, filters.folders, indexed))


def limited_run(principal: Principal, request: IndexRequest, existing: Iterable[str]) -> IndexRequest:
    """``request`` for the folders that exist for ``principal`` only.

    Raises:
        FolderNotFoundError: it names one that does not.
        PermissionDeniedError: it is about the whole index.
    """
    if principal.folders is None:
        return request
    if request.rebuild or request.repair:
        check_unlimited(principal, "rebuild or repair the whole index")
    return replace(request, folders=chosen_folders(principal, request.folders, existing))


def check_unlimited(principal: Principal, what: str) -> None:
    """Refuse ``what`` to a token that is limited to folders.

    Raises:
        PermissionDeniedError: ``principal`` is.
    """
    if principal.folders is not None:
        raise PermissionDeniedError(
            f"a token that is limited to folders cannot {what}", hint="Ask the server's operator to do it."
        )


def check_admin(principal: Principal, what: str) -> None:
    """Refuse ``what`` to a token without the scope ``admin``, or one that is limited to folders.

    Raises:
        PermissionDeniedError: ``principal`` is one.
    """
    check_unlimited(principal, what)
    if Scope.ADMIN not in principal.scopes:
        raise PermissionDeniedError(
            f"a token without the scope admin cannot {what}", hint="Ask the server's operator to do it."
        )


def sees_run(principal: Principal, run: IndexRun) -> bool:
    """Whether a run exists for ``principal``: all its folders do."""
    if principal.folders is None:
        return True
    return bool(run.request.folders) and principal.folders.issuperset(run.request.folders)


def limited_run_view(principal: Principal, run: IndexRun) -> IndexRun:
    """``run`` as ``principal`` may see it: who else writes stays unnamed."""
    if principal.folders is None or run.error_reason != IndexLockedError.reason:
        return run
    return replace(run, error_message="the index is being written by another process")


def limited_status(principal: Principal, status: WorkspaceStatus) -> WorkspaceStatus:
    """``status`` of what exists for ``principal``, without what describes the whole: paths, sizes, writer, findings."""
    if principal.folders is None:
        return status
    folders = tuple(f for f in status.folders if sees(principal, f.folder.name))
    skipped: dict[str, int] = {}
    for folder in folders:
        for reason, count in folder.coverage.skipped.items():
            skipped[reason] = skipped.get(reason, 0) + count
    return replace(
        status,
        index_directory="",
        folders=folders,
        coverage=Coverage(
            files=sum(f.coverage.files for f in folders),
            chunks=sum(f.coverage.chunks for f in folders),
            skipped=skipped,
            pending=sum(f.coverage.pending for f in folders),
            unembedded=sum(f.coverage.unembedded for f in folders),
        ),
        disk_bytes=0,
        redactions=sum(f.redactions for f in folders),
        writer="another process" if status.writer else "",
        skipped_files=tuple(s for s in status.skipped_files if sees(principal, s.ref.folder)),
        findings=(),
        outgoing=(),
        calibration=None,
    )
