"""The images of this checkout, built once, and a Docker engine; where there is none, tests of containers are skipped.

In CI (``CI`` is set) a missing engine is a failure.
"""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import zlib
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.support.repository import ROOT

TARGETS = ("embedder", "indexer", "searcher", "gateway")
PREFIX = "everfind"
TAG = f"test-{zlib.crc32(bytes(ROOT)):08x}"
"""Of this checkout, so that two of them can be tested at once."""


def require_docker() -> None:
    """Skip the test, or in CI fail it, where no Docker engine answers."""
    problem = _engine_problem()
    if not problem:
        return
    if os.environ.get("CI"):
        pytest.fail(f"no Docker engine: {problem}")
    pytest.skip(f"NO DOCKER ENGINE, SO CONTAINERS ARE NOT TESTED: {problem} (scripts/ensure_docker.sh makes one)")


@functools.cache
def build_images() -> None:
    """Build every image of this checkout as ``everfind-TARGET`` with the tag of this checkout."""
    program = _buildkit_cli()
    with ThreadPoolExecutor(len(TARGETS)) as threads:
        for done in threads.map(functools.partial(_build, program), TARGETS):
            assert done.returncode == 0, done.stderr


def _build(program: str, target: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [program, "build", "-f", "deploy/Dockerfile", "--target", target, "-t", f"{PREFIX}-{target}:{TAG}", "."],
        cwd=ROOT,
        env={**os.environ, "DOCKER_BUILDKIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


@functools.cache
def _engine_problem() -> str:
    try:
        done = subprocess.run(
            ["docker", "version", "--format", "{{.Server.Version}}"],
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return done.stderr.strip() if done.returncode else ""


@functools.cache
def _buildkit_cli() -> str:
    """A client that builds with BuildKit: one with the buildx plugin, or one before 23, which has it built in."""
    for program in filter(None, (shutil.which("docker"), "/usr/bin/docker")):
        ask = functools.partial(subprocess.run, capture_output=True, text=True, check=False)
        if ask([program, "buildx", "version"]).returncode == 0:
            return program
        version = ask([program, "version", "--format", "{{.Client.Version}}"]).stdout
        if version and int(version.partition(".")[0]) < 23:
            return program
    pytest.fail("no docker client that builds with BuildKit (install docker-buildx)")
