"""Hosts as addresses name them."""

from __future__ import annotations

import ipaddress


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches ``host``: ``localhost``, or an address such as ``127.0.0.1`` or ``[::1]``."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"
