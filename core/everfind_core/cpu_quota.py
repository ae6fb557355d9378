"""How many CPUs this process may use: the container's limit and the scheduler's mask, not the host's size."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

CGROUP_MOUNT = Path("/sys/fs/cgroup")
OWN_CGROUPS = Path("/proc/self/cgroup")


def cpu_quota(*, mount: Path = CGROUP_MOUNT, own_cgroups: Path = OWN_CGROUPS, affinity: int | None = None) -> int:
    """CPUs that this process may use at once, at least 1.

    The smallest of the scheduler's mask and each limit of cgroup v1 or v2 on the way from the process's own group up
    to the root; a broken part of a CPU counts as a whole one.

    Args:
        mount: where the cgroup file systems are mounted.
        own_cgroups: the file that names this process's groups.
        affinity: CPUs in the scheduler's mask; None asks the system.
    """
    allowed = len(os.sched_getaffinity(0)) if affinity is None else affinity
    limits = (_limit(directory) for directory in _group_directories(mount, own_cgroups))
    return max(1, min([allowed, *(math.ceil(limit) for limit in limits if limit is not None)]))


def _group_directories(mount: Path, own_cgroups: Path) -> Iterator[Path]:
    """Every directory that may hold a CPU limit of this process; those that do not exist do no harm."""
    for line in _read(own_cgroups).splitlines():
        _, controllers, group = line.split(":", 2)
        names = controllers.split(",")
        if controllers and "cpu" not in names:
            continue
        bases = [mount / controllers, mount / "cpu"] if controllers else [mount, mount / "unified"]
        relative = PurePosixPath(group.lstrip("/"))
        for base in bases:
            yield from (base / part for part in (relative, *relative.parents))


def _limit(directory: Path) -> float | None:
    """The CPU limit written in one cgroup directory; None without one."""
    quota, _, period = _read(directory / "cpu.max").strip().partition(" ")
    if not quota:
        quota = _read(directory / "cpu.cfs_quota_us").strip()
        period = _read(directory / "cpu.cfs_period_us").strip()
    if not (quota.isdecimal() and period.isdecimal()) or int(period) == 0:
        return None
    return int(quota) / int(period)


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
