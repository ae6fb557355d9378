"""A stand-in for a provider's JSON API on this machine."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = tuple[int, Any, dict[str, str]]


@dataclass
class StandIn:
    """What a provider was asked, and what it answers: ``answer`` gives status, body (text as it is) and headers."""

    answer: Callable[[str, Any], Answer]
    paths: list[str] = field(default_factory=list)
    bodies: list[Any] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    url: str = ""


@contextmanager
def serve(answer: Callable[[str, Any], Answer]) -> Iterator[StandIn]:
    """A provider that answers while the context lasts."""
    stand_in = StandIn(answer)
    guard = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with guard:
                stand_in.paths.append(self.path)
                stand_in.bodies.append(body)
                stand_in.keys.append(self.headers.get("Authorization", ""))
            status, content, headers = stand_in.answer(self.path, body)
            raw = (content if isinstance(content, str) else json.dumps(content)).encode()
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(raw))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, *_: object) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    stand_in.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield stand_in
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
