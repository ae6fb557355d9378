from __future__ import annotations

from pathlib import Path

import pytest

from everfind_embedder.processor import has_int8_dot_product


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("flags\t\t: fpu avx2 avx512f avx512_vnni amx_int8", True),
        ("flags\t\t: fpu avx2 avx_vnni", True),
        ("flags\t\t: fpu avx2 avx512f", False),
        ("Features\t: fp asimd asimddp", True),
        ("Features\t: fp asimd", False),
        ("model name\t: avx512_vnni", False),
    ],
)
def test_reads_the_flags(tmp_path: Path, line: str, expected: bool) -> None:
    info = tmp_path / "cpuinfo"
    info.write_text(f"processor\t: 0\n{line}\nbugs\t\t: none\n")
    assert has_int8_dot_product(info) is expected


def test_an_unknown_cpu_has_none(tmp_path: Path) -> None:
    assert not has_int8_dot_product(tmp_path / "absent")
