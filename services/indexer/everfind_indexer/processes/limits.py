"""Limits that a process puts on itself before it touches what anyone may have made. Needs next to nothing loaded."""

from __future__ import annotations

import resource


def confine(memory_bytes: int) -> None:
    """Bound this process's address space; it writes no file and no core dump from now on."""
    limit(resource.RLIMIT_AS, memory_bytes)
    limit(resource.RLIMIT_FSIZE, 0)
    limit(resource.RLIMIT_CORE, 0)


def allow_processor_time(seconds: int) -> None:
    """End this process (SIGXCPU) once it has used ``seconds`` more than now."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    limit(resource.RLIMIT_CPU, int(used.ru_utime + used.ru_stime) + seconds)


def limit(what: int, most: int) -> None:
    """Set one limit of :mod:`resource`, within the hard one, which stays."""
    _, hard = resource.getrlimit(what)
    resource.setrlimit(what, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))
