from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everfind_core.ranking.paths import Role, name_parts, read_path


@pytest.mark.parametrize(
    ("path", "roles"),
    [
        ("src/user.py", set()),
        ("tests/user.py", {Role.TEST}),
        ("src/test_user.py", {Role.TEST}),
        ("src/user.test.ts", {Role.TEST}),
        ("src/user_test.go", {Role.TEST}),
        ("src/UserTest.java", {Role.TEST}),
        ("src/latest.py", set()),
        ("docs/testing/mocks.md", {Role.DOCUMENTATION}),
        ("tests/expected.txt", {Role.TEST, Role.DOCUMENTATION}),
        ("contest/Contest.java", set()),
        ("examples/user.py", {Role.EXAMPLE}),
        ("pkg/v1/user.py", {Role.LEGACY}),
        ("pkg/_compat.py", {Role.LEGACY, Role.INTERNAL}),
        ("pkg/_internal/user.py", {Role.INTERNAL}),
        ("pkg/compatible.py", set()),
        ("third_party/zlib/a.c", {Role.GENERATED}),
        ("api/user_pb2.py", {Role.GENERATED}),
        ("web/app.min.js", {Role.GENERATED}),
        ("poetry.lock", {Role.RECORD}),
        ("web/package-lock.json", {Role.RECORD, Role.CONFIGURATION}),
        ("CHANGELOG.md", {Role.RECORD, Role.DOCUMENTATION}),
        ("locks/lock.py", set()),
        ("pkg/__init__.py", {Role.INDEX}),
        ("web/index.ts", {Role.INDEX}),
        ("docs/a.md", {Role.DOCUMENTATION}),
        ("conf/app.toml", {Role.CONFIGURATION}),
    ],
)
def test_a_path_tells_its_files_role(path: str, roles: set[Role]) -> None:
    assert read_path(path).roles == roles


def test_a_path_tells_stem_parts_and_directories() -> None:
    path = read_path("src/http/routerGroups.test.ts")
    assert path.stem == "routergroups"
    assert path.parts == ("router", "group")
    assert {"src", "http"} <= path.directories
    assert name_parts("get_user_names") == ("getusernames", ("get", "user", "nam"))  # stemmed as the index is


@given(st.text(max_size=200))
def test_any_path_is_read(path: str) -> None:
    assert read_path(path).roles <= set(Role)
