"""Options that several commands share."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import typer

Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Print one JSON object; docs/json.md describes it.")]
Folders: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--folder", "-f", metavar="NAME|PATH", help="Only this folder. Repeatable."),
]
Include: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--include", metavar="GLOB", help="Only files whose path below the folder matches. Repeatable."),
]
ModeOption: TypeAlias = Annotated[
    Literal["hybrid", "semantic", "lexical"] | None,
    typer.Option("--mode", help="Which arms answer: both, vectors only, or words only."),
]
