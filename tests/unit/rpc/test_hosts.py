"""Which hosts only this machine reaches (RFC 1122, 3.2.1.3; RFC 4291, 2.5.3)."""

from __future__ import annotations

import pytest

from everfind_rpc.hosts import is_loopback


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.9.10", "::1", "[::1]", "localhost"])
def test_loopback(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "[::]", "192.168.0.1", "localhost.example.org", "", "127.0.0.1.nip"])
def test_reached_by_others(host: str) -> None:
    assert not is_loopback(host)
