from __future__ import annotations

import os
from pathlib import Path

import pytest

from everfind_core.cpu_quota import cpu_quota


def quota(tmp_path: Path, groups: str, files: dict[str, str], affinity: int = 64) -> int:
    own = tmp_path / "self_cgroup"
    own.write_text(groups)
    for name, content in files.items():
        file = tmp_path / "mount" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
    return cpu_quota(mount=tmp_path / "mount", own_cgroups=own, affinity=affinity)


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        ("200000 100000", 2),
        ("150000 100000", 2),
        ("50000 100000", 1),
        ("1000 100000", 1),
        ("max 100000", 64),
        ("", 64),
        ("garbage", 64),
        ("100000 0", 64),
    ],
)
def test_the_limit_of_cgroup_v2_rounds_up(tmp_path: Path, limit: str, expected: int) -> None:
    assert quota(tmp_path, "0::/\n", {"cpu.max": limit + "\n"}) == expected


def test_the_smallest_limit_on_the_way_to_the_root_counts(tmp_path: Path) -> None:
    files = {"a/b/cpu.max": "max 100000", "a/cpu.max": "300000 100000", "cpu.max": "800000 100000"}
    assert quota(tmp_path, "0::/a/b\n", files) == 3


@pytest.mark.parametrize("controllers", ["cpu,cpuacct", "cpu"])
def test_the_limit_of_cgroup_v1(tmp_path: Path, controllers: str) -> None:
    files = {
        f"{controllers}/job/cpu.cfs_quota_us": "250000\n",
        f"{controllers}/job/cpu.cfs_period_us": "100000\n",
        f"{controllers}/cpu.cfs_quota_us": "-1\n",
        f"{controllers}/cpu.cfs_period_us": "100000\n",
    }
    assert quota(tmp_path, f"5:memory:/x\n4:{controllers}:/job\n0::/\n", files) == 3


def test_a_group_path_that_only_the_host_sees_falls_back_to_the_mount(tmp_path: Path) -> None:
    files = {"cpu/cpu.cfs_quota_us": "100000", "cpu/cpu.cfs_period_us": "100000"}
    assert quota(tmp_path, "4:cpu:/docker/0123\n", files) == 1


def test_the_affinity_mask_limits_too(tmp_path: Path) -> None:
    assert quota(tmp_path, "0::/\n", {"cpu.max": "400000 100000"}, affinity=3) == 3


def test_without_cgroups_the_affinity_mask_alone_counts(tmp_path: Path) -> None:
    assert cpu_quota(mount=tmp_path, own_cgroups=tmp_path / "absent", affinity=5) == 5


def test_this_process_has_a_quota() -> None:
    assert 1 <= cpu_quota() <= len(os.sched_getaffinity(0))
