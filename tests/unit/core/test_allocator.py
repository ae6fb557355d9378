"""A process that lives long has few arenas, whatever the number of its threads."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from everfind_core.cpu_quota import cpu_quota

_THREADS = 40

_PROCESS = f"""
import ctypes, os, sys, threading
from everfind_core.allocator import limit_arenas, trim

if "limited" in sys.argv:
    limit_arenas()
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.free.argtypes = [ctypes.c_void_p]
libc.fdopen.restype = ctypes.c_void_p
libc.fdopen.argtypes = [ctypes.c_int, ctypes.c_char_p]
libc.fclose.argtypes = [ctypes.c_void_p]
libc.malloc_info.argtypes = [ctypes.c_int, ctypes.c_void_p]
together = threading.Barrier({_THREADS})

def work():
    together.wait()
    taken = libc.malloc(4000)
    together.wait()
    libc.free(taken)

threads = [threading.Thread(target=work) for _ in range({_THREADS})]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
trim()
out = libc.fdopen(os.dup(1), b"w")
libc.malloc_info(0, out)
libc.fclose(out)
"""


def arenas(*options: str) -> int:
    environment = {name: value for name, value in os.environ.items() if name != "MALLOC_ARENA_MAX"}
    command = [sys.executable, "-c", _PROCESS, *options]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return done.stdout.count("<heap nr=")


@pytest.mark.skipif(sys.platform != "linux", reason="glibc's")
def test_threads_share_as_many_arenas_as_there_are_cpus() -> None:
    if arenas() == 0:
        pytest.skip("another C library")
    most = max(2, cpu_quota())
    assert arenas() > most or most >= _THREADS
    assert arenas("limited") <= most
