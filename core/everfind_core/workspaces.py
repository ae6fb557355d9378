"""Which workspace a request means."""

from __future__ import annotations

from collections.abc import Iterable

from everfind_core.errors import WorkspaceNotFoundError


def is_directory(workspace: str) -> bool:
    """Whether a workspace is given by a directory in it, and not by its name."""
    return "/" in workspace or workspace in (".", "..", "~")


def check_workspace(asked: str, name: str, roots: Iterable[str]) -> None:
    """Refuse a request for another workspace than the one of this ``name`` with folders at ``roots`` (string form).

    What is asked for may be empty, the name, or an absolute directory in one of the folders.

    Raises:
        WorkspaceNotFoundError: it is none of that.
    """
    if asked and asked != name and not root_of(asked, roots):
        raise workspace_not_found(asked)


def root_of(asked: str, roots: Iterable[str]) -> str:
    """The innermost of ``roots`` in which an absolute directory lies (string form); empty if it lies in none."""
    if not asked.startswith("/"):
        return ""
    place = f"{asked.rstrip('/')}/"
    return max((root for root in roots if place.startswith(f"{root.rstrip('/')}/")), key=len, default="")


def workspace_not_found(asked: str) -> WorkspaceNotFoundError:
    """The error for a request of a workspace that is not here, or not for its caller."""
    if not asked:
        return WorkspaceNotFoundError(
            "the server's own workspace is not for this token", hint="Name one that is, with --workspace."
        )
    return WorkspaceNotFoundError(
        f"there is no workspace {asked[:200]!r} here",
        hint="Leave it out, or give the name of a workspace that is served, or an absolute directory in one.",
        details={"workspace": asked[:200]},
    )
