"""An index run as it happens: a heading and totals for each folder, and progress on stderr."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from everfind_core.files.paths import printable, shown_path
from everfind_core.model import (
    FileFailed,
    FileProcessed,
    FolderFinished,
    FolderStarted,
    IndexPhase,
    IndexProgress,
    IndexReport,
    RunEvent,
)
from everfind_core.text.numbers import by_reason, count, duration
from everfind_gateway.render.calibration import run_line
from everfind_gateway.render.hits import location
from everfind_gateway.render.streams import emit, harmless, is_terminal, note

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

MAX_FAILURES_SHOWN = 20
_FIRST_LINE_SECONDS = 5.0
_MOST_SECONDS_BETWEEN_LINES = 300.0
_RULE_WIDTH = 66


class RunView:
    """Shows the events of a run. ``quiet`` leaves headings and totals out, for ``--json``."""

    def __init__(self, *, verbose: bool, quiet: bool) -> None:
        self._verbose = verbose
        self._quiet = quiet
        self._bar = _ProgressBar() if is_terminal(sys.stderr) else _ProgressLines()
        self._folders = 0
        self._by_words: dict[str, int] = {}
        self._processed = 0
        self.failures = 0

    def on_event(self, event: RunEvent) -> None:
        """Take the next event of the run."""
        match event:
            case FolderStarted():
                self._folders = event.count
                self._heading(event)
            case IndexProgress():
                if event.phase is IndexPhase.WORDS:
                    self._by_words[event.folder] = event.files_done
                self._bar.update(event)
            case FileProcessed():
                self._processed += 1
                if self._verbose:
                    chunks = f"{count(event.chunks, 'chunk')}, {event.embedded:,} embedded"
                    self._bar.line(f"  indexed  {location(event.ref.folder, event.ref.path)}  ({chunks})")
            case FileFailed():
                self._failed(event)
            case FolderFinished():
                self._totals(event)
            case _:
                self.close()

    def kept(self) -> str:
        """What a run that was interrupted has done, as a sentence's second half."""
        done, by_words = count(self._processed, "file"), sum(self._by_words.values())
        if by_words:
            return f"{count(by_words, 'file')} of this run can be found by words, {done} by meaning; they are kept"
        return f"{done} of this run {'is' if self._processed == 1 else 'are'} indexed and kept"

    def close(self) -> None:
        """Take the progress off the screen."""
        self._bar.stop()

    def finish(self, report: IndexReport, seconds: float) -> None:
        """Show the whole run's totals, its failures and its warnings."""
        self.close()
        if not self._quiet and self._folders > 1:
            chunks = f"{count(report.chunks_written, 'chunk')} ({report.chunks_embedded:,} embedded)"
            emit("─" * _RULE_WIDTH if _can_draw() else "-" * _RULE_WIDTH)
            emit(
                f"total  {report.indexed:,} indexed  {report.unchanged:,} unchanged  {report.deleted:,} deleted  "
                f"{sum(report.skipped.values()):,} skipped  {chunks}  {duration(seconds)}"
            )
        if not self._quiet and report.calibration is not None:
            emit(run_line(report.calibration))
        if self.failures > MAX_FAILURES_SHOWN:
            note(f"… and {self.failures - MAX_FAILURES_SHOWN:,} more; `everfind status --skipped` lists all")
        for warning in report.warnings:
            note(f"warning: {warning}")

    def _heading(self, event: FolderStarted) -> None:
        self._bar.stop()
        if not self._quiet:
            title = f"[{event.position}/{event.count}] {printable(event.name)}  {shown_path(event.root)}  "
            emit(title + ("─" if _can_draw() else "-") * max(3, _RULE_WIDTH - len(title)))

    def _failed(self, event: FileFailed) -> None:
        self.failures += 1
        if self._verbose or self.failures <= MAX_FAILURES_SHOWN:
            skipped = event.skipped
            why = f"{skipped.reason.value.replace('_', ' ')}{f': {skipped.message}' if skipped.message else ''}"
            self._bar.line(f"  left out {location(skipped.ref.folder, skipped.ref.path)}  ({why})")

    def _totals(self, event: FolderFinished) -> None:
        self._bar.stop()
        if self._quiet:
            return
        skipped = by_reason(event.skipped)
        emit(
            f"  {event.indexed:,} indexed  {event.unchanged:,} unchanged  {event.deleted:,} deleted  "
            f"{sum(event.skipped.values()):,} skipped  {count(event.chunks, 'chunk')}  {duration(event.seconds)}"
        )
        if skipped and self._verbose:
            note(f"  skipped: {skipped}")


class _ProgressLines:
    """Progress where nobody watches: a line now and then, ever more seldom."""

    def __init__(self) -> None:
        self._pause = _FIRST_LINE_SECONDS
        self._next = time.monotonic() + self._pause

    def update(self, event: IndexProgress) -> None:
        now = time.monotonic()
        if now >= self._next:
            self._pause = min(2 * self._pause, _MOST_SECONDS_BETWEEN_LINES)
            self._next = now + self._pause
            files = f"{event.files_done:,}/{event.files_total:,} files"
            note(f"  {printable(event.folder)}: {files}{_phase(event)}, {_pace(event)}")

    def line(self, text: str) -> None:
        note(text)

    def stop(self) -> None:
        """Nothing stands on the screen."""


class _ProgressBar:
    """Progress on a terminal: a bar that goes when the folder is done."""

    def __init__(self) -> None:
        self._shown: tuple[Progress, TaskID] | None = None

    def update(self, event: IndexProgress) -> None:
        if self._shown is None:
            self._shown = _start_bar()
        progress, task = self._shown
        progress.update(
            task, completed=event.files_done, total=event.files_total or None, pace=_pace(event), phase=_phase(event)
        )

    def line(self, text: str) -> None:
        if self._shown is None:
            note(text)
        else:
            self._shown[0].console.print(harmless(text), markup=False, highlight=False)

    def stop(self) -> None:
        if self._shown is not None:
            self._shown[0].stop()
        self._shown = None


def _start_bar() -> tuple[Progress, TaskID]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    progress = Progress(
        BarColumn(bar_width=None),
        MofNCompleteColumn(),
        TextColumn("files{task.fields[phase]}  {task.fields[pace]}", markup=False),
        console=Console(stderr=True),
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )
    progress.start()
    return progress, progress.add_task("", total=None, pace="", phase="")


def _phase(event: IndexProgress) -> str:
    """What the files are done for, where a run takes them in twice."""
    match event.phase:
        case IndexPhase.WORDS:
            return " found by their words"
        case IndexPhase.VECTORS:
            return " found by meaning"
        case None:
            return ""


def _pace(event: IndexProgress) -> str:
    remaining = "" if event.eta_seconds is None else f", {duration(event.eta_seconds)} left"
    speed = f", {event.tokens_per_second:,.0f} tokens/s" if event.tokens_per_second else ""
    return f"{count(event.chunks, 'chunk')}{speed}{remaining}"


def _can_draw() -> bool:
    return (sys.stdout.encoding or "").lower().replace("-", "").startswith("utf")
