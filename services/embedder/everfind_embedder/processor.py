"""What this CPU is called, and whether it multiplies unsigned by signed 8-bit integers without saturating."""

from __future__ import annotations

from pathlib import Path

CPU_INFO = Path("/proc/cpuinfo")
DOT_PRODUCT_FLAGS = frozenset({"avx512_vnni", "avx_vnni", "asimddp"})
"""Names of the instruction sets on x86-64 and arm64. Older kernels add two products in 16 bits, which saturates."""


def has_int8_dot_product(cpu_info: Path = CPU_INFO) -> bool:
    """Whether the first CPU that ``cpu_info`` describes has one of the instruction sets; False if unknown."""
    return not DOT_PRODUCT_FLAGS.isdisjoint(_first_line(cpu_info, "flags", "features").split())


def processor_name(cpu_info: Path = CPU_INFO) -> str:
    """What the first CPU calls itself; empty if unknown."""
    return _first_line(cpu_info, "model name", "cpu part").partition(":")[2].strip()


def _first_line(cpu_info: Path, *beginnings: str) -> str:
    """The first line that begins like one of these, whatever its case; empty if there is none."""
    try:
        with cpu_info.open(encoding="utf-8", errors="replace") as lines:
            return next((line for line in lines if line.lower().startswith(beginnings)), "")
    except OSError:
        return ""
