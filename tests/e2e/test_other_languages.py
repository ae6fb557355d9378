"""Clients without our code: Node with the contracts loaded at run time, and one that knows what reflection tells."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import grpc
import pytest
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.json_format import MessageToDict, ParseDict
from google.protobuf.message_factory import GetMessageClass
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase

from tests.support.corpus import write_corpus
from tests.support.processes import Home, free_address, process
from tests.support.repository import ROOT

pytestmark = pytest.mark.slow

QUESTION = "write a file so that a crash leaves nothing half done"


@dataclass(frozen=True)
class Served:
    """`everfind serve` over a small corpus, with a token."""

    home: Home
    address: str
    token: str


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    home = Home(tmp_path_factory.mktemp("served"))
    write_corpus(home.base)
    home.run("add", str(home.base / "code"), str(home.base / "docs"))
    home.run("index")
    token = home.run("token", "create", "examples").stdout.strip()
    address = free_address()
    with process(home, "everfind_gateway", "serve", "--listen", address, ready="serving on"):
        yield Served(home, address, token)


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example with its packages, installed as its lock file says."""
    if not shutil.which("npm"):
        assert not os.environ.get("CI"), "CI needs node and npm for this test"
        pytest.skip("there is no npm on this machine")
    copy = tmp_path_factory.mktemp("node") / "example"
    shutil.copytree(ROOT / "examples" / "node", copy, ignore=shutil.ignore_patterns("node_modules"))
    subprocess.run(["npm", "ci", "--no-audit", "--no-fund", "--silent"], cwd=copy, check=True, timeout=300)
    return copy


def ask(example: Path, served: Served, token: str) -> subprocess.CompletedProcess[str]:
    variables = {
        "EVERFIND_SERVER": served.address,
        "EVERFIND_SERVER_TOKEN": token,
        "EVERFIND_PROTO": str(ROOT / "proto"),
    }
    return subprocess.run(
        ["node", "search.mjs", QUESTION],
        cwd=example,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_the_node_example_finds_what_the_command_line_finds(example: Path, served: Served) -> None:
    hits = served.home.json("search", QUESTION, "--limit", "5")["hits"]
    expected = [f"{h['folder']}/{h['path']}:{h['start_line']}-{h['end_line']}  {h['score']:.4f}" for h in hits]
    done = ask(example, served, served.token)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == expected


def test_the_node_example_says_why_it_is_refused(example: Path, served: Served) -> None:
    done = ask(example, served, "")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("UNAUTHENTICATED: the call carries no token")


def test_reflection_is_enough_to_make_a_call(served: Served) -> None:
    hits = served.home.json("search", QUESTION, "--limit", "3")["hits"]
    with grpc.insecure_channel(served.address) as channel:
        database = ProtoReflectionDescriptorDatabase(channel)
        assert {f"everfind.{name}.v1.{name.title()}Service" for name in ("embedder", "indexer", "searcher")} <= set(
            database.get_services()
        )
        pool = DescriptorPool(database)
        method = pool.FindServiceByName("everfind.searcher.v1.SearcherService").FindMethodByName("Search")
        request = ParseDict({"query": QUESTION, "limit": 3}, GetMessageClass(method.input_type)())
        call: grpc.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(
            f"/{method.containing_service.full_name}/{method.name}"
        )
        metadata = (("authorization", f"Bearer {served.token}"),)
        answer = GetMessageClass(method.output_type).FromString(
            call(request.SerializeToString(), timeout=10, metadata=metadata)
        )
    found = MessageToDict(answer, preserving_proto_field_name=True)["hits"]
    assert [(hit["path"], hit["start_line"]) for hit in found] == [(hit["path"], hit["start_line"]) for hit in hits]
