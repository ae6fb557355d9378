"""The contracts as files: linted, formatted, unbroken, and their stubs fresh."""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from google.protobuf.descriptor import MethodDescriptor, ServiceDescriptor
from google.protobuf.descriptor_pb2 import MethodOptions

from everfind.embedder.v1 import embedder_service_pb2
from everfind.indexer.v1 import indexer_service_pb2
from everfind.searcher.v1 import searcher_service_pb2
from tests.support.repository import ROOT

CONTRACTS = ROOT / "proto"
SERVICES: list[ServiceDescriptor] = [
    module.DESCRIPTOR.services_by_name[name]
    for module, name in (
        (embedder_service_pb2, "EmbedderService"),
        (indexer_service_pb2, "IndexerService"),
        (searcher_service_pb2, "SearcherService"),
    )
]
METHODS: list[MethodDescriptor] = [method for service in SERVICES for method in service.methods]

CHANGING = {"AddFolder", "RemoveFolder", "CreateIndexRun", "CancelIndexRun", "Calibrate"}


def _buf(*arguments: str) -> subprocess.CompletedProcess[str]:
    buf = shutil.which("buf", path=sysconfig.get_path("scripts")) or shutil.which("buf")
    assert buf is not None, "install the dependency group 'proto'"
    return subprocess.run([buf, *arguments], capture_output=True, text=True, check=False, timeout=60)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The contracts and their script in a directory of their own."""
    shutil.copytree(CONTRACTS, tmp_path / "proto")
    (tmp_path / "scripts").mkdir()
    shutil.copy(ROOT / "scripts" / "generate_stubs.py", tmp_path / "scripts")
    return tmp_path


def _replace(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def _script(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(root / "scripts" / "generate_stubs.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.full_name)
def test_every_request_names_its_workspace_first(method: MethodDescriptor) -> None:
    field = method.input_type.fields_by_name["workspace"]
    assert (field.number, field.type) == (1, field.TYPE_STRING)


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.full_name)
def test_calls_that_change_nothing_say_so(method: MethodDescriptor) -> None:
    options = method.GetOptions()
    assert isinstance(options, MethodOptions)
    unchanging = options.idempotency_level == MethodOptions.NO_SIDE_EFFECTS
    assert unchanging == (method.name not in CHANGING)


def test_lint_is_clean() -> None:
    result = _buf("lint", str(CONTRACTS))
    assert (result.returncode, result.stdout) == (0, "")


def test_format_is_clean() -> None:
    result = _buf("format", str(CONTRACTS), "--diff", "--exit-code")
    assert (result.returncode, result.stdout) == (0, "")


def test_nothing_breaks_the_baseline() -> None:
    result = _buf("breaking", str(CONTRACTS), "--against", str(CONTRACTS / "baseline.binpb"))
    assert (result.returncode, result.stdout) == (0, "")


def test_a_removed_field_is_noticed_and_the_baseline_stays(copy: Path) -> None:
    _replace(
        copy / "proto/everfind/searcher/v1/hit.proto",
        "  // Qualified name of the symbol that it defines.\n  string symbol = 10;\n",
        "",
    )
    before = (copy / "proto/baseline.binpb").read_bytes()
    result = _script(copy, "--baseline")
    assert result.returncode != 0
    assert 'Previously present field "10" with name "symbol" on message "Hit" was deleted' in result.stdout
    assert (copy / "proto/baseline.binpb").read_bytes() == before


def test_an_added_field_moves_the_baseline(copy: Path) -> None:
    _replace(
        copy / "proto/everfind/searcher/v1/hit.proto",
        "// What one ranking rule added",
        "// New.\nmessage New {}\n\n// What one ranking rule added",
    )
    before = (copy / "proto/baseline.binpb").read_bytes()
    assert _script(copy, "--baseline").returncode == 0
    assert (copy / "proto/baseline.binpb").read_bytes() != before


def test_the_stubs_are_fresh() -> None:
    result = _script(ROOT, "--check")
    assert (result.returncode, result.stderr) == (0, "")


def test_stale_and_foreign_stubs_are_noticed_and_regenerated(copy: Path) -> None:
    _replace(copy / "proto/everfind/searcher/v1/hit.proto", "// From 1.", "// Counted from 1.")
    foreign = copy / "proto/gen/everfind/searcher/v1/old_pb2.py"
    foreign.write_text("", encoding="utf-8")
    result = _script(copy, "--check")
    assert result.returncode == 1
    assert "everfind/searcher/v1/hit_pb2.pyi is out of date" in result.stderr
    assert "everfind/searcher/v1/old_pb2.py is out of date" in result.stderr
    assert _script(copy).returncode == 0
    assert not foreign.exists()
    assert _script(copy, "--check").returncode == 0
