"""What a release is made of: wheel and sdist, a clean environment with the wheel, its bill of materials, its licences.

Environments are made by uv, which takes a Python that is here, also one of pyenv, or fetches it. Tools run in
environments of their own.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OLDEST, NEWEST = "3.11", "3.13"

SBOM_TOOL = ("cyclonedx-bom==7.5.0", "cyclonedx-py")
LICENCE_TOOL = ("pip-licenses==5.5.5", "pip-licenses")
AUDIT_TOOL = ("pip-audit==2.10.1", "pip-audit")
REFUSED = ("GPL", "General Public License", "SSPL", "Server Side Public License", "BUSL", "UNKNOWN")
"""Parts of licences' names that no dependency may have. The first covers AGPL and LGPL."""
UNAUDITED = 2
OWN = "everfind"
"""Has no advisories to look up: it is what is audited, and may not be published yet."""


def build(out: Path, root: Path = ROOT) -> tuple[Path, Path]:
    """Build wheel and sdist of a source tree into ``out``; the same tree gives the same bytes.

    Raises:
        subprocess.CalledProcessError: the tree does not build.
    """
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(out.resolve())]
    subprocess.run(command, cwd=root, check=True, capture_output=True, text=True)
    (wheel,), (sdist,) = out.glob("*.whl"), out.glob("*.tar.gz")
    return wheel, sdist


def environment(where: Path, wheel: Path, python: str, *, lowest: bool = False) -> Path:
    """Make an environment with the wheel and what it depends on: the newest of each, or the oldest that is allowed.

    Returns the environment's interpreter.

    Raises:
        LookupError: there is no such Python here, and none can be fetched.
        subprocess.CalledProcessError: a package cannot be had.
    """
    try:
        uv("venv", "--quiet", "--clear", "--python", python, str(where))
    except subprocess.CalledProcessError as error:
        raise LookupError(f"no Python {python}: {error.stderr.strip().splitlines()[-1]}") from error
    interpreter = where / "bin" / "python"
    install = ("pip", "install", "--quiet", "--python", str(interpreter))
    if lowest:
        project = ("-r", str(ROOT / "pyproject.toml"), "--all-extras")
        uv(*install, "--resolution", "lowest-direct", "--only-binary", ":all:", *project)
    uv(*install, f"{wheel}[metrics]")
    return interpreter


def lowest_versions(python: str, extra: str = "") -> dict[str, str]:
    """For each dependency, direct or not, of the project with an extra or none: the oldest version that can be had."""
    project = (str(ROOT / "pyproject.toml"), "--only-binary", ":all:", *(("--extra", extra) if extra else ()))
    form = ("--quiet", "--no-header", "--no-annotate")
    lines = uv("pip", "compile", *form, "--resolution", "lowest-direct", "--python-version", python, *project)
    return dict(line.split(" ")[0].split("==") for line in lines.splitlines())


def bill_of_materials(interpreter: Path, out: Path) -> None:
    """Write what an environment holds, as CycloneDX JSON."""
    options = ("--output-reproducible", "--output-format", "JSON", "--pyproject", str(ROOT / "pyproject.toml"))
    _tool(SBOM_TOOL, "environment", *options, "--output-file", str(out), str(interpreter))


def licences(interpreter: Path, out: Path) -> None:
    """Write the licence of each package of an environment, as a Markdown table.

    Raises:
        subprocess.CalledProcessError: a licence is refused, or not known; stderr names the package.
    """
    report = ("--python", str(interpreter), "--with-urls", "--format", "markdown", "--output-file", str(out))
    _tool(LICENCE_TOOL, *report, "--partial-match", "--fail-on", ";".join(REFUSED))


def audit(interpreter: Path) -> int:
    """Look each package of an environment up among published advisories, and print what there is to say.

    Gives the exit code: 0 for no advisory, 1 for one or more, 2 where a package could not be looked up, or none could
    because the package index does not serve advisories or does not answer. That is never taken for "none".
    """
    (packages,) = interpreter.parent.parent.glob("lib/python*/site-packages")
    try:
        report = _tool(AUDIT_TOOL, "--format", "json", "--progress-spinner", "off", "--path", str(packages))
        said = ""
    except subprocess.CalledProcessError as error:  # so it ends with an advisory, too
        report, said = error.stdout or "", error.stderr or ""
    lines, code = audited(report, said)
    print(*lines, sep="\n", file=sys.stderr if code else sys.stdout)
    return code


def audited(report: str, said: str) -> tuple[list[str], int]:
    """What pip-audit's JSON, or without one its last words, come to: lines for a person, and the exit code."""
    try:
        packages = json.loads(report)["dependencies"]
    except (ValueError, KeyError, TypeError):
        why = (said.strip().splitlines() or ["it said nothing"])[-1]
        return [f"nothing was audited: advisories could not be asked for ({why})"], UNAUDITED
    packages = [one for one in packages if one["name"] != OWN]
    if packages and all("skip_reason" in one for one in packages):
        why = packages[0]["skip_reason"]
        return [f"nothing was audited: the package index tells of none of {len(packages)} packages ({why})"], UNAUDITED
    found = [
        f"{one['name']} {one['version']}: {flaw['id']}, mended in {', '.join(flaw['fix_versions']) or 'no version yet'}"
        for one in packages
        for flaw in one.get("vulns", ())
    ]
    skipped = [f"{one['name']}: not looked up, {one['skip_reason']}" for one in packages if "skip_reason" in one]
    if not found and not skipped:
        return [f"{len(packages)} packages, no published advisory"], 0
    return found + skipped, 1 if found else UNAUDITED


def _tool(tool: tuple[str, str], *arguments: str) -> str:
    return uv("tool", "run", "--quiet", "--from", *tool, *arguments)


def uv(*arguments: str) -> str:
    """Run uv.

    Raises:
        subprocess.CalledProcessError: it failed; ``stderr`` has its words.
    """
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")).glob("versions/*/bin")
    path = os.pathsep.join([*map(str, sorted(pyenv, reverse=True)), os.environ.get("PATH", "")])
    command = [sys.executable, "-m", "uv", *arguments]
    variables = {**os.environ, "PATH": path}
    return subprocess.run(command, env=variables, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def main(arguments: Sequence[str] | None = None) -> int:
    """Make one of the parts in ``dist/``."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=("build", "sbom", "licences", "audit"))
    part = parser.parse_args(arguments).part
    dist = ROOT / "dist"
    try:
        with tempfile.TemporaryDirectory() as scratch:
            if part == "build":
                print(*build(dist), sep="\n")
                return 0
            wheel, _ = build(Path(scratch))
            interpreter = environment(Path(scratch) / "environment", wheel, NEWEST)
            dist.mkdir(exist_ok=True)
            if part == "sbom":
                bill_of_materials(interpreter, dist / f"{wheel.stem.split('-py3')[0]}.cdx.json")
            elif part == "licences":
                licences(interpreter, dist / "licences.md")
            else:
                return audit(interpreter)
    except LookupError as error:
        print(error, file=sys.stderr)
        return 1
    except subprocess.CalledProcessError as error:
        print(error.stdout or "", error.stderr or "", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
