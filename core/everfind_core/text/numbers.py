"""Counts, sizes and times as people read them."""

from __future__ import annotations

from collections.abc import Mapping

_UNITS = ("bytes", "KB", "MB", "GB", "TB")


def count(number: int, noun: str) -> str:
    """``1 file``, ``1,203 files``; ``noun`` is singular, and takes an s."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def size(number: int) -> str:
    """A size in bytes with one decimal, in steps of 1,000."""
    value, unit = float(number), 0
    while value >= 1000 and unit < len(_UNITS) - 1:
        value, unit = value / 1000, unit + 1
    return f"{value:.1f} {_UNITS[unit]}" if unit else count(number, "byte")


def duration(seconds: float) -> str:
    """``4.1s``, ``2m10s``, ``1h05m``."""
    if round(seconds, 1) < 60:
        return f"{seconds:.1f}s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes}m{rest:02d}s"
    return f"{minutes // 60}h{minutes % 60:02d}m"


def by_reason(skipped: Mapping[str, int]) -> str:
    """``12 ignored, 3 binary``, the most frequent first; empty if nothing was skipped."""
    ordered = sorted(skipped.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{number:,} {reason.replace('_', ' ')}" for reason, number in ordered if number)
