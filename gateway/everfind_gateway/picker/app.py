"""The picker's screen: a question above, hits on the left, the chosen one's file on the right."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import work
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.widgets import Footer, Input, OptionList, Static
from textual.widgets.option_list import Option
from textual.worker import Worker, WorkerState

from everfind_core.cancellation import Cancellation
from everfind_core.errors import EverfindError
from everfind_gateway.picker.preview import around, coloured
from everfind_gateway.render.hits import labels, location, preview, remarks, term_pattern
from everfind_gateway.render.streams import one_line

if TYPE_CHECKING:
    from rich.syntax import Syntax
    from textual.timer import Timer

    from everfind_core.model import Hit, SearchAnswer
    from everfind_core.ports import SourceReader

PAUSE = 0.12
"""Seconds without a key after which a search starts."""
HELP = "Type a question. Filters: folder:NAME path:GLOB -path:GLOB lang:NAME kind:KIND status:NAME"

Ask = Callable[[str, Cancellation], "SearchAnswer | None"]
"""What was typed, to its answer; None where no question is typed yet. Called in a thread."""


class Picker(App["Hit"]):
    """Ends with the chosen hit (``print_only``), or None; then ``fault`` may say why."""

    ENABLE_COMMAND_PALETTE = False
    CSS = """
    Input { border: none; height: 1; padding: 0 1; }
    #found { width: 2fr; border: none; text-wrap: nowrap; text-overflow: ellipsis; scrollbar-size-vertical: 1; }
    #beside { width: 3fr; border-left: solid $accent; padding: 0 1; }
    #remark { height: auto; max-height: 3; padding: 0 1; color: $text-muted; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,ctrl+n", "move(1)", "Next", priority=True),
        Binding("up,ctrl+p", "move(-1)", "Previous", priority=True),
        Binding("pagedown", "page(1)", "Page down", priority=True, show=False),
        Binding("pageup", "page(-1)", "Page up", priority=True, show=False),
        Binding("enter", "choose", "Open", priority=True),
        Binding("escape,ctrl+c", "leave", "Quit", priority=True),
    ]

    def __init__(
        self,
        ask: Ask,
        reader: SourceReader,
        open_hit: Callable[[Hit], None],
        *,
        typed: str = "",
        print_only: bool = False,
    ) -> None:
        super().__init__()
        self.hits: tuple[Hit, ...] = ()
        self.fault: BaseException | None = None
        self._ask, self._reader, self._open, self._typed, self._print_only = ask, reader, open_hit, typed, print_only
        self._cancel = Cancellation()
        self._timer: Timer | None = None

    def compose(self) -> ComposeResult:
        """The widgets, top to bottom."""
        yield Input(self._typed, placeholder=HELP, select_on_focus=False, id="question")
        with Horizontal():
            yield OptionList(id="found", markup=False)
            with VerticalScroll(id="beside", can_focus=False):
                yield Static(id="file", markup=False)
        yield Static(HELP, id="remark", markup=False)
        yield Footer()

    def on_mount(self) -> None:
        """Start with what the command was given."""
        self.query_one("#found", OptionList).can_focus = False
        if self._typed:
            self._begin(self._typed)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Search once the typing pauses; what is still searched for is given up."""
        if event.value == self._typed:  # the field tells of its first text, too
            return
        self._typed = event.value
        self._cancel.cancel()
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(PAUSE, lambda: self._begin(event.value))

    def _begin(self, typed: str) -> None:
        """Search, from now on for no more than this; the token is there before its thread, for the next key to find."""
        self._cancel = Cancellation()
        self._search(typed, self._cancel)

    @work(thread=True, group="search", exit_on_error=False)
    def _search(self, typed: str, cancel: Cancellation) -> None:
        try:
            answer = self._ask(typed, cancel)
        except EverfindError as error:
            self.call_from_thread(self._tell, cancel, partial(self._show_remark, _sentence(error)))
            return
        self.call_from_thread(self._tell, cancel, partial(self._show, answer))

    def _tell(self, cancel: Cancellation, tell: Callable[[], None]) -> None:
        """Show what a search gave, unless a key has made it an old one; asked where keys are heard, too."""
        if not cancel.cancelled:
            tell()

    def _show(self, answer: SearchAnswer | None) -> None:
        self.hits = answer.hits if answer is not None else ()
        found = self.query_one("#found", OptionList)
        terms = term_pattern(answer.query) if answer is not None else None
        found.set_options([Option(_entry(hit, preview(hit.text, terms, 1)[0])) for hit in self.hits])
        self._show_remark("; ".join(remarks(answer)) if answer is not None else HELP)
        if self.hits:
            found.highlighted = 0
        else:
            self.query_one("#file", Static).update("")

    def _show_remark(self, remark: str) -> None:
        self.query_one("#remark", Static).update(one_line(remark))

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Show the chosen hit's file beside."""
        if event.option_index < len(self.hits):
            self._look_at(self.hits[event.option_index])

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """End when everfind itself is at fault; whoever runs the picker says so."""
        if event.state is WorkerState.ERROR and not self._cancel.cancelled:
            self.fault = event.worker.error
            self.exit()

    @work(thread=True, exclusive=True, group="look", exit_on_error=False)
    def _look_at(self, hit: Hit) -> None:
        text = around(self._reader, hit)
        self.call_from_thread(self._show_file, hit, coloured(text, hit), hit.start_line - text.start_line)

    def _show_file(self, hit: Hit, shown: Syntax, above: int) -> None:
        if self._chosen() is hit:
            self.query_one("#file", Static).update(shown)
            self.query_one("#beside", VerticalScroll).scroll_to(y=max(0, above - 3), animate=False)

    def _chosen(self) -> Hit | None:
        index = self.query_one("#found", OptionList).highlighted
        return self.hits[index] if index is not None and index < len(self.hits) else None

    def action_move(self, step: int) -> None:
        """Choose the next or the previous hit."""
        found = self.query_one("#found", OptionList)
        if self.hits:
            found.highlighted = min(max((found.highlighted or 0) + step, 0), len(self.hits) - 1)

    def action_page(self, step: int) -> None:
        """Scroll the file."""
        beside = self.query_one("#beside", VerticalScroll)
        beside.scroll_relative(y=step * max(1, beside.size.height - 2), animate=False)

    def action_choose(self) -> None:
        """Open the chosen hit in the editor, and come back; or end with it."""
        hit = self._chosen()
        if hit is None:
            return
        if self._print_only:
            self._cancel.cancel()
            self.exit(hit)
            return
        with self.suspend():
            try:
                self._open(hit)
            except EverfindError as error:
                remark = _sentence(error)
            else:
                remark = f"opened {location(hit.folder, hit.path)}"
        self._show_remark(remark)
        self.refresh()

    def action_leave(self) -> None:
        """End with nothing."""
        self._cancel.cancel()
        self.exit()


def _sentence(error: EverfindError) -> str:
    return f"{error.message}{'' if error.message.endswith(('.', '?')) else '.'} {error.hint}"


def _entry(hit: Hit, line: str) -> Text:
    entry = Text(no_wrap=True, overflow="ellipsis")
    entry.append(f"{location(hit.folder, hit.path)}:{hit.start_line}", "bold cyan")
    entry.append(f"  {labels(hit)}", "dim")
    entry.append(f"\n  {one_line(hit.symbol or hit.heading) or line}")
    return entry
