"""Write docs/images/terminal.svg: commands run in a real terminal over docs/images/corpus. ``--check`` compares."""

from __future__ import annotations

import argparse
import html
import io
import os
import pty
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

IMAGES = Path(__file__).resolve().parent.parent / "docs" / "images"
PICTURE = IMAGES / "terminal.svg"
COLUMNS = 108

BEFORE = (["add", "shop"], ["index"])
SHOWN = (
    ["search", "where is a refused payment tried again", "-k", "3"],
    ["search", "which colour has the bicycle shed", "-k", "3"],
    ["related", "charge", "--callers"],
)

FRAME = """\
<svg class="terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace;
font-size: {char_height}px; line-height: {line_height}px; }}
.{unique_id}-title {{ font-size: 18px; font-weight: bold; font-family: sans-serif; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal"><rect width="{terminal_width}" height="{terminal_height}"/></clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix" xml:space="preserve">
{matrix}
</g>
</g>
</svg>
"""
"""Rich's own frame without its web font: a picture asks nothing of the network."""


def in_a_terminal(arguments: list[str], home: Path) -> bytes:
    """What a command writes to a terminal, both streams."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "everfind_gateway", *arguments], cwd=home, env=_environment(home),
        stdin=theirs, stdout=theirs, stderr=theirs,
    ) as process:  # fmt: skip
        os.close(theirs)
        written = b""
        while block := _read(ours):
            written += block
    os.close(ours)
    if process.returncode:
        raise SystemExit(f"everfind {' '.join(arguments)} ended with {process.returncode}:\n{written.decode()}")
    return written


def picture() -> str:
    """The picture of a fresh run."""
    with tempfile.TemporaryDirectory() as directory:
        home = Path(directory)
        shutil.copytree(IMAGES / "corpus", home / "shop")
        for arguments in BEFORE:
            in_a_terminal(arguments, home)
        console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True, highlight=False)
        for arguments in SHOWN:
            console.print(Text.assemble(("$ ", "bold green"), (_typed(arguments), "bold")))
            written = in_a_terminal(arguments, home).decode().replace("\r\n", "\n").rstrip("\n")
            console.print(Text.from_ansi(re.sub(r"\x1b\]8;[^\x1b]*\x1b\\", "", written)))
            console.print()
    drawn = console.export_svg(title="everfind", theme=MONOKAI, code_format=FRAME, unique_id="everfind")
    return "\n".join(line.rstrip() for line in drawn.splitlines()) + "\n"


def text_of(drawn: str) -> str:
    """The words of a picture, any number in it as 0: scores may change, what is found may not."""
    words = re.findall(r"<text[^>]*>([^<]*)</text>", drawn)
    return re.sub(r"\d+", "0", html.unescape("\n".join(words)).replace("\xa0", " "))


def main(arguments: list[str] | None = None) -> int:
    """Write the picture, or with ``--check`` say whether a run still looks like it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing, fail if a run shows something else")
    check = parser.parse_args(arguments).check
    drawn = picture()
    if not check:
        PICTURE.write_text(drawn, encoding="utf-8")
    elif not PICTURE.exists() or text_of(PICTURE.read_text(encoding="utf-8")) != text_of(drawn):
        print(f"not fresh: {PICTURE}\n{text_of(drawn)}", file=sys.stderr)
        return 1
    return 0


def _typed(arguments: list[str]) -> str:
    return "everfind " + " ".join(f'"{one}"' if " " in one else one for one in arguments)


def _environment(home: Path) -> dict[str, str]:
    own = ("EVERFIND_", "XDG_", "NO_COLOR")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(own)}
    looks = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "COLUMNS": str(COLUMNS)}
    return {**kept, **looks, "HOME": str(home), "ORT_DISABLE_TELEMETRY": "1"}


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65536)
    except OSError:  # the other end was closed
        return b""


if __name__ == "__main__":
    sys.exit(main())
