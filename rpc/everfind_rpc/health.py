"""Whether the server of this container answers: exit code 0 if it says that it serves. For health checks.

``python -m everfind_rpc.health`` reads the server's own variables of the environment. It imports little, for it runs
every few seconds.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

import grpc

from everfind_core.causes import cause

SECONDS = 4.0
_SERVING = b"\x08\x01"
"""A ``grpc.health.v1.HealthCheckResponse`` with ``status = SERVING``."""


def main(environment: Mapping[str, str] = os.environ) -> int:
    """0 if the server serves, 1 if not; why not on stderr."""
    port = environment.get("EVERFIND_LISTEN", "127.0.0.1:50051").rpartition(":")[2]
    try:
        with _channel(f"localhost:{port}", environment) as channel:
            check: grpc.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary("/grpc.health.v1.Health/Check")
            answer = check(b"", timeout=SECONDS)
    except (grpc.RpcError, OSError) as error:
        why = error.details() if isinstance(error, grpc.Call) else None
        sys.stderr.write(f"localhost:{port} does not answer: {why or cause(error)}\n")
        return 1
    return 0 if answer == _SERVING else 1


def _channel(target: str, environment: Mapping[str, str]) -> grpc.Channel:
    if not environment.get("EVERFIND_TLS_CERTIFICATE"):
        return grpc.insecure_channel(target)
    ca, certificate, key = (
        Path(name).read_bytes() if (name := environment.get(f"EVERFIND_SERVICE_{part}")) else None
        for part in ("CA", "CERTIFICATE", "KEY")
    )
    return grpc.secure_channel(target, grpc.ssl_channel_credentials(ca, key, certificate))


if __name__ == "__main__":
    sys.exit(main())
