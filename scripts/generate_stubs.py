"""Generates proto/gen from proto/everfind, and keeps the baseline that later contracts are compared with.

::

    python scripts/generate_stubs.py             # write the stubs
    python scripts/generate_stubs.py --check     # fail if the committed stubs are not what the contracts give
    python scripts/generate_stubs.py --baseline  # at a release: move the baseline, if nothing breaks

Needs the dependency group ``proto``; works offline.
"""

from __future__ import annotations

import argparse
import filecmp
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from importlib.resources import files
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CONTRACTS = ROOT / "proto"
STUBS = CONTRACTS / "gen"
BASELINE = CONTRACTS / "baseline.binpb"


def generate(target: Path) -> None:
    """Write the stubs of every contract below ``target``; service files also get their gRPC stubs."""
    sources = sorted(CONTRACTS.joinpath("everfind").rglob("*.proto"))
    services = [source for source in sources if source.stem.endswith("_service")]
    _protoc([f"--python_out={target}", f"--mypy_out=quiet:{target}"], sources)
    _protoc([f"--grpc_python_out={target}", f"--mypy_grpc_out=quiet:{target}"], services)


def differences(left: Path, right: Path) -> list[str]:
    """Paths, relative to both trees, of files that only one has or that differ."""
    names = _names(left) | _names(right)
    _, mismatch, missing = filecmp.cmpfiles(left, right, sorted(names), shallow=False)
    return sorted([*mismatch, *missing])


def move_baseline() -> int:
    """Replace the baseline by the contracts as they are, unless they break it; gives buf's exit code."""
    code = _buf("breaking", str(CONTRACTS), "--against", str(BASELINE)) if BASELINE.exists() else 0
    return code or _buf("build", str(CONTRACTS), "--exclude-source-info", "-o", str(BASELINE))


def _protoc(outputs: list[str], sources: list[Path]) -> None:
    plugins = [f"--plugin={name}={_script(name)}" for name in ("protoc-gen-mypy", "protoc-gen-mypy_grpc")]
    includes = [f"-I{CONTRACTS}", f"-I{files('grpc_tools') / '_proto'}"]
    command = [sys.executable, "-m", "grpc_tools.protoc", *includes, *plugins, *outputs]
    subprocess.run([*command, *map(str, sources)], check=True)


def _buf(*arguments: str) -> int:
    return subprocess.run([_script("buf"), *arguments], check=False).returncode


def _script(name: str) -> str:
    """A console script of this environment, whether or not the environment is activated."""
    found = shutil.which(name, path=sysconfig.get_path("scripts")) or shutil.which(name)
    if found is None:
        sys.exit(f"{name} is not installed: install the dependency group 'proto'")
    return found


def _names(tree: Path) -> set[str]:
    return {str(path.relative_to(tree)) for path in tree.rglob("*.py*") if path.suffix in {".py", ".pyi"}}


def main() -> int:
    """Run one of the three verbs; gives the exit code."""
    parser = argparse.ArgumentParser(description="Generate or check the stubs of the contracts.")
    verb = parser.add_mutually_exclusive_group()
    verb.add_argument("--check", action="store_true", help="fail if the committed stubs are out of date")
    verb.add_argument("--baseline", action="store_true", help="move the baseline, if nothing breaks it")
    arguments = parser.parse_args()
    if arguments.baseline:
        return move_baseline()
    with tempfile.TemporaryDirectory() as scratch:
        fresh = Path(scratch, "gen")
        fresh.mkdir()
        generate(fresh)
        if arguments.check:
            stale = differences(fresh, STUBS)
            for name in stale:
                print(f"proto/gen/{name} is out of date: run `make proto`", file=sys.stderr)
            return 1 if stale else 0
        shutil.rmtree(STUBS, ignore_errors=True)
        shutil.copytree(fresh, STUBS)
    return 0


if __name__ == "__main__":
    sys.exit(main())
