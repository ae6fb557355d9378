"""Where the system does not tell of changes, folders are looked at instead."""

from __future__ import annotations

from pathlib import Path

import pytest

from everfind_indexer.watching.places import is_silent

MOUNTS = r"""22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/root rw
30 22 0:26 / /home rw,relatime shared:2 - nfs4 server:/home rw,vers=4.2
31 30 0:27 / /home/me/disk rw,relatime shared:3 - xfs /dev/sdb rw
32 22 0:28 / /mnt/a\040share rw,relatime - cifs //server/share rw
33 22 0:29 / /mnt/cloud rw,relatime - fuse.sshfs me@server: rw
"""


@pytest.mark.parametrize(
    ("root", "silent"),
    [
        ("/srv/notes", False),
        ("/home/me/notes", True),
        ("/home", True),
        ("/homely", False),
        ("/home/me/disk/notes", False),
        ("/mnt/a share/notes", True),
        ("/mnt/cloud", True),
    ],
)
def test_network_mounts_tell_of_no_change(tmp_path: Path, root: str, silent: bool) -> None:
    mounts = tmp_path / "mountinfo"
    mounts.write_text(MOUNTS)
    assert is_silent(root, mounts) is silent


def test_a_system_without_a_list_of_mounts_is_trusted(tmp_path: Path) -> None:
    assert not is_silent("/home", tmp_path / "absent")
