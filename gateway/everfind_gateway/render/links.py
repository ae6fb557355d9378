"""Places that a terminal opens at a click (OSC 8)."""

from __future__ import annotations

import os
import socket
import sys
from urllib.parse import quote

from everfind_core.files.paths import decode_os_path
from everfind_gateway.render.streams import is_terminal


def file_url(path: str, line: int = 0) -> str:
    """The address of a file (its absolute path in string form) and a line; empty where it is not on this machine."""
    real = decode_os_path(path)
    if not os.path.isabs(real) or not os.path.lexists(real):  # noqa: PTH117 - may not be UTF-8
        return ""
    anchor = f"#{line}" if line else ""
    return f"file://{quote(socket.gethostname())}{quote(os.fsencode(real))}{anchor}"


def terminal_links() -> bool:
    """Whether stdout is a terminal that is known to take more than plain text."""
    if not is_terminal(sys.stdout):
        return False
    from rich.console import Console

    return Console().color_system is not None


def linked(text: str, path: str, line: int = 0) -> str:
    """``text``, which a click opens; for a terminal only, see :func:`terminal_links`."""
    from rich.style import Style

    url = file_url(path, line)
    return Style(link=url).render(text) if url else text
