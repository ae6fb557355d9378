"""How a measurement is printed, and what machine it was made on."""

from __future__ import annotations

import json
import math
import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured claim: what it is, what was measured, and the bar it should meet (``<=`` or ``>=``)."""

    claim: str
    value: float
    unit: str
    bar: float | None = None
    at_most: bool = True
    note: str = ""

    def line(self) -> str:
        """One row for people."""
        verdict = ""
        if self.bar is not None:
            met = self.value <= self.bar if self.at_most else self.value >= self.bar
            verdict = f"  {'met' if met else 'MISSED'}: {'≤' if self.at_most else '≥'} {self.bar:g}"
        return f"{self.claim:<58} {self.value:>9.3f} {self.unit:<9}{verdict}  {self.note}".rstrip()


@dataclass(frozen=True, slots=True)
class Cost:
    """What one process took: wall and CPU seconds (children included), and its peak resident memory in MiB."""

    wall: float
    cpu: float
    peak_mib: float
    stdout: str


def machine() -> str:
    """CPU, cores that may be used, and versions, in one line."""
    cpuinfo = Path("/proc/cpuinfo")
    model = platform.machine()
    if cpuinfo.exists():
        names = [line.partition(":")[2].strip() for line in cpuinfo.read_text().splitlines() if "model name" in line]
        model = names[0] if names else model
    cores = len(os.sched_getaffinity(0))
    return f"{model}, {cores} cores, Python {platform.python_version()}, {platform.system()} {platform.release()}"


def rest() -> None:
    """Wait until this process does nothing more in the background."""
    before = -1.0
    while time.process_time() - before > 0.005:
        before = time.process_time()
        time.sleep(0.1)


def run(command: list[str], *, env: dict[str, str], cwd: Path | None = None) -> Cost:
    """Run a command to its end, from outside, as a user would.

    Raises:
        RuntimeError: it failed; with what it printed.
    """
    # A process of its own, so that RUSAGE_CHILDREN is of this command alone.
    outer = subprocess.run(
        [sys.executable, "-c", _RUNNER, *command], env=env, cwd=cwd, capture_output=True, text=True, check=True
    )
    wall, cpu, peak, stdout, stderr, code = json.loads(outer.stdout)
    if code:
        raise RuntimeError(f"{' '.join(command)} ended with {code}: {stderr[-2000:]}")
    return Cost(wall, cpu, peak, stdout)


_RUNNER = """
import json, resource, subprocess, sys, time
start = time.perf_counter()
done = subprocess.run(sys.argv[1:], capture_output=True, text=True)
wall = time.perf_counter() - start
used = resource.getrusage(resource.RUSAGE_CHILDREN)
cpu = used.ru_utime + used.ru_stime
print(json.dumps([wall, cpu, used.ru_maxrss / 1024, done.stdout, done.stderr, done.returncode]))
"""


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least ``share`` of all do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def own_peak_mib() -> float:
    """Peak resident memory of this process, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
