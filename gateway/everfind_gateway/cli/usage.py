"""What is wrong with a command line, in everfind's words, and the command to type next."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperGroup

from everfind_core.errors import InvalidRequestError
from everfind_core.wrong_values import what_is_wrong
from everfind_gateway.config.suggestions import closest, did_you_mean
from everfind_gateway.render.streams import note, one_line


class Commands(TyperGroup):
    """A group that names the command that was meant, where it can."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:  # Typer's own types here are private
        """The command that ``args`` name.

        Raises:
            InvalidRequestError: there is none of this name.
        """
        word = args[0]
        if word not in self.commands and not ctx.resilient_parsing and word[:1].isalnum():
            raise _no_command(ctx.command_path, word, list(self.commands))
        return super().resolve_command(ctx, args)


def _no_command(group: str, word: str, known: list[str]) -> InvalidRequestError:
    if len(word.split()) > 1:
        hint = f'To ask a question: `everfind search "{word}"`.'
    elif meant := closest(word, known):
        hint = f"`{group} {meant} --help` shows how that is used."
    else:
        hint = f"`{group} --help` lists the commands."
    return InvalidRequestError(f"no command {word!r}{did_you_mean(word, known)}", hint=hint)


def report_usage(error: typer.TyperException) -> int:
    """Say what is wrong with the command line; gives the exit code."""
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "everfind"
    hint = f"`{command} --help` shows how it is used."
    if type(error).__name__ == "NoSuchOption":
        option = str(getattr(error, "option_name", ""))
        if context is not None and any(option in one.opts for one in context.find_root().command.params):
            hint = f"It goes before the command: `everfind {option} … {context.info_name} …`."
        else:
            hint += " Words that start with a dash go after `--`."
    note(f"everfind: {one_line(_message(error))}")
    note(f"  hint: {hint}")
    return error.exit_code


def _message(error: typer.TyperException) -> str:
    """What Typer says, as our other errors are worded: lower case, no full stop, the place first."""
    said = error.format_message().rstrip(".")
    kind = type(error).__name__
    if kind == "NoSuchOption":
        meant = (getattr(error, "possibilities", None) or [""])[0]
        suggestion = f"; did you mean {meant!r}?" if meant else ""
        return f"no option {getattr(error, 'option_name', '')!r}{suggestion}"
    parameter = getattr(error, "param", None)
    if kind == "BadParameter" and parameter is not None:
        place = parameter.opts[0] if parameter.param_type_name == "option" else parameter.metavar or parameter.name
        return f"{place}: {_wrong_value(error)}"
    return _lower(said)


def _wrong_value(error: typer.TyperException) -> str:
    from pydantic import ValidationError  # loaded only where a value is wrong

    cause = error.__cause__
    if isinstance(cause, ValidationError):
        return what_is_wrong(cause.errors(include_url=False)[0])
    return _lower(str(getattr(error, "message", error)).rstrip("."))


def _lower(text: str) -> str:
    """``text`` in lower case at its start, but for names in capitals."""
    return text if text[:2].isupper() else text[:1].lower() + text[1:]
