"""`watch`: keep the index up with the folders."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import typer

from everfind_core.errors import CancelledError, EverfindError, FolderNotFoundError
from everfind_core.files.paths import printable
from everfind_gateway.cli import runtime
from everfind_gateway.render.streams import note

if TYPE_CHECKING:
    from everfind_core.cancellation import Cancellation
    from everfind_core.model import Folder, IndexReport
    from everfind_gateway.config.settings import Settings

SETTINGS_SECONDS = 2.0
"""How often the settings are looked at: a folder that is added or removed meanwhile is followed, or not any more."""


def watch(context: typer.Context) -> None:
    """Index what changes in the folders, as it changes, until it is told to stop.

    A line on stderr tells of each run that did something. Several may run; one of them follows, and another takes over
    when it ends.
    """
    settings = _checked(runtime.runtime_of(context).settings())
    with runtime.cancelled_by_signals() as cancel:
        try:
            while True:
                settings = _follow(context, settings, cancel)
        except (CancelledError, KeyboardInterrupt):
            return


def _follow(context: typer.Context, settings: Settings, cancel: Cancellation) -> Settings:
    """Follow until the settings change; gives the new ones."""
    from everfind_gateway.wiring.local import open_local

    with open_local(settings) as workspace:
        workspace.follow(on_report=_report)
        names = ", ".join(printable(folder.name) for folder in settings.folders)
        note(f"following {names}; Ctrl-C ends it")
        while True:
            cancel.wait(SETTINGS_SECONDS)
            changed = _changed(context, settings)
            if changed is not None:
                return changed


def _changed(context: typer.Context, settings: Settings) -> Settings | None:
    """The settings, if they are others now and can be used."""
    try:
        now = _checked(runtime.runtime_of(context).load())
    except EverfindError:
        return None
    return now if now != settings else None


def _checked(settings: Settings) -> Settings:
    runtime.refuse_remote(settings, "folders are followed on the machine that holds them; a server does so by itself")
    if not settings.folders:
        raise FolderNotFoundError("there is no folder to follow", hint="Add one with `everfind add DIR`.")
    return settings


def _report(folder: Folder, outcome: IndexReport | EverfindError) -> None:
    from everfind_core.text.numbers import count

    clock = time.strftime("%H:%M:%S")
    name = printable(folder.name)
    if isinstance(outcome, EverfindError):
        note(f"{clock} {name}: {outcome.message}; it is tried again")
        return
    done = [count(outcome.indexed, "file") + " indexed"] if outcome.indexed else []
    done += [count(outcome.deleted, "file") + " forgotten"] if outcome.deleted else []
    if done:
        note(f"{clock} {name}: {', '.join(done)}, {outcome.chunks_embedded:,} chunks embedded")
