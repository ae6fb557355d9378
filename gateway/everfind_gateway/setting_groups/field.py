"""How a setting is written down: its default, its limits, and what the documentation says of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from pydantic import ConfigDict, Field, JsonValue

# What validates a group is made when it is needed: that of `Settings` in most processes, which holds all of them.
STRICT: Final = ConfigDict(extra="forbid", frozen=True, defer_build=True)


def setting(
    default: Any,
    description: str,
    *,
    group: str,
    project: bool = False,
    shapes_answers: bool = False,
    shown_default: str = "",
    **limits: Any,
) -> Any:
    """A documented field. ``project``: a project's file may set it; ``shapes_answers``: it is part of the digest."""
    extra: dict[str, JsonValue] = {
        "group": group,
        "project": project,
        "shapes_answers": shapes_answers,
        "shown_default": shown_default,
    }
    made = {"default_factory": default} if callable(default) else {"default": default}
    return Field(description=description, json_schema_extra=extra, **made, **limits)


def absolute_root(root: Path) -> Path:
    """Refuse a relative path; for a validator."""
    if not root.is_absolute():
        raise ValueError("it needs a path")
    return root
