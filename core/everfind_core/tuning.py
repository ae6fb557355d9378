"""What was measured to embed fastest on this machine, kept in the user's state; without it safe defaults hold."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from everfind_core.files.parsed_json import convert, parse_json
from everfind_core.files.whole import replace_file

FILE = "tuning.json"

MOST_RUN_TOKENS = 1 << 16
"""More was never measured, and would not fit into memory."""


@dataclass(frozen=True, slots=True)
class Tuning:
    """The fastest way to embed with ``model`` (as the settings name it) on ``cpus`` CPUs called ``processor``.

    ``threads`` embed at once, each about ``run_tokens`` tokens a run. ``speed`` is in tokens a second, and
    ``default_speed`` that of the defaults in the same measurement; ``measured`` is a Unix time. Where the machine
    was not ``steady`` enough to tell, the defaults hold.
    """

    model: str
    processor: str
    cpus: int
    threads: int
    run_tokens: int
    speed: float
    default_speed: float
    measured: float
    steady: bool = True

    def fits(self, model: str, processor: str, cpus: int) -> bool:
        """Whether it was measured for this."""
        return (self.model, self.processor, self.cpus) == (model, processor, cpus)


def read_tuning(path: Path) -> Tuning | None:
    """What is kept there; None where nothing is, or nothing that can be used."""
    try:
        found = convert(parse_json(path.read_text("utf-8")), Tuning)
    except (OSError, TypeError, ValueError):
        return None
    usable = 1 <= found.threads <= found.cpus and 1 <= found.run_tokens <= MOST_RUN_TOKENS
    return found if usable else None


def write_tuning(path: Path, tuning: Tuning) -> None:
    """Keep it.

    Raises:
        OSError: the file cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    replace_file(path, json.dumps(asdict(tuning), indent=1) + "\n")
