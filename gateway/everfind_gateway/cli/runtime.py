"""What every command shares: settings, the opened workspace, cancellation by signals, and errors as one line."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import typer

from everfind_core.cancellation import Cancellation
from everfind_core.errors import EXIT_CODES, ErrorKind, EverfindError, InvalidRequestError
from everfind_gateway.render.streams import note, one_line
from everfind_gateway.wiring.workspace import open_workspace as open_workspace  # noqa: PLC0414 - commands have it from here

if TYPE_CHECKING:
    from everfind_gateway.config.settings import Settings


def refuse_remote(settings: Settings, why: str) -> None:
    """Refuse a command that only works where the corpus is.

    Raises:
        InvalidRequestError: the settings name a server.
    """
    if settings.server:
        raise InvalidRequestError.of(
            "server",
            f"{why}, and not through {settings.server}",
            hint="Run it where the server runs, or with --no-server for this machine.",
        )


@dataclass(frozen=True, slots=True)
class Runtime:
    """What the options before the command say."""

    config: Path | None = None
    server: str | None = None
    no_server: bool = False
    workspace: str = ""

    @property
    def flags(self) -> dict[str, Any]:
        """The settings that these options stand for."""
        if self.no_server:
            return {"server": "", "local_server": False}
        if self.server is None:
            return {}
        return {"server": self.server, "server_workspace": self.workspace if self.server and self.workspace else None}

    @property
    def options(self) -> list[str]:
        """These options as they are typed, for the same corpus in the same directory."""
        given = {"--config": self.config, "--workspace": self.workspace}
        return [word for option, value in given.items() if value for word in (option, str(value))]

    def typed(self, command: str) -> str:
        """How a user types ``command`` for the same corpus."""
        return shlex.join(["everfind", *self.options, command])

    def autostart(self, settings: Settings) -> None:
        """After a search: let the next one find a warm server, where the user wants that."""
        if settings.autostart_seconds:
            from everfind_gateway.wiring.autostart import start_server

            start_server(settings, self.options)

    def settings(self, *, may_be_missing: bool = False, **flags: Any) -> Settings:
        """All settings, ``flags`` above the rest; what is odd about them is reported on stderr."""
        settings = self.load(may_be_missing=may_be_missing, **flags)
        for warning in settings.warnings:
            note(f"everfind: warning: {warning}")
        return settings

    def load(self, *, may_be_missing: bool = False, **flags: Any) -> Settings:
        """The same in silence, for those who look again and again."""
        from everfind_gateway.config.settings import load_settings

        here = "" if self.server else self.workspace
        return load_settings(self.config, flags=flags | self.flags, may_be_missing=may_be_missing, workspace=here)


def runtime_of(context: typer.Context) -> Runtime:
    """The runtime that the callback of the application has set."""
    runtime = context.find_object(Runtime)
    return runtime if runtime is not None else Runtime()


def stopping() -> tuple[signal.Signals, ...]:
    """The signals that end a command as Ctrl-C does. Under `nohup` a lost terminal is none of them."""
    under_nohup = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    return (signal.SIGINT, signal.SIGTERM) if under_nohup else (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextlib.contextmanager
def cancelled_by_signals() -> Iterator[Cancellation]:
    """A token that :func:`stopping` cancel, so that work ends at a clean point; a second signal ends it at once."""
    cancel = Cancellation()

    def stop(_number: int, _frame: FrameType | None) -> None:
        if cancel.cancelled:
            raise KeyboardInterrupt
        cancel.cancel()

    before = {number: signal.signal(number, stop) for number in stopping()}
    try:
        yield cancel
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def report_error(error: EverfindError) -> int:
    """Say in one line what went wrong, and in a second what to do; gives the exit code."""
    note(f"everfind: {one_line(error.message)}")
    if error.hint:
        note(f"  hint: {one_line(error.hint)}")
    return error.exit_code


def report_fault(error: Exception) -> int:
    """Say that everfind itself is at fault, and where; gives the exit code."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    note(f"everfind: unexpected {type(error).__name__}: {one_line(str(error)) or 'no message'}")
    note(
        f"  hint: this is a fault of everfind ({Path(place.filename).name}:{place.lineno}). Report it in the "
        "project's issue tracker, with what EVERFIND_DEBUG=1 prints."
    )
    if os.environ.get("EVERFIND_DEBUG") == "1":
        note("".join(traceback.format_exception(error)).rstrip())
    return EXIT_CODES[ErrorKind.INTERNAL]
