"""Real folders to measure on, made from what every Python has: its standard library."""

from __future__ import annotations

import ast
import shutil
import sysconfig
from pathlib import Path

STDLIB = Path(sysconfig.get_path("stdlib"))
_LEFT_OUT = frozenset({"test", "site-packages", "__pycache__"})


def stdlib(destination: Path, *, files: int | None = None, every: int = 1) -> Path:
    """The standard library's sources without its tests, each ``every``-th by name; with ``files``, so many at most."""
    sources = [p for p in sorted(STDLIB.rglob("*.py")) if not _is_left_out(p)]
    for source in sources[::every][:files]:
        target = destination / source.relative_to(STDLIB)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
    return destination


def sixty_files(destination: Path, count: int = 60) -> Path:
    """The 60 modules of the standard library that are nearest to 29 kB: 1.76 MB in all, as the reference had."""
    sources = [p for p in STDLIB.rglob("*.py") if not _is_left_out(p)]
    chosen = sorted(sources, key=lambda p: (abs(p.stat().st_size - 29_300), str(p)))[:count]
    destination.mkdir(parents=True, exist_ok=True)
    for source in chosen:
        shutil.copyfile(source, destination / "-".join(source.relative_to(STDLIB).parts))
    return destination


def pages(destination: Path, *, minimum: int = 500) -> Path:
    """Markdown pages made of the standard library's docstrings: a page a module or a class, prose and signatures."""
    destination.mkdir(parents=True, exist_ok=True)
    count = 0
    for source in sorted(STDLIB.rglob("*.py")):
        if _is_left_out(source):
            continue
        for name, text in _pages_of(source):
            (destination / f"{name}.md").write_text(text, encoding="utf-8")
            count += 1
    if count < minimum:
        raise RuntimeError(f"only {count} pages could be made")
    return destination


def many_files(destination: Path, count: int) -> Path:
    """``count`` small text files in nested directories."""
    for n in range(count):
        directory = destination / f"d{n // 1000:02d}" / f"e{n // 50 % 20:02d}"
        directory.mkdir(parents=True, exist_ok=True)
        (directory / f"note{n:05d}.txt").write_text(f"Note {n}: the quick brown fox number {n * 7919 % 10007}.\n")
    return destination


def _is_left_out(path: Path) -> bool:
    parts = path.relative_to(STDLIB).parts
    return parts[0] in _LEFT_OUT or "__pycache__" in parts


def _pages_of(source: Path) -> list[tuple[str, str]]:
    try:
        module = ast.parse(source.read_text(encoding="utf-8"))
    except (SyntaxError, UnicodeDecodeError):
        return []
    stem = "-".join(source.relative_to(STDLIB).with_suffix("").parts)
    found: list[tuple[str, ast.Module | ast.ClassDef]] = [(stem, module)]
    found += ((f"{stem}-{n.name}", n) for n in module.body if isinstance(n, ast.ClassDef))
    return [(name, page) for name, node in found if (page := _page(name, node))]


def _page(title: str, node: ast.Module | ast.ClassDef) -> str:
    parts = [f"# {title}", ast.get_docstring(node) or ""]
    for child in node.body:
        if isinstance(child, ast.FunctionDef | ast.ClassDef) and (doc := ast.get_docstring(child)):
            parts += [f"## {child.name}", doc]
    text = "\n\n".join(part for part in parts if part) + "\n"
    return text if len(text) > 400 else ""
