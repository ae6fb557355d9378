"""Big files, and every kind of edit of one of their lines."""

from __future__ import annotations

import argparse
import random
from pathlib import Path

BUDGET = 254
AT_MOST = 4


def guide() -> str:
    rng = random.Random(7)
    words = Path(argparse.__file__).read_text("utf-8").split()
    blocks: list[str] = []
    for number in range(260):
        if rng.random() < 0.2:
            blocks.append("#" * rng.randint(1, 4) + f" Part {number}")
        if rng.random() < 0.15:
            blocks.append("```sh\nrun --it\n# comment\n```")
        start = rng.randrange(len(words) - 200)
        blocks.append("\n".join(" ".join(words[start + 9 * n : start + 9 * n + 9]) for n in range(rng.randint(1, 14))))
    return "\n\n".join(blocks)


def source(module: object) -> str:
    return Path(str(getattr(module, "__file__", ""))).read_text("utf-8")


def edits(lines: list[str], place: int) -> dict[str, list[str]]:
    before, line, after = lines[:place], lines[place], lines[place + 1 :]
    indent = line[: len(line) - len(line.lstrip())]
    return {
        "append": [*before, f"{line} edited", *after],
        "change": [*before, f"{indent}entirely different {place}", *after],
        "insert": [*before, f"{indent}inserted {place}", line, *after],
        "insert at margin": [*before, "inserted at the margin", line, *after],
        "insert definition": [*before, f"{indent}def inserted(a, b):", line, *after],
        "insert heading": [*before, "# Inserted", line, *after],
        "insert blank": [*before, "", line, *after],
        "delete": [*before, *after],
    }
