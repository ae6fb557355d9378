from __future__ import annotations

import pytest

from everfind_indexer.watching.scope import affected, is_noise, is_rule, lies_in


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("a.py", "a.py"),
        ("src/a.py", "src/a.py"),
        (".gitignore", ""),
        ("src/.gitignore", "src"),
        ("src/.indexignore", "src"),
        ("env/pyvenv.cfg", "env"),
        ("target/CACHEDIR.TAG", "target"),
        ("src/my.gitignore", "src/my.gitignore"),
        (".git", ""),
        ("lib/.git", "lib"),
        (".git/index", ""),
        ("lib/.git/index", "lib"),
        (".git/info/exclude", ""),
        (".git/config", ""),
        (".git/index.lock", None),
        (".git/objects/ab/cdef", None),
        (".git/worktrees/other/index", None),
        (".git/HEAD", None),
        (".github/a.yml", ".github/a.yml"),
    ],
)
def test_where_a_change_matters(path: str, place: str | None) -> None:
    assert affected(path) == place
    assert is_rule(path) == (place != path)


def test_what_lies_in_a_directory_that_is_left_out_is_noise() -> None:
    ignored = {"build/", "src/gen/"}
    assert lies_in("build/x", ignored)
    assert lies_in("src/gen/deep/x", ignored)
    assert not lies_in("builder/x", ignored)
    assert not lies_in("build", ignored)
    assert is_noise("build/x.o", ignored, is_directory=False)
    assert not is_noise("build/deep", ignored, is_directory=True)
    assert not is_noise("build/AGENTS.md", ignored, is_directory=False)
    assert not is_noise("src/x.py", ignored, is_directory=False)
