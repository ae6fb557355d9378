"""A team's everfind in containers: the images of this checkout, started by the compose file that users start."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from everfind_rpc.tls import ClientTls
from tests.support.docker_images import PREFIX, TAG, build_images, require_docker
from tests.support.repository import ROOT
from tests.support.serving import Remote, connected

if TYPE_CHECKING:
    from docker.models.containers import Container
    from testcontainers.compose import DockerCompose


@dataclass(frozen=True)
class Team:
    """A running deployment. ``token`` may do everything."""

    compose: DockerCompose
    address: str
    token: str
    tls: ClientTls | None = None

    @contextlib.contextmanager
    def client(self, token: str | None = None) -> Iterator[Remote]:
        """A client outside, through the published port."""
        with connected(self.address, self.token if token is None else token, self.tls) as remote:
            yield remote

    def containers(self, service: str) -> list[Container]:
        """A service's containers, running or not."""
        import docker

        engine = docker.from_env()
        found = self.compose.get_containers(include_all=True)
        return [engine.containers.get(str(one.ID)) for one in found if one.Service == service]

    def run(self, *arguments: str) -> str:
        """``docker compose`` with arguments; gives what it prints."""
        return _run([*self.compose.compose_command_property, *arguments])

    def up(self, *arguments: str) -> None:
        """Bring every service back, and wait until all are healthy."""
        self.run("up", "--detach", "--wait", "--no-build", "--no-recreate", *arguments)


@contextlib.contextmanager
def team(
    base: Path, *, files: tuple[str, ...] = (), settings: Mapping[str, str] | None = None, tls: ClientTls | None = None
) -> Iterator[Team]:
    """A deployment within the block. Its indexer sees ``base`` at its own path; its index is in ``base``'s ``index``.

    Runs begin when a test says so, unless its settings have the indexer follow the folders.

    ``files`` are compose files beside the usual ones, ``settings`` variables for them.
    """
    require_docker()
    build_images()
    _sweep()
    # The reaper is another image; what it would remove is removed below. testcontainers reads this once.
    os.environ["TESTCONTAINERS_RYUK_DISABLED"] = "true"
    from testcontainers.compose import DockerCompose

    address = f"127.0.0.1:{_free_port()}"
    variables = {
        "COMPOSE_PROJECT_NAME": f"{_PROJECT}{os.getpid()}-{uuid.uuid4().hex[:6]}",
        "IMAGE_PREFIX": PREFIX,
        "IMAGE_TAG": TAG,
        "EVERFIND_PUBLISH": address,
        "EVERFIND_ROOT": str(base),
        "EVERFIND_WATCH": "false",
        "TEST_BASE": str(base),
        "TEST_INDEX": str(_index_directory(base)),
        "EMBEDDER_CPUS": str(min(2, os.cpu_count() or 1)),
        **(settings or {}),
    }
    env_file = base / "team.env"
    env_file.write_text("".join(f"{name}={value}\n" for name, value in variables.items()))
    compose = DockerCompose(
        ROOT,
        compose_file_name=["deploy/docker-compose.yml", "tests/support/team.yml", *files],
        env_file=str(env_file),
    )
    try:
        compose.start()
        token = _run([*compose.compose_command_property, "run", "--rm", "everfind", *_ADMIN]).strip()
        yield Team(compose, address, token, tls)
    except BaseException as error:
        error.add_note(_run([*compose.compose_command_property, "logs", "--tail", "40"]))
        raise
    finally:
        _run([*compose.compose_command_property, "--profile", "*", "down", "--volumes", "--timeout", "5"])


_PROJECT = "everfind-test-"
"""Begins the names of the tests' deployments; then comes the process that made them."""

_ADMIN = ("token", "create", "tests", "--scope", "admin")


def _index_directory(base: Path) -> Path:
    """A directory that the services' user may write, wherever ``base`` lies."""
    base.chmod(0o755)
    index = base / "index"
    index.mkdir(exist_ok=True)
    index.chmod(0o777)
    return index


def _sweep() -> None:
    """Remove the teams of test runs that were killed: what testcontainers' reaper would do, without its image."""
    listed = json.loads(_run(["docker", "compose", "ls", "--all", "--format", "json", "--filter", f"name={_PROJECT}"]))
    for name in (project["Name"] for project in listed):
        pid = name.removeprefix(_PROJECT).partition("-")[0]
        if pid.isdecimal() and not Path(f"/proc/{pid}").exists():
            _run(["docker", "compose", "--project-name", name, "down", "--volumes", "--timeout", "5"])


def _run(command: list[str]) -> str:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
