"""Which workspace a request means."""

from __future__ import annotations

from collections.abc import Iterable

from everfind_core.errors import WorkspaceNotFoundError


def check_workspace(asked: str, name: str, roots: Iterable[str]) -> None:
    """Refuse a request for another workspace than the one of this ``name`` with folders at ``roots`` (string form).

    What is asked for may be empty, the name, or an absolute directory in one of the folders.

    Raises:
        WorkspaceNotFoundError: it is none of that.
    """
    if not asked or asked == name:
        return
    if asked.startswith("/") and any(f"{asked.rstrip('/')}/".startswith(f"{root.rstrip('/')}/") for root in roots):
        return
    raise WorkspaceNotFoundError(
        f"there is no workspace {asked[:200]!r} here",
        hint="Leave it empty for the only one, or give an absolute directory in one of its folders.",
        details={"workspace": asked[:200]},
    )
