"""Options that several commands share."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, TypeVar

import typer

from everfind_core.errors import InvalidRequestError
from everfind_gateway.cli.completing import folder_names

T = TypeVar("T")


def given_path(value: str) -> Path:
    """The path in an option or argument, for Typer's ``parser``.

    Raises:
        InvalidRequestError: it is empty, which would pass for the working directory.
    """
    if not value.strip():
        raise InvalidRequestError.of("path", "it is empty", hint="Leave the option out, or give it a path.")
    return Path(value)


TlsCertificate: TypeAlias = Annotated[
    Path | None,
    typer.Option("--tls-certificate", metavar="FILE", help="Certificate chain in PEM form.", parser=given_path),
]
TlsKey: TypeAlias = Annotated[
    Path | None, typer.Option("--tls-key", metavar="FILE", help="Its private key.", parser=given_path)
]
Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Print one JSON object; docs/json.md describes it.")]
Folders: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--folder", "-f", metavar="NAME|PATH", help="Only this folder. Repeatable.", autocompletion=folder_names
    ),
]
Include: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--include", metavar="GLOB", help="Only files whose path below the folder matches. Repeatable."),
]
ModeOption: TypeAlias = Annotated[
    Literal["hybrid", "semantic", "lexical"] | None,
    typer.Option("--mode", help="Which arms answer: both, vectors only, or words only."),
]


def with_options(name: str, group: type[T]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Gives a command each field of the dataclass ``group`` as an option, in place of its parameter ``name``."""
    fields = inspect.signature(group, eval_str=True).parameters

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def run(*arguments: Any, **options: Any) -> None:
            given = {field: options.pop(field) for field in fields}
            command(*arguments, **options, **{name: group(**given)})

        signature = inspect.signature(command, eval_str=True)
        parameters = [
            parameter
            for one in signature.parameters.values()
            for parameter in (fields.values() if one.name == name else (one,))
        ]
        run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]  # what Typer reads
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return run

    return decorate
